#include "workload/slurm_state.h"

#include <fmt/format.h>

#include <utility>

#include "workload/row_error.h"

namespace allot {

Outcome ReadSlurmState(const CsvReader& row, std::string_view column) {
  static constexpr std::pair<std::string_view, Outcome> kStates[] = {
      {"COMPLETED", Outcome::kPassed},      {"CANCELLED", Outcome::kKilled},
      {"FAILED", Outcome::kFailed},         {"TIMEOUT", Outcome::kFailed},
      {"NODE_FAIL", Outcome::kFailed},      {"OUT_OF_MEMORY", Outcome::kFailed},
      {"DEADLINE", Outcome::kFailed},       {"BOOT_FAIL", Outcome::kFailed},
      {"PREEMPTED", Outcome::kKilled},      {"PENDING", Outcome::kUnreported},
      {"RUNNING", Outcome::kUnreported},    {"REQUEUED", Outcome::kUnreported},
      {"RESIZING", Outcome::kUnreported},   {"SUSPENDED", Outcome::kUnreported},
      {"COMPLETING", Outcome::kUnreported},
  };
  const std::string_view text = row.Text(column);
  const std::string_view word = text.substr(0, text.find(' '));  // "CANCELLED by 1000"
  for (const auto& [state, outcome] : kStates) {
    if (word == state) return outcome;
  }
  throw RowError(fmt::format("'{}' must be a state of Slurm, like COMPLETED or FAILED", column),
                 Quoted(text), row.place());
}

}  // namespace allot
