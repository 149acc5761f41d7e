#include "live/runtime.h"

namespace allot {

std::unique_ptr<Runtime> MakeRuntime(std::string_view spec, const RuntimeOptions& options) {
  const NamedParams named = ParseNamedParams(spec);
  const RuntimeInfo& info = Registry<RuntimeInfo>::Global().Get("runtime", named.name);
  return info.make(Params(fmt::format("runtime '{}'", info.id), info.params, named.given), options);
}

}  // namespace allot
