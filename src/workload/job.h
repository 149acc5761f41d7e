#pragma once
// What a user submits, as far as any trace knows it. Plain data; what a job's speed is under an
// allocation lives in perf/, what is running where lives in cluster/.

#include <cstdint>
#include <string>
#include <string_view>

#include "core/types.h"
#include "workload/communication.h"

namespace allot {

// What had become of a job when its trace ended.
enum class Outcome : std::uint8_t { kUnreported, kPassed, kFailed, kKilled, kRunning, kPending };

// Millions of them are held at once, so members are grouped by size, and a new one that few traces
// have should be small.
struct Job {
  std::string id;      // the trace's own name of the job, unique in its workload
  Seconds submit = 0;  // since the workload's origin, >= 0
  // Run time at the requested GPUs in the trace, > 0. Of a job that had not ended when the trace
  // did, it is drawn (workload/past_lengths.h).
  Seconds duration = 0;
  double work = 0;            // in the model's unit; 0 = derive as duration x rate at `gpus`
  double priority = 0;        // larger is more important
  Seconds deadline = kNever;  // absolute
  Seconds user_estimate = 0;  // the user's estimate of the run time at the requested GPUs; 0 = none
  // From `submit` to the start in the trace; < 0 if unknown, or it had not started.
  Seconds recorded_wait = -1;
  GpuCount gpus = 1;      // requested, >= 1
  GpuCount min_gpus = 0;  // resize limits; 0 = as requested (rigid)
  GpuCount max_gpus = 0;
  std::int32_t model = -1;  // index into Workload::models; -1 = rate 1 at any size it may have
  std::int32_t tenant =
      -1;                  // index into Workload::tenants (Philly's virtual cluster); -1 = unknown
  std::int32_t user = -1;  // index into Workload::users
  // Index into Workload::groups: jobs that the trace calls alike (application, recurring script),
  // so that earlier runs say something about later ones; -1 = unknown
  std::int32_t group = -1;
  // What of the cluster it can run on: index into Workload::gpu_types, names of types joined by
  // '|'; -1 = any.
  std::int32_t gpu_types = -1;
  std::int32_t line = 0;          // of Workload::source where it begins; 0 = not read from a file
  float cpus = 0;                 // of the hosts, at the requested GPUs; 0 = none are counted
  float gpu_memory_gb = 0;        // of each GPU, at least; 0 = any
  float memory_gb = 0;            // of the hosts, at the requested GPUs; 0 = none is counted
  float batch = 0;                // total batch size that its user asked for; 0: not said
  Communication communication{};  // at the requested GPUs
  // The type that `duration` was measured on, of the table of gpu_types; -1 = the fastest that
  // holds it.
  std::int16_t duration_type = -1;
  std::int16_t account = -1;  // index into Workload::accounts; -1 = unknown
  std::int16_t qos = -1;      // index into Workload::qos; -1 = unknown
  Outcome outcome = Outcome::kUnreported;
  bool keeps_batch = false;  // it trains with that batch only, whatever its GPUs

  GpuCount lowest() const { return min_gpus > 0 ? min_gpus : gpus; }
  GpuCount highest() const { return max_gpus > 0 ? max_gpus : gpus; }
  bool ended() const { return outcome != Outcome::kRunning && outcome != Outcome::kPending; }
  // When it got GPUs as the trace tells it; NaN: unknown.
  Seconds recorded_start() const { return recorded_wait < 0 ? kUnknown : submit + recorded_wait; }
  bool rigid() const { return lowest() == gpus && highest() == gpus; }
};

// Whom a job is charged to and under which quality of service, by Slurm's names; "": unknown.
struct Charge {
  std::string_view account{};
  std::string_view qos{};
};

}  // namespace allot
