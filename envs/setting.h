#pragma once
// Settings: named, seeded families of episodes (arrivals, cluster, rules of the world), in which
// policies are trained and compared. A new one is one file in envs/settings/ that registers itself.
// Used through --setting of the commands.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/params.h"
#include "core/registry.h"
#include "envs/episodes.h"

namespace allot {

struct Setting {
  std::string name;     // for tables
  std::string profile;  // whose names for policies hold here (sim/profile.h)
  // Equal seeds give equal scenarios, whatever was drawn before. Thread-safe.
  EpisodeSource episodes;
  std::int64_t training_decisions = 4000;  // after so many an episode of training is cut
  // The best fixed index here, by spec, where training of networks that add to one begins. Empty:
  // what the profile means by 'index'.
  std::string index{};
};

struct SettingInfo {
  std::string id;
  std::string summary;
  std::vector<ParamSpec> params;
  std::function<Setting(const Params&)> make;
};

// "dl2:size=V24". UsageError with did-you-mean.
Setting MakeSetting(std::string_view spec);

// Which of so many settings an episode of this seed is of, where several are mixed.
std::size_t SettingOf(std::uint64_t seed, std::size_t settings);

// One source that draws from several, each episode from one of them by its seed.
EpisodeSource MixedEpisodes(std::vector<EpisodeSource> sources);

}  // namespace allot
