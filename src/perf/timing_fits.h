#pragma once
// What was seen of the iteration times of one job, or of all jobs of an application, by GPU type,
// and the seven parameters fitted to it (perf/goodput_fit.h). The same for the simulator's beliefs
// and for a live scheduler: who measures a pass and an iteration feeds it.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "perf/goodput_fit.h"

namespace allot {

class TimingFits {
 public:
  // On so many nodes. Each (type, nodes, GPUs, batch) counts once: what is seen again is known.
  // True where a fit changed; one that foretells both times to within 2 % is left as it is. A fit
  // begins anew where little was seen, where jobs begin to run in a new way (on several nodes, on
  // more than two GPUs), or where it is off by more than a tenth; else it goes on from the last.
  // DataError as CheckObservation.
  bool Observe(std::string_view gpu_type, std::int32_t nodes, const TimingObservation& observation);

  // Null: it never ran there.
  const StepTiming* On(std::string_view gpu_type) const;
  bool empty() const { return types_.empty(); }
  const std::string& first_type() const { return types_.front().gpu_type; }  // that it ran on
  GpuCount most_gpus() const { return most_gpus_; }                          // that it had; 0: none
  std::uint64_t version() const { return version_; }  // how often a fit changed

 private:
  struct OfType {
    std::string gpu_type;
    std::vector<std::int32_t> nodes;
    std::vector<TimingObservation> observations;
    TimingFit fit;
  };
  void Fit(OfType* type);

  std::vector<OfType> types_;  // in the order in which they were first seen
  GpuCount most_gpus_ = 0;
  std::uint64_t version_ = 0;
};

}  // namespace allot
