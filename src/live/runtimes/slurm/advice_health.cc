// What 'allot doctor' checks for 'allot advise': whether a Nice changes the order of jobs, and
// whether this user may write it.

#include "live/runtimes/slurm/advice_health.h"

#include <unistd.h>

#include "clients/slurm/slurm_program.h"
#include "core/strings.h"
#include "core/user_name.h"
#include "live/runtimes/slurm/slurm_options.h"

namespace allot {
namespace {

HealthFinding CheckPriority(const AdviceFacts& facts) {
  constexpr std::uint64_t kRoom = 1000;  // the default of --most-nice
  const SlurmSettings& slurm = facts.settings;
  const std::string seen = fmt::format("PriorityType={}", slurm.priority);
  if (slurm.priority != "priority/multifactor") return FoundFine(seen);
  const std::string weights = fmt::format("{}, weights of {} in all", seen, slurm.priority_weights);
  if (slurm.priority_weights >= kRoom) return FoundFine(weights);
  return FoundWarn(
      fmt::format("{}: no priority exceeds their sum, so that a Nice beyond it changes nothing",
                  weights),
      fmt::format("PriorityWeightAge and the like in slurm.conf, {} or more in all", kRoom));
}

HealthFinding CheckRights(const AdviceFacts& facts) {
  if (facts.user_id == 0) return FoundFine("root may change jobs of others");
  const SlurmSettings& slurm = facts.settings;
  if (facts.user_id == slurm.user_id) return FoundFine("SlurmUser " + slurm.user);
  const bool may = facts.admin_level == "Operator" || facts.admin_level == "Administrator";
  if (may) return FoundFine("admin level " + facts.admin_level);
  return FoundWarn(
      fmt::format("uid {} with the admin level '{}' may not change jobs of others: dry runs only",
                  facts.user_id, facts.admin_level),
      "sacctmgr modify user NAME set adminlevel=operator, or run as SlurmUser " + slurm.user);
}

constexpr HealthCheck<AdviceFacts> kAdviceChecks[] = {{"advice.priority", CheckPriority},
                                                      {"advice.rights", CheckRights}};

// Of this user in Slurm's accounting; "": none, or no accounting.
std::string AdminLevel(const OpenedSlurm& slurm) {
  constexpr Seconds kPatience = 10;
  if (!slurm.sacctmgr) return "";
  SlurmProgramOutput output;
  const Status run = RunSlurmProgram({{*slurm.sacctmgr, "--noheader", "--parsable2", "show", "user",
                                       UserName(::geteuid()), "format=adminlevel"},
                                      SlurmEnvironment(),
                                      ""},
                                     SlurmDeadline(kPatience), &output);
  return run.ok() && output.exit == 0 ? std::string(Trim(output.text)) : "";
}

std::vector<HealthFinding> RunAdviceGroup(const HealthPlace&, const Params& params) {
  AdviceFacts facts;
  facts.user_id = ::geteuid();
  try {
    const OpenedSlurm slurm = OpenSlurm(SlurmAccessFrom(params));
    const Status done = slurm.back_end->LoadSettings(&facts.settings);
    if (!done.ok()) return SkipChecks(kAdviceChecks, done.message());
    facts.admin_level = AdminLevel(slurm);
  } catch (const Error& error) {
    return SkipChecks(kAdviceChecks, error.what());
  }
  return CheckAdvice(facts);
}

ALLOT_REGISTER(HealthGroup, (HealthGroup{.id = "advice",
                                         .summary = "'allot advise' on this Slurm",
                                         .order = 4,
                                         .runtime = "slurm",
                                         .only_if_named = true,
                                         .run = RunAdviceGroup}));

}  // namespace

Status MayWriteNice(const OpenedSlurm& slurm) {
  AdviceFacts facts;
  facts.user_id = ::geteuid();
  Status done = slurm.back_end->LoadSettings(&facts.settings);
  if (!done.ok()) return done;
  facts.admin_level = AdminLevel(slurm);
  const HealthFinding rights = CheckRights(facts);
  if (rights.health == Health::kFine) return Status::Ok();
  return Status::Refused("{}; {}", rights.seen, rights.advice);
}

std::vector<HealthFinding> CheckAdvice(const AdviceFacts& facts) {
  return RunChecks(kAdviceChecks, facts);
}

}  // namespace allot
