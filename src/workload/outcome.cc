#include "workload/outcome.h"

#include <algorithm>

namespace allot {

const std::vector<std::string>& OutcomeNames() {
  static const std::vector<std::string> names = {"unreported", "passed",  "failed",
                                                 "killed",     "running", "pending"};
  return names;
}

const std::string& OutcomeName(Outcome outcome) {
  return OutcomeNames().at(static_cast<std::size_t>(outcome));
}

std::optional<Outcome> ParseOutcome(std::string_view name) {
  const auto& names = OutcomeNames();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Outcome>(found - names.begin());
}

std::optional<Outcome> ParsePhillyStatus(std::string_view status) {
  if (status == "Pass") return Outcome::kPassed;
  if (status == "Failed") return Outcome::kFailed;
  if (status == "Killed") return Outcome::kKilled;
  return std::nullopt;
}

}  // namespace allot
