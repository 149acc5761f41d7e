#include "sim/lender.h"

namespace allot {

std::unique_ptr<Lender> MakeLender(std::string_view spec, const ServiceLoad& load) {
  const NamedParams given = ParseNamedParams(spec);
  const auto& info = Registry<LenderInfo>::Global().Get("lender", given.name);
  return info.make(Params(fmt::format("lender '{}'", info.id), info.params, given.given), load);
}

}  // namespace allot
