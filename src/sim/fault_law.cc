#include "sim/fault_law.h"

namespace allot {

std::unique_ptr<FaultLaw> MakeFaultLaw(std::string_view spec) {
  if (spec.empty()) return nullptr;
  const NamedParams given = ParseNamedParams(spec);
  const auto& info = Registry<FaultLawInfo>::Global().Get("fault law", given.name);
  return info.make(Params(fmt::format("fault law '{}'", info.id), info.params, given.given));
}

}  // namespace allot
