#pragma once
// Normal noise on what a network says of each job: exploration for any rule that makes an
// allocation of the numbers, joint choices included, and the score function of the draw (REINFORCE
// with a Gaussian policy; Williams, 1992, section 6).

#include <cstdint>
#include <span>
#include <vector>

#include "agents/learned/job_numbers.h"

namespace allot {

class ValueNoise {
 public:
  // Output i is moved by a standard deviation of tau x steps[i], both > 0.
  ValueNoise(double tau, const NumbersPolicy::PerOutput& steps);

  // outputs: jobs x kIndexOutputs. moved = outputs + noise; gradient = d ln P(moved) / d outputs,
  // for the outputs not moved. With an equal seed a job's noise is the same whatever others there
  // are.
  void Move(std::uint64_t seed, std::span<const JobIndex> jobs, std::span<const float> outputs,
            std::vector<float>* moved, std::vector<float>* gradient) const;

 private:
  std::array<double, kIndexOutputs> deviations_;
};

}  // namespace allot
