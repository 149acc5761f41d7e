#include "perf/speed_prior.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace allot {
namespace {

const char* SizeClass(GpuCount requested) {
  if (requested <= 1) return "size 1";
  if (requested <= 4) return "size 2-4";
  return requested <= 8 ? "size 5-8" : "size 9+";
}

}  // namespace

std::vector<std::string> SpeedPrior::LevelsOf(GpuCount requested, const std::string& user,
                                              const std::string& group, const std::string& model) {
  std::vector<std::string> levels = {"all", SizeClass(requested)};
  if (!user.empty()) levels.push_back("user " + user);
  if (!group.empty()) levels.push_back("group " + group);
  levels.push_back("model " + model);
  return levels;
}

double SpeedPrior::Doublings(GpuCount from, GpuCount to) {
  return std::max(1.0, std::abs(std::log2(static_cast<double>(to) / from)));
}

void SpeedPrior::Observe(const std::vector<std::string>& levels, SpeedStep step, GpuCount gpus,
                         double doublings, double error) {
  if (!std::isfinite(error) || levels.empty()) return;
  std::vector<std::pair<SpeedStep, GpuCount>>& counted = counted_[levels.back()];
  if (std::find(counted.begin(), counted.end(), std::pair(step, gpus)) != counted.end()) return;
  counted.emplace_back(step, gpus);
  const double each = error / doublings;
  for (const std::string& level : levels) {
    Sums& sums = levels_[level][static_cast<std::size_t>(step)];
    sums.errors += 1;
    sums.sum += each;
    sums.squares += each * each;
  }
}

SpeedError SpeedPrior::Of(const std::vector<std::string>& levels, SpeedStep step,
                          double doublings) const {
  double mean = 0;
  double variance = kSpread * kSpread;
  for (const std::string& level : levels) {
    const auto known = levels_.find(level);
    if (known == levels_.end()) continue;
    const Sums& sums = known->second[static_cast<std::size_t>(step)];
    if (sums.errors == 0) continue;
    const double own = sums.sum / sums.errors;
    const double around = std::max(0.0, sums.squares - sums.errors * own * own);
    const double all = kPseudoErrors + sums.errors;
    const double apart = own - mean;
    variance =
        (kPseudoErrors * variance + around + kPseudoErrors * sums.errors / all * apart * apart) /
        all;
    mean = (kPseudoErrors * mean + sums.sum) / all;
  }
  return {doublings * mean, doublings * std::sqrt(variance)};
}

}  // namespace allot
