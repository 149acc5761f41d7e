#pragma once
// The moving average of a network's weights over the iterations (Polyak and Juditsky, 1992):
// steps from noisy gradients wander around a good place, their mean is nearer to it. The state's
// weights are the average, validated and served; those that training continues from are kept in
// its memory.

#include "agents/training/trainer.h"

namespace allot {

// The weights that training continues from.
NetWeights LastWeights(const TrainerState& state);

// After a step to `last`; the iteration is not counted yet. `decay` per iteration, less while the
// run is young; 0: no average.
void AverageWeights(const NetWeights& last, double decay, TrainerState* state);

// UsageError where a run was begun without an average and is continued with one, or the other way
// round.
void CheckAverageBegun(const TrainerState& state, double decay);

}  // namespace allot
