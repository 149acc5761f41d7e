#include "workload/slurm_state.h"

#include <fmt/format.h>

#include <utility>

#include "workload/row_error.h"

namespace allot {

std::optional<SacctState> ParseSacctState(std::string_view text) {
  using Run = SacctState::Run;
  static constexpr std::pair<std::string_view, SacctState> kStates[] = {
      {"COMPLETED", {Outcome::kPassed, Run::kEnded}},
      {"CANCELLED", {Outcome::kKilled, Run::kEnded}},
      {"FAILED", {Outcome::kFailed, Run::kEnded}},
      {"TIMEOUT", {Outcome::kFailed, Run::kEnded}},
      {"OUT_OF_MEMORY", {Outcome::kFailed, Run::kEnded}},
      {"DEADLINE", {Outcome::kFailed, Run::kEnded}},
      {"LAUNCH_FAILED", {Outcome::kFailed, Run::kEnded}},
      {"RECONFIG_FAIL", {Outcome::kFailed, Run::kEnded}},
      {"REVOKED", {Outcome::kKilled, Run::kEnded}},
      {"NODE_FAIL", {Outcome::kFailed, Run::kGivenBack}},
      {"BOOT_FAIL", {Outcome::kFailed, Run::kGivenBack}},
      {"PREEMPTED", {Outcome::kKilled, Run::kGivenBack}},
      {"REQUEUED", {Outcome::kUnreported, Run::kGivenBack}},
      {"REQUEUE_FED", {Outcome::kUnreported, Run::kGivenBack}},
      {"REQUEUE_HOLD", {Outcome::kUnreported, Run::kGivenBack}},
      {"SPECIAL_EXIT", {Outcome::kFailed, Run::kGivenBack}},
      {"RESIZING", {Outcome::kUnreported, Run::kGivenBack}},
      {"PENDING", {Outcome::kPending, Run::kGoesOn}},
      {"CONFIGURING", {Outcome::kRunning, Run::kGoesOn}},
      {"RESV_DEL_HOLD", {Outcome::kPending, Run::kGoesOn}},
      {"RUNNING", {Outcome::kRunning, Run::kGoesOn}},
      {"SUSPENDED", {Outcome::kRunning, Run::kGoesOn}},
      {"STOPPED", {Outcome::kRunning, Run::kGoesOn}},
      {"SIGNALING", {Outcome::kRunning, Run::kGoesOn}},
      {"STAGE_OUT", {Outcome::kRunning, Run::kGoesOn}},
      {"COMPLETING", {Outcome::kRunning, Run::kGoesOn}},
      // squeue's short words
      {"PD", {Outcome::kPending, Run::kGoesOn}},
      {"R", {Outcome::kRunning, Run::kGoesOn}},
      {"CF", {Outcome::kRunning, Run::kGoesOn}},
      {"CG", {Outcome::kRunning, Run::kGoesOn}},
      {"S", {Outcome::kRunning, Run::kGoesOn}},
  };
  std::string_view word = text.substr(0, text.find(' '));  // "CANCELLED by 1000"
  if (word.ends_with('+')) word.remove_suffix(1);          // cut to a width: "CANCELLED+"
  for (const auto& [name, state] : kStates) {
    if (word == name) return state;
  }
  return std::nullopt;
}

Outcome ReadSlurmState(const CsvReader& row, std::string_view column) {
  const std::string_view text = row.Text(column);
  if (const auto state = ParseSacctState(text)) {
    return state->run == SacctState::Run::kGoesOn ? Outcome::kUnreported : state->outcome;
  }
  throw RowError(fmt::format("'{}' must be a state of Slurm, like COMPLETED or FAILED", column),
                 Quoted(text), row.place());
}

}  // namespace allot
