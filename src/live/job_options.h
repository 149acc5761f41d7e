#pragma once
// What a user says of a job in the words that all clusters share: min, max, gpus, sizes, types,
// model, resize, preempt, cooldown, grace, work. The runtimes bring them from where users write
// them: a comment on Slurm, annotations on Kubernetes. Strict: what is not understood is an error,
// so that a mistyped limit does not go unseen.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "live/runtime.h"

namespace allot {

inline constexpr GpuCount kMostGpusAsked = 1 << 16;  // of one job
// That a user may ask for: meanwhile others wait for its GPUs.
inline constexpr Seconds kLongestOwnCooldown = 3600;
inline constexpr Seconds kLongestOwnGrace = 300;

struct JobOptions {
  GpuCount min_gpus = 1;
  GpuCount max_gpus = 1;
  GpuCount requested = 1;  // min where not said
  ResizeMode mode = ResizeMode::kHot;
  std::string sizes;      // "powers-of-two", "1|2|4"; "": not said
  Seconds cooldown = 0;   // at most kLongestOwnCooldown
  Seconds grace = 0;      // at most kLongestOwnGrace
  std::string gpu_types;  // "a100|v100"; "": not said
  std::string model;
  double total_work = kUnknown;
  bool preempt = true;  // what says so much of itself may be stopped where it does not say no

  void WriteTo(RuntimeJob* job) const;
};

const std::vector<std::string>& JobOptionKeys();

// DataError naming rule and value; `where` begins its message ("comment"), `prefix` the keys in it
// ("allot.dev/"), which `given` holds without.
JobOptions JobOptionsFrom(const std::map<std::string, std::string>& given, std::string_view where,
                          std::string_view prefix = "");

}  // namespace allot
