// The network 'index': encode, one forward pass, hull fill, placement.

#include "agents/learned/agent.h"
#include "agents/learned/explanation.h"
#include "agents/learned/index_agent.h"
#include "agents/learned/job_numbers.h"
#include "core/error.h"
#include "core/index.h"

namespace allot {
namespace {

class IndexPolicy : public NumbersPolicy {
 public:
  IndexPolicy(const Agent& agent, std::string_view placement)
      : NumbersPolicy(agent.weights), encoder_(agent.lengths), action_(placement) {}

  void OnEpisodeStart(const EpisodeContext&) override { encoder_.OnEpisodeStart(); }
  void Observe(const Observation& observation) override { encoder_.Observe(observation); }
  void Act(const Observation& observation, std::span<const float> outputs,
           Allocation* allocation) override {
    action_.Decode(observation, outputs, allocation);
  }
  void Margin(const Observation& o, std::int32_t row, std::int32_t given, MarginStep* taken,
              MarginStep* untaken) const override {
    const ConfigurationTable& table = *o.table[At(row)];
    const GpuTypeIndex type = given >= 0 ? table[given].gpu_type : table.types().front();
    const double cost = given >= 0 ? table[given].cost : 0;
    HullCursor cursor(o, row, type);
    while (!cursor.done() && table[cursor.step().to].cost <= cost) {
      *taken = StepOf(cursor);
      cursor.Advance();
    }
    if (!cursor.done()) *untaken = StepOf(cursor);
  }
  PerOutput Steps() const override { return {1.0F, 0.2F, 0.2F}; }

 protected:
  void Encode(const Observation& observation, FeatureBatch* features) override {
    encoder_.Encode(observation, features);
  }

 private:
  static MarginStep StepOf(const HullCursor& cursor) {
    return {true, cursor.step().log_gain, cursor.step().log_mid, cursor.kappa_sign()};
  }

  FeatureEncoder encoder_;
  IndexAction action_;
};

NetWeights AtPoint(const Params& params, std::uint64_t seed) {
  const std::string& basis = params.Text("basis");
  if (basis != "remaining" && basis != "gittins") {
    throw UsageError("a network starts at an index of basis remaining or gittins, got '{}'", basis);
  }
  const auto number = [&](const char* key) { return static_cast<float>(params.Number(key)); };
  return IndexAgentAt({.alpha = number("alpha"),
                       .beta = number("beta"),
                       .kappa = number("kappa"),
                       .gamma = number("gamma"),
                       .rank = number("rank"),
                       .forecast = basis == "gittins"},
                      params.Integer("hidden"), seed);
}

void Check(const NetWeights& weights, const std::string& origin) {
  const IndexNetWeights net(weights, origin);
  const nlohmann::json needed = IndexNetWeights(IndexAgentShape(net.shape.hidden)).sizes;
  if (weights.sizes != needed) {
    throw DataError("{}: checkpoint has shape {}, this allot needs {}", origin,
                    weights.sizes.dump(), needed.dump());
  }
}

ALLOT_REGISTER(NetworkInfo,
               (NetworkInfo{
                   .id = std::string(kIndexKind),
                   .summary = "three numbers per job and a greedy fill; starts as a fixed index",
                   .actions = "index",
                   .feature_version = kFeatureVersion,
                   .params = {{"hidden", "16", "hidden units", 1, 1024},
                              {"alpha", "0.25", "of the index at the start", -1000, 1000},
                              {"beta", "0.3", "as above", 0, 100},
                              {"kappa", "0.3", "as above", 0, 100},
                              {"gamma", "1", "as above", -10, 10},
                              {"rank", "0", "as above", -10, 10},
                              {"basis", "remaining",
                               "of the index at the start: remaining or gittins"},
                              {"history", "", "of the policy index; not used here"}},
                   .make_weights = AtPoint,
                   .check = Check,
                   .make_policy =
                       [](const Agent& agent, const Serving& serving) {
                         return std::make_unique<IndexPolicy>(agent, serving.placement);
                       },
                   .make_explainer =
                       [](const Agent& agent, const std::string& placement) {
                         return MakeIndexExplainer(agent, placement);
                       },
                   // Shortest remaining time, throughput, proportional and max-min fairness, the
                   // least sum of remaining times, the policy index.
                   .rules = {"alpha=10,beta=0,kappa=0", "alpha=0,beta=0,kappa=0",
                             "alpha=0,beta=1,kappa=0", "alpha=0,beta=20,kappa=0",
                             "alpha=-1,beta=2,kappa=0", "alpha=0.25,beta=0.3,kappa=0.3"}}));

}  // namespace
}  // namespace allot
