#pragma once
// Job-aware exploration (DL2, TPDS'21, section 4.4): in poor states sometimes another action than
// the policy's is taken. The probability of every action is computed, so that gradients can be
// corrected for it.

#include <string>
#include <vector>

#include "agents/learned/sequence_agent.h"
#include "core/rng.h"

namespace allot {

enum class ExplorationRules {
  kPaper,  // a worker without a server, or the reverse, gets the other; likewise at 10 to 1
  kCode,   // those of the program that DL2 published, which push towards more servers than workers
};

struct ExplorationOptions {
  double share = 0.4;  // of choices in which the rules may act; 0: none
  ExplorationRules rules = ExplorationRules::kPaper;
};

// A choice with its chances.
struct DrawnAction {
  int action = 0;
  double log_chance = 0;  // of this action at this choice, exploration included
};

class Explorer {
 public:
  explicit Explorer(const ExplorationOptions& options) : options_(options) {}

  // Draws from softmax(logits), with exploration.
  DrawnAction Draw(const SequenceDecision& choice, Rng* rng);

 private:
  void Force(const SequenceDecision& choice);
  bool ForceInSlot(const SequenceDecision& choice, int slot, double* reached);
  bool Give(const SequenceDecision& choice, int slot, int kind, double chance);

  ExplorationOptions options_;
  std::vector<double> chances_;  // of the policy, by action
  std::vector<double> forced_;   // by the rules
};

// chances[a] = softmax of the logits over actions whose mask is 1, else 0.
void MaskedSoftmax(std::span<const float> logits, std::span<const std::uint8_t> mask,
                   std::vector<double>* chances);

}  // namespace allot
