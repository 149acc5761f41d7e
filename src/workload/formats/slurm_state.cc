#include "workload/formats/slurm_state.h"

#include <fmt/format.h>

#include "clients/slurm/job_state.h"
#include "table/row_error.h"

namespace allot {
namespace {

Outcome OutcomeOf(const SlurmJobStateFacts& facts) {
  if (!facts.end) return Outcome::kUnreported;
  switch (*facts.end) {
    case SlurmJobEnd::kCompleted:
      return Outcome::kPassed;
    case SlurmJobEnd::kCancelled:
      return Outcome::kKilled;
    case SlurmJobEnd::kFailed:
      return Outcome::kFailed;
  }
  return Outcome::kUnreported;
}

}  // namespace

std::optional<SacctState> ParseSacctState(std::string_view text) {
  using Run = SacctState::Run;
  const auto state = ParseSlurmJobState(text);
  if (!state) return std::nullopt;
  // Accounting ends the row of a job that changes its size, and begins another one.
  if (*state == SlurmJobState::kResizing) return SacctState{Outcome::kUnreported, Run::kGivenBack};
  const SlurmJobStateFacts& facts = FactsOf(*state);
  switch (facts.phase) {
    case SlurmJobPhase::kWaiting:
      return SacctState{Outcome::kPending, Run::kGoesOn};
    case SlurmJobPhase::kRunning:
      return SacctState{Outcome::kRunning, Run::kGoesOn};
    case SlurmJobPhase::kEnded:
      return SacctState{OutcomeOf(facts), Run::kEnded};
    case SlurmJobPhase::kLostNodes:
    case SlurmJobPhase::kRequeued:
      return SacctState{OutcomeOf(facts), Run::kGivenBack};
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
