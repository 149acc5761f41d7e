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

std::size_t SettingOf(std::uint64_t seed, std::size_t settings) {
  return Rng(seed, "setting").Below(settings);
}

EpisodeSource MixedEpisodes(std::vector<EpisodeSource> sources) {
  if (sources.empty()) throw UsageError("at least one setting is needed, got none");
  return [sources = std::move(sources)](std::uint64_t seed) {
    return sources[SettingOf(seed, sources.size())](seed);
  };
}

}  // namespace allot
