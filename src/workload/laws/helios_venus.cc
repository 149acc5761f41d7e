// SenseTime Helios, cluster Venus, from April to August 2020: office hours, wide jobs, run times
// cut at 48 h.

#include "workload/calibrated_law.h"
#include "workload/embedded_files.h"

namespace allot {
namespace {

const CalibratedLaw& HeliosVenusTable() {
  static const CalibratedLaw law = ParseCalibratedLaw(EmbeddedVenusLaw());
  return law;
}

ALLOT_REGISTER(WorkloadLaw,
               (WorkloadLaw{"helios-venus",
                            "like Helios Venus: office hours, 6.9 GPUs, at most 48 h; 27/h",
                            {},
                            HeliosVenusTable}));

}  // namespace
}  // namespace allot
