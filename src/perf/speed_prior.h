#pragma once
// The distribution of the speed of jobs that were not measured yet: the prediction of a fit,
// corrected by the errors of fits when earlier jobs first went beyond what was measured of them.
// Used by the simulator's belief 'learned'; knows nothing but measurements, as a daemon would.
//
// An error is ln(rate measured / rate predicted), for each doubling of GPUs (at least one) between
// the measured count that was nearest and the new one. Errors of each kind of step are normal, with
// mean and variance that are learned at levels, each drawn towards the one above: all jobs -> size
// class (1, 2-4, 5-8, more requested GPUs) -> user -> group -> model. With n errors at a level,
// their mean m and sum of squares S around it, mean M and variance V of the level above,
//
//   mean     = (k M + n m) / (k + n)
//   variance = (k V + S + k n / (k + n) (m - M)^2) / (k + n),
//
// the posterior of a normal-inverse-chi-squared prior of k pseudo-errors (Gelman et al., Bayesian
// Data Analysis, section 3.3; hierarchical as length_model/submitter_tables.h). Above all jobs:
// mean 0 and the spread kSpread, by which predictions without any error so far are believed as
// they are. An error is spread over its doublings: a rate d doublings away is off by d times the
// mean, and its logarithm has d times the standard deviation.

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "core/types.h"

namespace allot {

// From what was measured to what was not.
enum class SpeedStep {
  kTogether,  // to several GPUs of a node, where the model never had them
  kApart,     // to several nodes, where the model never had them
  kMore,      // to more GPUs in the same way
  kFewer,     // to fewer, or between two counts
};

struct SpeedError {
  double mean = 0;    // of ln(true rate / rate predicted)
  double spread = 0;  // its standard deviation
};

class SpeedPrior {
 public:
  // Levels of a job, the widest first. Empty names are unknown: their level is left out.
  static std::vector<std::string> LevelsOf(GpuCount requested, const std::string& user,
                                           const std::string& group, const std::string& model);

  // An error of a model's step to so many GPUs, over `doublings`; a later one of the same model,
  // step and count is not another. NaN and infinite errors are left out. O(levels log).
  void Observe(const std::vector<std::string>& levels, SpeedStep step, GpuCount gpus,
               double doublings, double error);

  // Of a rate that many doublings away. O(levels log).
  SpeedError Of(const std::vector<std::string>& levels, SpeedStep step, double doublings) const;

  static double Doublings(GpuCount from, GpuCount to);  // at least 1

  static constexpr double kPseudoErrors = 2;  // k
  static constexpr double kSpread = 0.4;      // of ln rate, for each doubling

 private:
  struct Sums {
    double errors = 0;
    double sum = 0;
    double squares = 0;
  };
  static constexpr std::size_t kSteps = 4;
  using Steps = std::array<Sums, kSteps>;

  std::map<std::string, Steps> levels_;
  std::map<std::string, std::vector<std::pair<SpeedStep, GpuCount>>> counted_;  // by model
};

}  // namespace allot
