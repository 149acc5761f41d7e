#include "sim/fault_law.h"

namespace allot {

std::vector<Outage> FaultLaw::ExponentialOutages(Seconds up, Seconds down, Seconds horizon,
                                                 Rng rng) {
  std::vector<Outage> outages;
  Seconds time = rng.Exponential(up);
  while (time < horizon) {
    const Seconds end = time + rng.Exponential(down);
    outages.push_back({time, end});
    time = end + rng.Exponential(up);
  }
  return outages;
}

std::unique_ptr<FaultLaw> MakeFaultLaw(std::string_view spec) {
  if (spec.empty()) return nullptr;
  const NamedParams given = ParseNamedParams(spec);
  const auto& info = Registry<FaultLawInfo>::Global().Get("fault law", given.name);
  return info.make(Params(fmt::format("fault law '{}'", info.id), info.params, given.given));
}

}  // namespace allot
