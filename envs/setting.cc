#include "envs/setting.h"

#include <utility>

#include "core/error.h"
#include "core/rng.h"

namespace allot {

Setting MakeSetting(std::string_view spec) {
  const NamedParams named = ParseNamedParams(spec);
  const auto& info = Registry<SettingInfo>::Global().Get("setting", named.name);
  return info.make(Params(fmt::format("setting '{}'", info.id), info.params, named.given));
}

EpisodeSource MixedEpisodes(std::vector<EpisodeSource> sources) {
  if (sources.empty()) throw UsageError("at least one setting is needed, got none");
  return [sources = std::move(sources)](std::uint64_t seed) {
    return sources[Rng(seed, "setting").Below(sources.size())](seed);
  };
}

}  // namespace allot
