#pragma once
// Checks the quantiles of the length model: which fraction of a run's jobs takes no longer than the
// predicted quantile of each level. Each job is predicted when it is first observed, and at regular
// moments once it has done work (so a job can count many times).

#include <array>
#include <string>
#include <vector>

#include "wait_forecast/forecast_check.h"

namespace allot {

// The coverage of one level among the jobs of a size class, or of all.
struct LengthCoverage {
  std::string asked;  // "new" or "under way"
  std::string gpus;   // "all", "1", "2-4", "5-8", "9 and more"
  double nominal = 0;
  double covered = 0;  // fraction of the questions
  std::int64_t questions = 0;
};

// Follows a run of a simulated cluster, whose scenario knows the lengths.
class LengthCheck : public DecisionListener {
 public:
  static constexpr std::array<double, 9> kLevels = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9};

  LengthCheck(const Scenario& scenario, LengthModel lengths, const CheckOptions& options);

  void OnDecision(const Observation& observation, const Allocation& allocation) override;

  // By kind of question, size and level; without sizes that no job has.
  std::vector<LengthCoverage> Coverage() const;

 private:
  static constexpr std::size_t kAsked = 2;
  static constexpr std::size_t kSizes = 5;
  struct Count {
    std::int64_t questions = 0;
    std::array<std::int64_t, kLevels.size()> covered{};
  };
  void Ask(const Observation& o, std::size_t row, std::size_t asked);

  const Scenario& scenario_;
  LengthModel lengths_;
  CheckOptions options_;
  Seconds next_;
  std::vector<bool> seen_;  // by job
  std::array<std::array<Count, kSizes>, kAsked> counts_{};
};

// asked,gpus,nominal,covered,questions
std::string CoverageCsv(const std::vector<LengthCoverage>& rows);

}  // namespace allot
