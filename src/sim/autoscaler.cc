#include "sim/autoscaler.h"

namespace allot {

std::unique_ptr<Autoscaler> MakeAutoscaler(std::string_view spec) {
  if (spec.empty()) return nullptr;
  const std::size_t equals = spec.find('=');
  const bool named = equals == std::string_view::npos || spec.find(':') < equals;
  const NamedParams given =
      ParseNamedParams(named ? std::string(spec) : "utility:" + std::string(spec));
  const auto& info = Registry<AutoscalerInfo>::Global().Get("autoscaler", given.name);
  return info.make(Params(fmt::format("autoscaler '{}'", info.id), info.params, given.given));
}

}  // namespace allot
