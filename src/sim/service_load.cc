#include "sim/service_load.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/check.h"

namespace allot {

ServiceLoad::ServiceLoad(std::vector<double> gpus, std::size_t history)
    : gpus_(std::move(gpus)), history_(history) {
  ALLOT_CHECK_LT(history_, gpus_.size());
}

double ServiceLoad::At(Seconds time) const {
  const double step = std::floor(time / kStep) + static_cast<double>(history_);
  ALLOT_CHECK(step >= 0);
  const auto index = static_cast<std::size_t>(step);
  if (index < gpus_.size()) return gpus_[index];
  const std::size_t again = std::min(kStepsPerWeek, gpus_.size());
  return gpus_[gpus_.size() - again + (index - gpus_.size()) % again];
}

std::vector<double> ServiceLoad::History() const {
  return {gpus_.begin(), gpus_.begin() + static_cast<std::ptrdiff_t>(history_)};
}

ServiceLoad MakeServiceLoad(std::string_view spec, const ServiceSpan& span) {
  const NamedParams given = ParseNamedParams(spec);
  const auto& info = Registry<ServiceLawInfo>::Global().Get("law of services", given.name);
  return info.make(Params(fmt::format("law of services '{}'", info.id), info.params, given.given),
                   span);
}

}  // namespace allot
