// GPU time held, at a price, against time waited: GPU-hours plus mean JCT in hours, a job each.

#include "agents/training/objective.h"

namespace allot {
namespace {

ALLOT_REGISTER(ObjectiveInfo,
               (ObjectiveInfo{"cost", "GPU-hours held plus hours in the system, per job",
                              [](const Played& p) {
                                double gpu_seconds = 0;
                                for (const JobRecord& record : p.records) {
                                  gpu_seconds += record.gpu_seconds;
                                }
                                return (gpu_seconds / static_cast<double>(p.jct.size()) +
                                        TrimmedMean(p.jct, 1)) /
                                       3600;
                              }}));

}  // namespace
}  // namespace allot
