#pragma once
// The jobs' tables of configurations as one tensor of fixed size, so that an agent that chooses
// configurations by their numbers sees what the numbers mean. Row k of a slot is configuration k of
// the job's table, which choice k + 1 of ChoiceAction names. What the columns are:
// ConfigurationColumnTable() of features/feature_table.h.

#include <span>

#include "cluster/observation.h"

namespace allot {

inline constexpr int kConfigurationColumns = 6;
inline constexpr float kConfigurationBound = 1e9F;

// Places in a row.
enum ConfigurationColumn : int {
  kConfigurationGpus,
  kConfigurationType,
  kConfigurationNodes,
  kConfigurationRate,
  kConfigurationFirstUnits,
  kConfigurationSecondUnits,
};

// slots x configurations x kConfigurationColumns, row-major, of the first `slots` rows of the
// observation. Where a table ends, and in slots without a job, the type is -1 and the rest 0.
// O(slots x configurations).
void WriteConfigurations(const Observation& observation, int slots, int configurations,
                         std::span<float> tensor);

}  // namespace allot
