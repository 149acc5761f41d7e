#include "clients/slurm/node_state.h"

#include <string>
#include <utility>

#include "core/strings.h"

namespace allot {
namespace {

using Flag = SlurmNodeFlag;

// As sinfo, scontrol and JSON write them, long and short, in lower case.
constexpr std::pair<std::string_view, Flag> kNodeWords[] = {
    {"unknown", Flag::kUndetermined},
    {"unk", Flag::kUndetermined},
    {"down", Flag::kDown},
    {"idle", Flag::kIdle},
    {"allocated", Flag::kAllocated},
    {"alloc", Flag::kAllocated},
    {"mixed", Flag::kMixed},
    {"mix", Flag::kMixed},
    {"error", Flag::kError},
    {"err", Flag::kError},
    {"future", Flag::kFuture},
    {"futr", Flag::kFuture},
    {"drain", Flag::kDrain},
    {"drained", Flag::kDrain},
    {"draining", Flag::kDrain},
    {"drng", Flag::kDrain},
    {"fail", Flag::kFail},
    {"failing", Flag::kFail},
    {"failg", Flag::kFail},
    {"maintenance", Flag::kMaintenance},
    {"maint", Flag::kMaintenance},
    {"reserved", Flag::kReserved},
    {"resv", Flag::kReserved},
    {"planned", Flag::kPlanned},
    {"plnd", Flag::kPlanned},
    {"completing", Flag::kCompleting},
    {"comp", Flag::kCompleting},
    {"not_responding", Flag::kNotResponding},
    {"no_respond", Flag::kNotResponding},
    {"powered_down", Flag::kPoweredDown},
    {"powering_down", Flag::kPoweringDown},
    {"pow_dn", Flag::kPoweringDown},
    {"power_down", Flag::kPowerDownAsked},
    {"powering_up", Flag::kPoweringUp},
    {"pow_up", Flag::kPoweringUp},
    {"reboot_requested", Flag::kRebootAsked},
    {"reboot", Flag::kRebootAsked},
    {"reboot_issued", Flag::kRebootIssued},
    {"boot", Flag::kRebootIssued},
    {"invalid_reg", Flag::kInvalidRegistration},
    {"inval", Flag::kInvalidRegistration},
    {"blocked", Flag::kBlocked},
    {"block", Flag::kBlocked},
    {"perfctrs", Flag::kPerformanceCounters},
    {"npc", Flag::kPerformanceCounters},
};

// Behind a word of sinfo.
constexpr std::pair<char, Flag> kNodeSuffixes[] = {
    {'*', Flag::kNotResponding},  {'~', Flag::kPoweredDown},  {'#', Flag::kPoweringUp},
    {'!', Flag::kPowerDownAsked}, {'%', Flag::kPoweringDown}, {'$', Flag::kMaintenance},
    {'@', Flag::kRebootAsked},    {'^', Flag::kRebootIssued}, {'-', Flag::kPlanned}};

// A word that a column of sinfo cuts, "draini", is that of which it is the beginning.
constexpr std::size_t kLeastCutWord = 5;

template <typename... Flags>
constexpr std::uint32_t BitsOf(Flags... flags) {
  return ((1U << static_cast<unsigned>(flags)) | ...);
}

constexpr std::uint32_t kAway =
    BitsOf(Flag::kUndetermined, Flag::kDown, Flag::kError, Flag::kFuture, Flag::kDrain, Flag::kFail,
           Flag::kInvalidRegistration);
constexpr std::uint32_t kBeginsNothing =
    BitsOf(Flag::kDrain, Flag::kFail, Flag::kMaintenance, Flag::kPoweredDown, Flag::kPoweringDown,
           Flag::kRebootIssued, Flag::kInvalidRegistration);
constexpr std::uint32_t kRuns = BitsOf(Flag::kIdle, Flag::kAllocated, Flag::kMixed);

}  // namespace

void SlurmNodeState::AddText(std::string_view text) {
  for (const std::string_view part : Split(text, '+')) {
    std::string word = ToLower(Trim(part));
    for (bool more = true; more && !word.empty();) {
      more = false;
      for (const auto& [suffix, flag] : kNodeSuffixes) {
        if (word.empty() || word.back() != suffix) continue;
        Add(flag);
        word.pop_back();
        more = true;
      }
    }
    for (const auto& [name, flag] : kNodeWords) {
      const bool cut = word.size() >= kLeastCutWord && name.starts_with(word);
      if (word != name && !cut) continue;
      Add(flag);
      break;
    }
  }
}

SlurmNodeState::Absence SlurmNodeState::WhyNotOfCluster() const {
  if (HasAny(kAway)) return Absence::kAway;
  return Has(Flag::kNotResponding) ? Absence::kNotResponding : Absence::kNone;
}

bool SlurmNodeState::BeginsJobs() const { return !HasAny(kBeginsNothing); }
bool SlurmNodeState::Runs() const { return HasAny(kRuns); }

bool SlurmNodeState::IsUsableNow() const { return BeginsJobs() && Runs(); }

bool SlurmNodeState::IsDrained() const {
  return Runs() && (Has(Flag::kDrain) || Has(Flag::kMaintenance));
}

bool SlurmNodeState::IsUnknown() const { return BeginsJobs() && Has(Flag::kUndetermined); }

}  // namespace allot
