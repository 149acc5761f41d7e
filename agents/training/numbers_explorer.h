#pragma once
// How a rollout decides: as the network says, but with something drawn at random, and the gradient
// of the logarithm of its probability by the network's outputs.

#include <memory>
#include <span>
#include <string_view>

#include "agents/learned/agent.h"
#include "core/rng.h"
#include "features/encoder.h"

namespace allot {

// What is drawn.
enum class Exploration {
  kFill,    // the order of the hull fill (sampled_fill.h): index networks
  kValues,  // each job's numbers, with normal noise (value_noise.h): any rule makes an allocation
            // of them, exactly
};

class NumbersExplorer {
 public:
  virtual ~NumbersExplorer() = default;
  virtual void OnEpisodeStart(const EpisodeContext& context) = 0;
  // Equal `noise` draws the same for every job, whatever others there are.
  virtual void Decide(const Observation& observation, Rng* noise, Allocation* allocation) = 0;

  // Of the last decision. The gradient is rows x outputs, row-major.
  virtual const FeatureBatch& features() const = 0;
  virtual std::span<const float> gradient() const = 0;
};

// Of the agent in the world named. UsageError where the network cannot explore so.
std::unique_ptr<NumbersExplorer> MakeNumbersExplorer(Exploration exploration, const Agent& agent,
                                                     const std::string& world, double tau);

}  // namespace allot
