#include "agents/training/value_noise.h"

#include "core/check.h"
#include "core/rng.h"

namespace allot {

ValueNoise::ValueNoise(double tau, const NumbersPolicy::PerOutput& steps) {
  for (std::size_t i = 0; i < deviations_.size(); ++i) deviations_[i] = tau * steps[i];
}

void ValueNoise::Move(std::uint64_t seed, std::span<const JobIndex> jobs,
                      std::span<const float> outputs, std::vector<float>* moved,
                      std::vector<float>* gradient) const {
  ALLOT_CHECK_EQ(outputs.size(), jobs.size() * deviations_.size());
  moved->assign(outputs.begin(), outputs.end());
  gradient->resize(outputs.size());
  std::size_t at = 0;
  for (const JobIndex job : jobs) {
    Rng rng(seed, "value-noise", static_cast<std::uint64_t>(job));
    for (const double deviation : deviations_) {
      const double drawn = rng.Normal();
      (*moved)[at] += static_cast<float>(deviation * drawn);
      (*gradient)[at] = static_cast<float>(drawn / deviation);
      ++at;
    }
  }
}

}  // namespace allot
