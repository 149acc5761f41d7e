#include "features/configuration_tensor.h"

#include <algorithm>

#include "core/check.h"
#include "core/index.h"

namespace allot {

void WriteConfigurations(const Observation& observation, int slots, int configurations,
                         std::span<float> tensor) {
  ALLOT_CHECK_EQ(tensor.size(), At(slots) * At(configurations) * kConfigurationColumns);
  float* row = tensor.data();
  for (std::int32_t slot = 0; slot < slots; ++slot) {
    const ConfigurationTable* table =
        slot < observation.rows() ? observation.table[At(slot)] : nullptr;
    for (std::int32_t k = 0; k < configurations; ++k, row += kConfigurationColumns) {
      std::fill_n(row, kConfigurationColumns, 0.0F);
      row[kConfigurationType] = -1;
      if (table == nullptr || k >= table->size()) continue;
      const Configuration& configuration = (*table)[k];
      row[kConfigurationGpus] = static_cast<float>(configuration.demand.gpus);
      row[kConfigurationType] = static_cast<float>(configuration.gpu_type);
      row[kConfigurationNodes] = static_cast<float>(configuration.span.least);
      row[kConfigurationRate] =
          static_cast<float>(std::clamp(configuration.rate, 0.0, double{kConfigurationBound}));
      row[kConfigurationFirstUnits] = static_cast<float>(configuration.units.of(0));
      row[kConfigurationSecondUnits] = static_cast<float>(configuration.units.of(1));
    }
  }
}

}  // namespace allot
