// Gavel's simulator (Narayanan et al., OSDI'20; docs/gavel.md): rounds of 360 s of whole steps,
// changes of allocation for free, new shares at most every 1920 s, jobs that came since hold GPUs
// idle, and what the solver left of a share counts as one.

#include <algorithm>

#include "sim/gavel_policies.h"
#include "sim/profile.h"

namespace allot {
namespace {

constexpr GavelPolicy kPolicies[] = {
    {.name = "isolated",
     .shuffled = true,
     .determined = true,
     .sharing = "isolated",
     .its_own = "/lost=true"},
    {.name = "fifo", .shuffled = true, .strict = true},
    {.name = "fifo_perf", .strict = true, .determined = true, .sharing = "fifo-perf"},
    {.name = "fifo_packed",
     .pairs = true,
     .strict = true,
     .determined = true,
     .sharing = "fifo-packed"},
    {.name = "max_min_fairness", .shuffled = true, .sharing = "max-min"},
    {.name = "max_min_fairness_perf", .sharing = "max-min-perf"},
    {.name = "max_min_fairness_packed", .pairs = true, .sharing = "max-min-packed"},
    {.name = "max_min_fairness_water_filling",
     .shuffled = true,
     .sharing = "water-filling",
     .its_own = "/speeds=alike"},
    {.name = "max_min_fairness_water_filling_perf", .sharing = "water-filling"},
    {.name = "max_min_fairness_water_filling_packed",
     .pairs = true,
     .sharing = "water-filling/pairs=yes"},
    {.name = "max_sum_throughput_perf", .sharing = "max-sum", .its_own = "/normalised=no"},
    {.name = "max_sum_throughput_normalized_by_cost_perf",
     .sharing = "max-sum",
     .its_own = "/normalised=no"},
    {.name = "max_sum_throughput_normalized_by_cost_perf_SLOs",
     .sharing = "max-sum/deadlines=yes",
     .its_own = "/normalised=no"},
    {.name = "max_sum_throughput_normalized_by_cost_packed_SLOs",
     .pairs = true,
     .sharing = "max-sum/deadlines=yes/pairs=yes",
     .its_own = "/normalised=no"},
    {.name = "min_total_duration",
     .shuffled = true,
     .sharing = "min-total-duration",
     .its_own = "/speeds=v100/bisect=yes"},
    {.name = "min_total_duration_perf", .sharing = "min-total-duration", .its_own = "/bisect=yes"},
    {.name = "min_total_duration_packed",
     .pairs = true,
     .sharing = "min-total-duration/pairs=yes",
     .its_own = "/bisect=yes"},
    {.name = "finish_time_fairness",
     .shuffled = true,
     .sharing = "finish-time-fairness",
     .its_own = "/speeds=v100"},
    {.name = "finish_time_fairness_perf", .sharing = "finish-time-fairness"},
    {.name = "finish_time_fairness_packed",
     .pairs = true,
     .sharing = "finish-time-fairness/pairs=yes"},
    {.name = "allox", .sharing = "allox"},
    {.name = "gandiva", .pairs = true, .sharing = "gandiva"},
};

std::map<std::string, std::string> Specs() {
  std::map<std::string, std::string> specs;
  for (const GavelPolicy& policy : kPolicies) {
    if (policy.sharing.empty()) continue;
    const std::string name(policy.name);
    const std::string repaired = "shared:sharing=" + std::string(policy.sharing);
    specs[name] = repaired + std::string(policy.its_own) + "," + GavelRounds(policy);
    specs[name + "-repaired"] = repaired;
  }
  return specs;
}

}  // namespace

std::span<const GavelPolicy> GavelPolicies() { return kPolicies; }

const GavelPolicy* FindGavelPolicy(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kPolicies), std::end(kPolicies),
                                         [name](const GavelPolicy& p) { return p.name == name; });
  return found == std::end(kPolicies) ? nullptr : found;
}

std::string GavelRounds(const GavelPolicy& policy) {
  std::string text =
      "placement=sticky,reset=1920,lease=0,residues=true,hold=true,by-work=true,global=false,"
      "order=v100|p100|k80";
  text += policy.strict ? ",leftovers=none" : ",leftovers=in-turn";
  if (policy.shuffled) text += ",shuffle=true";
  if (policy.pairs) text += ",all-pairs=true";
  return text;
}

namespace {

// Its main table: as published beside repaired, and what allot has without a parameter.
constexpr const char* kMainTable =
    "assignment,las,max_sum_throughput_perf-repaired,max_min_fairness_perf-repaired,isolated,"
    "fifo_perf,max_min_fairness,max_min_fairness_perf,max_sum_throughput_perf,"
    "finish_time_fairness_perf,allox,gandiva";

ALLOT_REGISTER(ProfileInfo,
               (ProfileInfo{"gavel",
                            "Gavel: whole steps in rounds of 360 s, free changes, shares that wait",
                            [](SimOptions* options) {
                              *options = SimOptions{};
                              options->interval = 360;
                              options->restart_cost = 0;
                              options->whole_rounds = true;
                              options->most_failures = 5;
                              options->busy_gaps = true;
                              options->lengths = {LengthEstimates::Kind::kTrue, 0};
                            },
                            Specs(), kMainTable}));

}  // namespace
}  // namespace allot
