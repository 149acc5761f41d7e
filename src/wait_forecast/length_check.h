#pragma once
// Whether quantiles of the length model are what they say: of the jobs of a run, which share takes
// no longer than the model's quantile of each level. Asked of each job when it is first seen, and
// at regular moments of those that have done something (a job may be asked about many times).

#include <array>
#include <string>
#include <vector>

#include "wait_forecast/outlook_check.h"

namespace allot {

// Of jobs of a size class, or of all.
struct LengthCoverage {
  std::string asked;  // "new" or "under way"
  std::string gpus;   // "all", "1", "2-4", "5-8", "9 and more"
  double nominal = 0;
  double covered = 0;  // share of the questions
  std::int64_t questions = 0;
};

// Follows a run of a simulated cluster, whose scenario knows the lengths.
class LengthCheck : public DecisionListener {
 public:
  static constexpr std::array<double, 9> kLevels = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9};

  LengthCheck(const Scenario& scenario, LengthModel lengths, const CheckOptions& options);

  void OnDecision(const Observation& observation, const Allocation& allocation) override;

  // By what was asked, size and level; without sizes of which no job was.
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
