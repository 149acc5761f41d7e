#include "clients/slurm/job_state.h"

#include <array>
#include <cstddef>

namespace allot {
namespace {

using Phase = SlurmJobPhase;
using End = SlurmJobEnd;

constexpr std::array<SlurmJobStateFacts, kSlurmJobStates> kFactsOfStates = {{
    {"PENDING", "PD", Phase::kWaiting, {}},
    {"RUNNING", "R", Phase::kRunning, {}},
    {"SUSPENDED", "S", Phase::kRunning, {}},
    {"COMPLETED", "CD", Phase::kEnded, End::kCompleted},
    {"CANCELLED", "CA", Phase::kEnded, End::kCancelled},
    {"FAILED", "F", Phase::kEnded, End::kFailed},
    {"TIMEOUT", "TO", Phase::kEnded, End::kFailed},
    {"NODE_FAIL", "NF", Phase::kLostNodes, End::kFailed},
    {"PREEMPTED", "PR", Phase::kLostNodes, End::kCancelled},
    {"BOOT_FAIL", "BF", Phase::kLostNodes, End::kFailed},
    {"DEADLINE", "DL", Phase::kEnded, End::kFailed},
    {"OUT_OF_MEMORY", "OOM", Phase::kEnded, End::kFailed},
    {"RESV_DEL_HOLD", "RD", Phase::kWaiting, {}},
    {"REQUEUED", "RQ", Phase::kRequeued, {}},
    {"REQUEUE_FED", "RF", Phase::kRequeued, {}},
    {"REQUEUE_HOLD", "RH", Phase::kRequeued, {}},
    {"SPECIAL_EXIT", "SE", Phase::kRequeued, End::kFailed},
    {"REVOKED", "RV", Phase::kEnded, End::kCancelled},
    {"LAUNCH_FAILED", "LF", Phase::kEnded, End::kFailed},
    {"RECONFIG_FAIL", "RC", Phase::kEnded, End::kFailed},
    {"CONFIGURING", "CF", Phase::kRunning, {}},
    {"COMPLETING", "CG", Phase::kRunning, {}},
    {"RESIZING", "RS", Phase::kRunning, {}},
    {"SIGNALING", "SI", Phase::kRunning, {}},
    {"STAGE_OUT", "SO", Phase::kRunning, {}},
    {"STOPPED", "ST", Phase::kRunning, {}},
    {"POWER_UP_NODE", "PU", Phase::kRunning, {}},
}};

}  // namespace

const SlurmJobStateFacts& FactsOf(SlurmJobState state) {
  return kFactsOfStates[static_cast<std::size_t>(state)];
}

std::optional<SlurmJobState> ParseSlurmJobState(std::string_view text) {
  std::string_view word = text.substr(0, text.find(' '));
  if (word.ends_with('+')) word.remove_suffix(1);
  for (std::size_t i = 0; i < kFactsOfStates.size(); ++i) {
    if (word == kFactsOfStates[i].name || word == kFactsOfStates[i].code) {
      return static_cast<SlurmJobState>(i);
    }
  }
  return std::nullopt;
}

std::optional<SlurmJobState> SlurmJobStates::Main() const {
  for (int i = 0; i < kSlurmJobStates; ++i) {
    if (Has(static_cast<SlurmJobState>(i))) return static_cast<SlurmJobState>(i);
  }
  return std::nullopt;
}

bool SlurmJobStates::IsRequeued() const {
  for (int i = 0; i < kSlurmJobStates; ++i) {
    const auto state = static_cast<SlurmJobState>(i);
    if (Has(state) && FactsOf(state).phase == SlurmJobPhase::kRequeued) return true;
  }
  return false;
}

}  // namespace allot
