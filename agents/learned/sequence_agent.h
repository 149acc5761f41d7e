#pragma once
// Sequence networks as agents: one decision, built increment by increment. Serving takes the most
// likely action, training draws one. The features and options of the network are stored in the
// sizes of its weights, written by the networks 'flat' and 'shared'.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agents/learned/agent.h"
#include "features/sequence_encoder.h"
#include "models/sequence_net.h"

namespace allot {

struct SequencePlan {
  int window = SequenceAction::kAllJobs;
  SequenceFeatures features = SequenceFeatures::kDl2;
  std::vector<std::string> types;  // names of configuration tables, for features dl2
  bool scaled = false;
  bool bundles = true;     // every job gets one bundle before the network chooses
  bool stop_late = false;  // no "done" while an increment that speeds its job up fits
};

// Features and options of a sequence network, stored in the sizes of its weights. Reading throws
// DataError that opens with `origin`, also when the network takes other inputs than the plan gives.
void WritePlan(const SequencePlan& plan, NetWeights* weights);
SequencePlan ReadPlan(const NetWeights& weights, const std::string& origin);

// "resnet-50|vgg-16"; none: DL2's eight.
std::vector<std::string> JobTypeNames(const std::string& text);

class SequenceDecision {
 public:
  // Nets are shared between threads, decisions are not.
  SequenceDecision(const Agent& agent, std::shared_ptr<const SequenceNet> net,
                   const std::string& placement = "packed");

  void OnEpisodeStart() { encoder_.OnEpisodeStart(); }
  void Observe(const Observation& observation) { encoder_.Observe(observation); }

  // Asks `choose` for an action out of mask() until it says done; not where there is no choice.
  using Choose = std::function<int(const SequenceDecision&)>;
  void Play(const Observation& observation, const Choose& choose, Allocation* allocation);

  // Of the choice at hand.
  const Observation& observation() const { return *observation_; }
  const SequenceAction& state() const { return action_; }
  const std::vector<float>& jobs() const { return encoder_.jobs(); }
  const std::vector<float>& context() const { return encoder_.context(); }
  const std::vector<std::uint8_t>& mask() const { return mask_; }
  // A forward pass at the first call; of no meaning where the mask is 0.
  const std::vector<float>& logits() const;
  int likeliest() const;  // ties: the first

 private:
  bool AnyChoice();

  SequencePlan plan_;
  std::shared_ptr<const SequenceNet> net_;
  SequenceEncoder encoder_;
  SequenceAction action_;
  const Observation* observation_ = nullptr;
  std::vector<std::uint8_t> mask_;
  mutable SequenceNet::Scratch scratch_;
  mutable std::vector<float> logits_;
  mutable bool asked_ = false;  // logits_ are those of the choice at hand
};

std::unique_ptr<LearnedPolicy> MakeSequencePolicy(const Agent& agent, const Serving& serving);
void CheckSequenceAgent(const NetWeights& weights, const std::string& origin);

}  // namespace allot
