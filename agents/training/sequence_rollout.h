#pragma once
// Increments as samples for training sequence networks, and episodes that yield them.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "agents/learned/sequence_agent.h"
#include "agents/training/exploration.h"
#include "sim/scenario.h"

namespace allot {

// Choices, packed: what the network saw, what was allowed and what was done.
struct SequenceSamples {
  std::vector<float> jobs;
  std::vector<float> contexts;
  std::vector<std::int64_t> first_row = {0};     // of each sample, and the end
  std::vector<std::int64_t> first_action = {0};  // likewise, into `mask`
  std::vector<std::uint8_t> mask;
  std::vector<std::int32_t> action;
  std::vector<float> log_chance;   // of the action when it was taken
  std::vector<std::int32_t> tick;  // decision instant / interval
  std::vector<std::uint8_t> head;  // the first choice of its decision

  std::size_t size() const { return action.size(); }
  std::size_t job_features() const;
  std::size_t context_features() const;
  std::span<const std::uint8_t> mask_of(std::size_t sample) const;

  void Append(const SequenceDecision& choice, const DrawnAction& drawn, std::int32_t at_tick,
              bool is_head);
  void Append(const SequenceSamples& others, std::span<const std::size_t> chosen);
  void DropFirst(std::size_t samples);
};

struct SequenceRolloutOptions {
  ExplorationOptions exploration;
  std::int64_t max_decisions = 2000;  // truncation; what is left counts by unfinished.h
  std::string reward = "jct";
  LengthModel lengths{};
};

struct SequenceRollout {
  SequenceSamples samples;  // every choice
  std::vector<double> reward_of_tick;
  double total_reward = 0;
};

// Equal arguments give equal results on any thread.
SequenceRollout RunSequenceRollout(const std::shared_ptr<const Scenario>& scenario,
                                   const NetWeights& weights,
                                   const std::shared_ptr<const SequenceNet>& net,
                                   const SequenceRolloutOptions& options, std::uint64_t seed,
                                   std::uint64_t a, std::uint64_t b);

}  // namespace allot
