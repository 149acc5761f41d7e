// The network 'offsets': adds to the numbers that a fixed index gives each job
// (stages/index_rule.h) and leaves what follows to the index: GPU types, sizes, all together or
// step by step, placement. Its weights keep the tuned index of each world that it was trained in,
// so that one network serves them all. Untrained it is the index of the world, to the bit.

#include <algorithm>
#include <cmath>

#include "agents/learned/explanation.h"
#include "agents/learned/job_numbers.h"
#include "core/error.h"
#include "core/index.h"
#include "core/nested_spec.h"
#include "features/feature_table.h"
#include "features/index_action.h"
#include "features/offset_encoder.h"
#include "models/index_net.h"
#include "stages/index_rule.h"

namespace allot {
namespace {

constexpr std::string_view kOffsetsKind = "offsets";
constexpr const char* kWorlds = "worlds";  // in NetWeights::sizes: spec of the index, by name

// What an output of 1 adds to u, beta and kappa: so that equal changes of weights are of about
// equal consequence.
constexpr float kScales[kIndexOutputs] = {0.5F, 0.1F, 0.1F};

IndexNetShape OffsetsShape(int hidden) {
  return {.job_features = kOffsetJobFeatures,
          .context_features = kOffsetContext,
          .hidden = hidden,
          .outputs = kIndexOutputs};
}

IndexRule RuleOf(const std::string& spec, const Agent& agent, const std::string& placement) {
  NamedParams named = ParseNamedParams(spec);
  if (named.name != "index") {
    throw UsageError("a network of offsets adds to the policy index, got '{}'", spec);
  }
  named.given.try_emplace("placement", placement);
  named.given.erase("history");  // what is known of lengths comes with the agent
  return IndexRule(Params("policy 'index'", IndexRule::Specs(), named.given), agent.lengths);
}

// The spec that holds in the world asked for.
std::string RuleSpecOf(const NetWeights& weights, const Serving& serving) {
  if (!serving.index.empty()) return serving.index;
  const auto worlds = weights.sizes.find(kWorlds);
  if (worlds == weights.sizes.end() || worlds->empty()) return "index";
  if (serving.world.empty() && worlds->size() == 1) return worlds->begin()->get<std::string>();
  const auto found = worlds->find(serving.world);
  if (found != worlds->end()) return found->get<std::string>();
  std::vector<std::string> known;
  for (const auto& [world, spec] : worlds->items()) known.push_back(world);
  throw UsageError(
      "the network adds to the tuned index of a world and has none for world '{}', only for {}: "
      "choose one with world=NAME, give one with index=index/KEY=VALUE/..., or train it there",
      serving.world, fmt::join(known, ", "));
}

// Each world has its own output layer; a hidden layer only if it was trained with one
// (experiment/training/merge_worlds.h).
constexpr std::string_view kOwnTensors[] = {index_net::kOutHidden, index_net::kOutJob,
                                            index_net::kOutContext, index_net::kOutBias};
constexpr std::string_view kOwnHidden[] = {index_net::kHiddenJob, index_net::kHiddenContext,
                                           index_net::kHiddenBias};

// Without the parts of worlds.
NetWeights SharedPart(const NetWeights& weights) {
  NetWeights shared = weights;
  std::erase_if(shared.tensors,
                [](const auto& each) { return !WorldOfTensor(each.first).empty(); });
  return shared;
}

// The network of `world`: the shared part and its own, if there is one.
NetWeights SumIn(const NetWeights& weights, const std::string& world) {
  NetWeights sum = SharedPart(weights);
  for (auto& [name, tensor] : sum.tensors) {
    const auto own = weights.tensors.find(OwnTensor(name, world));
    if (own == weights.tensors.end()) continue;
    for (std::size_t i = 0; i < tensor.data.size(); ++i) tensor.data[i] += own->second.data[i];
  }
  return sum;
}

// The world asked for; where none is and the network knows one only, that.
std::string WorldOf(const NetWeights& weights, const Serving& serving) {
  if (!serving.world.empty() || !serving.index.empty()) return serving.world;
  const auto worlds = weights.sizes.find(kWorlds);
  return worlds != weights.sizes.end() && worlds->size() == 1 ? worlds->begin().key() : "";
}

class OffsetsPolicy : public NumbersPolicy, public Explainer {
 public:
  OffsetsPolicy(const Agent& agent, const Serving& serving)
      : NumbersPolicy(SumIn(agent.weights, WorldOf(agent.weights, serving))),
        encoder_(agent.lengths),
        rule_(RuleOf(RuleSpecOf(agent.weights, serving), agent, serving.placement)) {}

  void OnEpisodeStart(const EpisodeContext& context) override {
    encoder_.OnEpisodeStart();
    rule_.OnEpisodeStart(context);
  }
  void OnEpisodeStart() override { OnEpisodeStart(EpisodeContext{}); }
  void Observe(const Observation& o) override {
    encoder_.Observe(o);
    rule_.Observe(o);
  }
  void Act(const Observation& o, std::span<const float> outputs, Allocation* allocation) override {
    AddOffsets(o, outputs);
    rule_.Allocate(o, scores_, allocation);
  }
  PerOutput Steps() const override { return {1 / kScales[0], 1 / kScales[0], 1 / kScales[0]}; }

  Explanation Explain(const Observation& o) override {
    Explanation result;
    Think(o);
    result.feature_names = OffsetFeatureNames();
    result.context = features().context;
    result.last_key = std::nanf("");
    AddOffsets(o, outputs());
    Allocation alone;
    rule_.Allocate(o, fixed_, &alone);
    rule_.Allocate(o, scores_, &result.allocation);
    std::vector<std::int32_t> granted_alone;
    ConfigurationsOf(o, alone, &granted_alone);
    std::vector<std::int32_t> granted;
    ConfigurationsOf(o, result.allocation, &granted);
    for (std::int32_t row = 0; row < o.rows(); ++row) {
      const float* const x = &features().jobs[At(row) * kOffsetJobFeatures];
      ExplainedJob job;
      job.job = o.job[At(row)];
      job.features.assign(x, x + kOffsetJobFeatures);
      job.score = scores_[At(row)];
      job.of_index = fixed_[At(row)];
      job.running = o.running[At(row)];
      job.filled = job.granted = granted[At(row)];
      job.why = granted[At(row)] == granted_alone[At(row)]
                    ? "the same by the numbers of the index alone"
                    : fmt::format("by the numbers of the index alone: {}",
                                  ConfigurationText(o, row, granted_alone[At(row)]));
      result.jobs.push_back(std::move(job));
    }
    return result;
  }

 protected:
  void Encode(const Observation& o, FeatureBatch* features) override {
    fixed_ = rule_.Scores(o);
    encoder_.Encode(o, fixed_, features);
  }

 private:
  static std::vector<std::string_view> OffsetFeatureNames() {
    const auto own = OffsetEncoder::OwnNames();
    std::vector<std::string_view> names;
    names.reserve(JobFeatureTable().size() + own.size());
    for (const FeatureInfo& f : JobFeatureTable()) names.emplace_back(f.meaning);
    names.insert(names.end(), own.begin(), own.end());
    return names;
  }

  static void ConfigurationsOf(const Observation& o, const Allocation& allocation,
                               std::vector<std::int32_t>* configurations) {
    configurations->assign(o.job.size(), -1);
    for (const Allocation::Entry& entry : allocation.entries()) {
      const auto row = std::find(o.job.begin(), o.job.end(), entry.job) - o.job.begin();
      (*configurations)[static_cast<std::size_t>(row)] = entry.configuration;
    }
  }

  // To those of the index, within what its rule takes.
  void AddOffsets(const Observation& o, std::span<const float> outputs) {
    scores_.resize(o.job.size());
    for (std::size_t r = 0; r < scores_.size(); ++r) {
      const float* const out = &outputs[r * kIndexOutputs];
      const Score offset =
          BoundedScore({kScales[0] * out[0], kScales[1] * out[1], kScales[2] * out[2]});
      scores_[r] = rule_.Bounded(
          {fixed_[r].u + offset.u, fixed_[r].beta + offset.beta, fixed_[r].kappa + offset.kappa});
    }
  }

  OffsetEncoder encoder_;
  IndexRule rule_;
  std::span<const Score> fixed_;  // of the rule, for the observation looked at last
  std::vector<Score> scores_;
};

NetWeights FreshOffsets(const Params& params, std::uint64_t seed) {
  NetWeights weights = InitIndexNet(OffsetsShape(params.Integer("hidden")), seed);
  weights.kind = kOffsetsKind;
  weights.sizes[kWorlds] = nlohmann::json::object();
  return weights;
}

void BeginIn(NetWeights* weights, const std::string& world, const std::string& index) {
  RuleOf(index, {}, "packed");  // refuse now what is none
  nlohmann::json& worlds = weights->sizes[kWorlds];
  if (!worlds.contains(world)) worlds[world] = index;
  for (const std::string_view name : kOwnTensors) {
    weights->tensors.try_emplace(OwnTensor(name, world), ZeroTensor((*weights)[name].shape));
  }
}

// Each world has its own output layer, perhaps a hidden one, in the shapes of the shared ones, and
// no other has any.
void CheckOwnParts(const NetWeights& weights, const IndexNetWeights& shared,
                   const nlohmann::json& worlds, const std::string& origin) {
  TensorMap expected = shared.tensors;
  for (const auto& [world, spec] : worlds.items()) {
    for (const std::string_view name : kOwnTensors) {
      expected.emplace(OwnTensor(name, world), ZeroTensor(shared[name].shape));
    }
    for (const std::string_view name : kOwnHidden) {
      const std::string own = OwnTensor(name, world);
      if (weights.tensors.contains(own)) expected.emplace(own, ZeroTensor(shared[name].shape));
    }
  }
  RequireSameLayout(weights.tensors, expected, origin);
}

void CheckOffsets(const NetWeights& weights, const std::string& origin) {
  const IndexNetWeights net(SharedPart(weights), origin);
  if (net.shape != OffsetsShape(net.shape.hidden)) {
    throw DataError(
        "{}: checkpoint has shape {}, this allot needs {} features of a job, {} of the "
        "moment and {} outputs",
        origin, weights.sizes.dump(), kOffsetJobFeatures, kOffsetContext, kIndexOutputs);
  }
  const auto worlds = weights.sizes.find(kWorlds);
  if (worlds == weights.sizes.end() || !worlds->is_object()) {
    throw DataError("{}: '{}' must name the fixed index of each world, got {}", origin, kWorlds,
                    weights.sizes.dump());
  }
  for (const auto& [world, spec] : worlds->items()) {
    if (!spec.is_string()) {
      throw DataError("{}: the index of world '{}' must be a text, got {}", origin, world,
                      spec.dump());
    }
    try {
      RuleOf(spec.get<std::string>(), {}, "packed");
    } catch (const Error& error) {
      throw DataError("{}: world '{}': {}", origin, world, error.what());
    }
  }
  CheckOwnParts(weights, net, *worlds, origin);
}

ALLOT_REGISTER(NetworkInfo,
               (NetworkInfo{.id = std::string(kOffsetsKind),
                            .summary = "adds to the fixed index of each world, in any world",
                            .actions = "numbers",
                            .feature_version = kOffsetFeatureVersion,
                            .params = {{"hidden", "8", "hidden units", 1, 1024}},
                            .make_weights = FreshOffsets,
                            .check = CheckOffsets,
                            .make_policy = [](const Agent& agent, const Serving& serving)
                                -> std::unique_ptr<LearnedPolicy> {
                              return std::make_unique<OffsetsPolicy>(agent, serving);
                            },
                            .begin_in = BeginIn,
                            .in_world = SumIn}));

}  // namespace
}  // namespace allot
