#include "agents/learned/sequence_agent.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/index.h"
#include "core/strings.h"
#include "perf/dl2_job_types.h"

namespace allot {
namespace {

SequenceEncoder EncoderOf(const SequencePlan& plan, const LengthModel& lengths) {
  return {plan.features, plan.types, plan.scaled, lengths};
}

template <typename T>
T Field(const NetWeights& weights, const char* key, const std::string& origin) {
  try {
    return weights.sizes.at(key).get<T>();
  } catch (const nlohmann::json::exception&) {
    throw DataError("{}: shape of network '{}': '{}' is missing or of another type", origin,
                    weights.kind, key);
  }
}

class SequencePolicy : public LearnedPolicy {
 public:
  SequencePolicy(const Agent& agent, const std::string& placement)
      : decision_(agent, MakeSequenceNet(agent.weights), placement) {}

  const PolicyInfo& info() const override { return LearnedPolicyInfo(); }
  void OnEpisodeStart(const EpisodeContext&) override { decision_.OnEpisodeStart(); }
  void Observe(const Observation& observation) override { decision_.Observe(observation); }
  void Decide(const Observation& observation, Allocation* allocation) override {
    decision_.Play(
        observation, [](const SequenceDecision& choice) { return choice.likeliest(); }, allocation);
  }

 private:
  SequenceDecision decision_;
};

}  // namespace

void WritePlan(const SequencePlan& plan, NetWeights* weights) {
  weights->sizes["features"] = plan.features == SequenceFeatures::kSpeed ? "speed" : "dl2";
  weights->sizes["types"] = plan.types;
  weights->sizes["scaled"] = plan.scaled;
  weights->sizes["bundles"] = plan.bundles;
  weights->sizes["stop_late"] = plan.stop_late;
}

SequencePlan ReadPlan(const NetWeights& weights, const std::string& origin) {
  SequencePlan plan;
  const bool flat = weights.kind == kFlatKind;
  if (flat) plan.window = SizeOf(weights, "window", origin);
  const auto features = Field<std::string>(weights, "features", origin);
  if (features != "speed" && features != "dl2") {
    throw DataError("{}: features must be dl2 or speed, got '{}'", origin, features);
  }
  plan.features = features == "speed" ? SequenceFeatures::kSpeed : SequenceFeatures::kDl2;
  plan.types = Field<std::vector<std::string>>(weights, "types", origin);
  plan.scaled = Field<bool>(weights, "scaled", origin);
  plan.bundles = Field<bool>(weights, "bundles", origin);
  plan.stop_late = Field<bool>(weights, "stop_late", origin);
  const SequenceEncoder encoder = EncoderOf(plan, {});
  const auto require = [&](const char* key, int needed) {
    const int size = SizeOf(weights, key, origin);
    if (size != needed) {
      throw DataError("{}: network '{}' has {} = {}, this allot needs {}", origin, weights.kind,
                      key, size, needed);
    }
  };
  require("job_features", encoder.job_features());
  if (!flat) require("context_features", encoder.context_features());
  require("kinds", SequenceAction::kKinds);
  return plan;
}

std::vector<std::string> JobTypeNames(const std::string& text) {
  std::vector<std::string> names;
  if (text.empty()) {
    for (const Dl2JobType& type : Dl2JobTypes()) names.push_back(type.model);
    return names;
  }
  for (const std::string_view name : Split(text, '|')) names.emplace_back(name);
  return names;
}

SequenceDecision::SequenceDecision(const Agent& agent, std::shared_ptr<const SequenceNet> net,
                                   const std::string& placement)
    : plan_(ReadPlan(agent.weights, "network")),
      net_(std::move(net)),
      encoder_(EncoderOf(plan_, agent.lengths)),
      action_(plan_.window, placement) {}

const std::vector<float>& SequenceDecision::logits() const {
  if (!asked_) {
    logits_.resize(mask_.size());
    net_->Forward(encoder_.jobs(), encoder_.context(), logits_, &scratch_);
    asked_ = true;
  }
  return logits_;
}

int SequenceDecision::likeliest() const {
  const std::vector<float>& all = logits();
  int best = -1;
  for (int action = 0; action < static_cast<int>(all.size()); ++action) {
    if (mask_[At(action)] != 0 && (best < 0 || all[At(action)] > all[At(best)])) best = action;
  }
  return best;
}

// Sets the mask of the choice at hand; false when only "done" is left.
bool SequenceDecision::AnyChoice() {
  mask_ = action_.mask();
  bool any = false;
  bool helps = false;
  for (int action = 0; action < action_.done_action(); ++action) {
    if (mask_[At(action)] == 0) continue;
    any = true;
    if (!plan_.stop_late || helps) continue;
    const std::int32_t row = action_.row_of(action / SequenceAction::kKinds);
    const ConfigurationTable& table = *observation_->table[At(row)];
    const std::int32_t granted = action_.granted(row);
    const double rate = granted < 0 ? 0 : table[granted].rate;
    helps = table[action_.target(action)].rate > rate;
  }
  if (helps) mask_.back() = 0;
  return any;
}

void SequenceDecision::Play(const Observation& observation, const Choose& choose,
                            Allocation* allocation) {
  observation_ = &observation;
  encoder_.Begin(observation);
  action_.Begin(observation);
  if (plan_.bundles) action_.GiveFirstBundles();
  do {
    const int slots = plan_.window == SequenceAction::kAllJobs ? action_.slots() : plan_.window;
    encoder_.EncodeWindow(action_, slots);
    while (AnyChoice()) {
      asked_ = false;
      const int chosen = choose(*this);
      if (!action_.Take(chosen)) break;
      encoder_.Update(action_, chosen / SequenceAction::kKinds);
    }
  } while (action_.NextWindow());
  action_.Finish(allocation);
}

std::unique_ptr<LearnedPolicy> MakeSequencePolicy(const Agent& agent, const Serving& serving) {
  return std::make_unique<SequencePolicy>(agent, serving.placement);
}

void CheckSequenceAgent(const NetWeights& weights, const std::string& origin) {
  CheckSequenceNet(weights, origin);
  ReadPlan(weights, origin);
}

}  // namespace allot
