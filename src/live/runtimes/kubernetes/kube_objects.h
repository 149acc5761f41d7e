#pragma once
// What of Jobs and Pods the Kubernetes runtime keeps: read from the API's JSON, everything
// else dropped. Pure. The readers throw nlohmann::json::exception for what is no such object.

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/types.h"
#include "live/runtimes/runtime_snapshot.h"

namespace allot {

// What we write beside the objects of others, and read again.
namespace kube_mark {
inline constexpr const char* kManager = "allot.dev/scheduler";  // spec.managedBy of a Job
inline constexpr const char* kPrefix = "allot.dev/";            // of all below
inline constexpr const char* kJob = "allot.dev/job";            // label of pods: the Job's name
inline constexpr const char* kWorker = "allot.dev/worker";  // the worker, as the daemon named it
inline constexpr const char* kGpus = "allot.dev/gpus";      // its GPUs, a mask: "0x3"
inline constexpr const char* kNode = "allot.dev/node";      // that it was started for
inline constexpr const char* kTeam = "allot.dev/team";      // of a restart: "FIRST-WORKER/COUNT"
inline constexpr const char* kResize = "parallelism";       // allot.dev/resize of a counted Job
inline constexpr const char* kWorkers = "workers";          // of a counted Job: "3,5" (below)
inline constexpr const char* kCompletions = "completions";  // of a counted Job: "follow" or "stay"
inline constexpr const char* kQueue = "kueue.x-k8s.io/queue-name";  // Kueue suspends such a Job
}  // namespace kube_mark

struct KubeCondition {
  std::string type, reason, message;
  friend bool operator==(const KubeCondition&, const KubeCondition&) = default;
};

// Of a Job that Kubernetes' own controller runs, and of which allot sets spec.parallelism.
struct CountedSpec {
  std::optional<std::string> written;  // annotation kWorkers; nullopt: allot never wrote
  std::string completions_mark;        // annotation kCompletions; "": none
  std::int64_t completions = -1;       // of its spec; -1: none
  std::int64_t succeeded = 0;          // pods, as its status says
  bool indexed = false;
  bool queued = false;     // in a queue of Kueue's, who alone suspends it
  bool labelled = false;   // its pods will have the label kJob
  std::string resized_by;  // who wrote spec.parallelism last, as the API server remembers

  friend bool operator==(const CountedSpec&, const CountedSpec&) = default;
};

// A batch/v1 Job that is ours to run, or to resize.
struct ManagedJob {
  std::string uid, space, name;
  double created = 0;  // Unix time
  bool deleting = false;
  bool suspended = false;
  std::map<std::string, std::string> options;  // annotations allot.dev/KEY, by KEY
  GpuCount parallelism = 1;
  std::optional<CountedSpec> counted;  // nullopt: allot is its controller
  Seconds time_limit = kNever;
  std::shared_ptr<const nlohmann::json> pod;  // spec.template
  std::vector<KubeCondition> conditions;      // that are True
  std::shared_ptr<const nlohmann::json> raw_conditions;
  double started = kUnknown;  // status.startTime
  int active = 0;             // as its status says
  int ready = 0;

  const KubeCondition* Condition(const char* type) const;
  GpuCount size() const { return suspended ? 0 : parallelism; }
  friend bool operator==(const ManagedJob& a, const ManagedJob& b);
};
// nullopt: another controller's, and not to be resized.
std::optional<ManagedJob> ReadManagedJob(const nlohmann::json& job);

enum class PodPhase : std::uint8_t { kPending, kRunning, kSucceeded, kFailed };

// A pod that we have started, or that a counted Job's controller has.
struct WorkerPod {
  std::string uid, space, name;
  std::string job_uid;  // of the Job that owns it
  std::string worker;   // "": of a counted Job
  std::string node;     // of a counted Job: where it is; "": nowhere yet
  std::uint64_t gpus = 0;
  std::string team;
  PodPhase phase = PodPhase::kPending;
  bool deleting = false;
  std::string reason;         // of its end, or why it cannot begin, for people
  bool stuck = false;         // it cannot begin, and trying again will not help
  bool preparing = false;     // its node fetches what it needs
  bool gated = false;         // it waits for a word of another controller (Kueue) to be placed
  bool has_identity = false;  // it can show which pod it is (pod_identity.h)
  std::optional<PendingStart> pending;  // set while it has no node

  bool ended() const { return phase == PodPhase::kSucceeded || phase == PodPhase::kFailed; }
  friend bool operator==(const WorkerPod&, const WorkerPod&) = default;
};
// nullopt: of no Job.
std::optional<WorkerPod> ReadWorkerPod(const nlohmann::json& pod);

}  // namespace allot
