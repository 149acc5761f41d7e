#include "experiment/training/merge_worlds.h"

#include <fmt/ranges.h>

#include <set>

#include "agents/learned/agent.h"
#include "core/error.h"
#include "core/strings.h"
#include "experiment/model_card.h"
#include "experiment/sources.h"

namespace allot {
namespace {

constexpr const char* kWorlds = "worlds";  // in NetWeights::sizes

Checkpoint LoadServable(const std::string& path) {
  Checkpoint checkpoint = LoadCheckpoint(path);
  RequireServable(checkpoint, path);
  if (!checkpoint.weights.sizes.contains(kWorlds)) {
    throw DataError("{}: a network '{}' has no parts of worlds", path, checkpoint.weights.kind);
  }
  return checkpoint;
}

nlohmann::json SizesOf(const NetWeights& weights) {
  nlohmann::json sizes = weights.sizes;
  sizes.erase(kWorlds);
  return sizes;
}

// What `other` adds to the shared weights of `base` in a world, and its index there.
void TakeWorld(const NetWeights& other, const std::string& world, NetWeights* base) {
  base->sizes[kWorlds][world] = other.sizes.at(kWorlds).at(world);
  std::erase_if(base->tensors,
                [&](const auto& each) { return WorldOfTensor(each.first) == world; });
  TensorMap parts;
  for (const auto& [name, shared] : base->tensors) {
    if (!WorldOfTensor(name).empty()) continue;
    const std::string own_name = OwnTensor(name, world);
    const auto known = other.tensors.find(own_name);
    Tensor own = known != other.tensors.end() ? known->second : ZeroTensor(shared.shape);
    const std::vector<float>& trained = other[name].data;
    bool differs = false;
    for (std::size_t i = 0; i < trained.size(); ++i) {
      own.data[i] += trained[i] - shared.data[i];
      differs = differs || trained[i] != shared.data[i];
    }
    if (differs || known != other.tensors.end()) parts.emplace(own_name, std::move(own));
  }
  base->tensors.merge(parts);
}

nlohmann::json KnownLengths(const Checkpoint& checkpoint) {
  nlohmann::json lengths;
  AddLengths(LengthsOf(checkpoint.state), &lengths);
  return lengths;
}

// The lines of a card on the making of the weights and the measurements.
std::string HowMade(const std::string& card) {
  std::string lines;
  for (const std::string_view line : Split(card, '\n')) {
    if (line.starts_with("- ")) lines += fmt::format("{}\n", line);
  }
  return lines;
}

void RequireSameForm(const Checkpoint& a, const std::string& a_path, const Checkpoint& b,
                     const std::string& b_path) {
  const auto refuse = [&](const char* what) {
    throw DataError("worlds are merged of networks of one form, and {} and {} differ in {}", a_path,
                    b_path, what);
  };
  if (a.weights.kind != b.weights.kind) refuse("kind");
  if (a.feature_version != b.feature_version) refuse("feature version");
  if (SizesOf(a.weights) != SizesOf(b.weights)) refuse("sizes");
  if (KnownLengths(a) != KnownLengths(b)) refuse("what they know of lengths");
}

}  // namespace

WorldFrom ParseWorldFrom(const std::string& text) {
  const std::size_t at = text.find('=');
  if (at == 0 || at == std::string::npos || at + 1 == text.size()) {
    throw UsageError("a world is given as WORLD=CHECKPOINT, got '{}'", text);
  }
  return {text.substr(0, at), text.substr(at + 1)};
}

Checkpoint MergeWorlds(const std::string& base, const std::vector<WorldFrom>& from,
                       const std::string& command) {
  Checkpoint merged = LoadServable(base);
  merged.adam.reset();
  merged.memory.clear();
  nlohmann::json sources = SourcesOfCheckpoint(merged.config);
  std::string parts = fmt::format("\n## The checkpoint added to\n\n{}", HowMade(merged.card));
  std::set<std::string> given;
  for (const auto& [world, path] : from) {
    if (!given.insert(world).second) throw UsageError("world '{}' is given twice", world);
    const Checkpoint other = LoadServable(path);
    RequireSameForm(merged, base, other, path);
    const nlohmann::json& worlds = other.weights.sizes.at(kWorlds);
    if (!worlds.contains(world)) {
      std::vector<std::string> known;
      for (const auto& [name, index] : worlds.items()) known.push_back(name);
      throw DataError("{}: no world '{}', only {}", path, world, fmt::join(known, ", "));
    }
    TakeWorld(other.weights, world, &merged.weights);
    AddSources(SourcesOfCheckpoint(other.config), &sources);
    parts += fmt::format("\n## World {}\n\n{}", world, HowMade(other.card));
  }
  std::vector<std::string> worlds;
  for (const auto& [name, index] : merged.weights.sizes.at(kWorlds).items()) worlds.push_back(name);
  merged.config["sources"] = sources;
  merged.card =
      ModelCard(fmt::format("Network '{}' of worlds trained apart", merged.weights.kind), command,
                fmt::format("in each world apart: {}", fmt::join(worlds, ", "))) +
      parts;
  return merged;
}

}  // namespace allot
