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
  // Adds a measurement on so many nodes. Each (type, nodes, GPUs, batch) counts once. True if a fit
  // changed; one that predicts both times to within 2 % is left as it is. A fit
  // begins anew where little was seen, where jobs begin to run in a new way (on several nodes, on
  // more than two GPUs), or where it is off by more than a tenth; else it goes on from the last.
  // DataError as CheckObservation.
  bool Observe(std::string_view gpu_type, std::int32_t nodes, const TimingObservation& observation);

  // Takes over what others saw where nothing was seen here, their times multiplied by `slower`, and
  // fits anew.
  void Adopt(const TimingFits& others, double slower);

  // ln of the measured seconds of an iteration over the predicted ones, and likewise for a pass;
  // NaN if it never ran on the type.
  struct Error {
    double iteration = 0;
    double gradient = 0;
    bool predicted() const;  // both to within 2 %
  };
  Error ErrorOf(std::string_view gpu_type, const TimingObservation& seen) const;
  // ln of the seconds of an iteration over those that were seen on the same placement, the fit's
  // ratio between both batches taken off; NaN: no batch within a fourth was seen there.
  double AgainstSeen(std::string_view gpu_type, std::int32_t nodes,
                     const TimingObservation& now) const;
  // The count nearest by ratio (of two, the smaller) that was seen on the type, on several nodes or
  // on one; 0: none.
  GpuCount Nearest(std::string_view gpu_type, bool several_nodes, GpuCount gpus) const;

  // All that Observe has taken, type by type in its order: the same again makes the same fits.
  struct SeenTiming {
    std::string gpu_type;
    std::int32_t nodes = 0;
    TimingObservation observation;
  };
  std::vector<SeenTiming> Seen() const;

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
  OfType* Of(std::string_view gpu_type);
  const OfType* Find(std::string_view gpu_type) const;

  std::vector<OfType> types_;  // in the order in which they were first seen
  GpuCount most_gpus_ = 0;
  std::uint64_t version_ = 0;
};

}  // namespace allot
