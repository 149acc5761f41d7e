// Microsoft Philly from October to December 2017: bursts of up to a thousand jobs, no plain day.

#include "workload/calibrated_law.h"
#include "workload/embedded_files.h"

namespace allot {
namespace {

const CalibratedLaw& PhillyTable() {
  static const CalibratedLaw law = ParseCalibratedLaw(EmbeddedPhillyLaw());
  return law;
}

ALLOT_REGISTER(WorkloadLaw,
               (WorkloadLaw{"philly",
                            "like Microsoft's Philly: batches, 1.7 GPUs, long tails; 54/h",
                            {},
                            PhillyTable}));

}  // namespace
}  // namespace allot
