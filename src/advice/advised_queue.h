#pragma once
// The seam of advice: queues of jobs that another program schedules, and the one number by which
// advice changes their order, called Nice as Slurm calls it. 'allot advise' uses it. A new target
// is a file in this folder that registers an AdviceTargetInfo.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cluster/cluster_spec.h"
#include "core/error.h"
#include "core/params.h"
#include "core/registry.h"
#include "workload/workload.h"

namespace allot {

// Times are Unix times.
struct QueuedJob {
  std::string id;  // by which its Nice is changed: "42". Of a job array the number of the array
  std::string user;
  std::string account;
  std::string name;
  GpuCount gpus = 0;
  std::string gpu_type;  // of the cluster; "": any
  int tasks = 1;         // of a job array, that wait
  Seconds submit = 0;
  Seconds start = 0;  // of a running job
  Seconds limit = 0;  // on its run time; 0: none
  // As the scheduler has it now: the largest first, of equal ones the smallest `number`. A Nice
  // that grows by 1 makes it smaller by 1, though never smaller than 1.
  std::int64_t priority = 0;
  std::uint64_t number = 0;
  int nice = 0;
  // Why advice leaves it alone: "held"; "": it may be advised.
  std::string left_alone;
  bool competes = true;  // for GPUs, now: false for a job that is held or depends on another one
};

struct AdvisedQueue {
  std::string name;  // of a partition
  ClusterSpec cluster;
  std::vector<QueuedJob> waiting;
  std::vector<QueuedJob> running;  // on these nodes; `gpus` are those of these nodes
  // The policy that stands for the scheduler in estimates, in the order of priorities.
  std::string scheduler = "easy:ordering=priority";
};

// A job that is not over.
struct JobNow {
  int nice = 0;
  Seconds submit = 0;
  Seconds start = 0;  // 0: it waits
};

struct AdviceSnapshot {
  Seconds now = 0;
  std::vector<AdvisedQueue> queues;
  std::map<std::string, JobNow> jobs;  // all, also those of other queues, by id
};

class AdviceTarget {
 public:
  virtual ~AdviceTarget() = default;

  // RunError when the scheduler does not answer.
  virtual AdviceSnapshot Read() = 0;
  // Jobs that ended lately, for the lengths of those that did not; without jobs where nobody knows,
  // with the reason in `why`.
  virtual Workload Past(std::string* why) = 0;
  // Whether this process may change the Nice of all jobs, also to a smaller one, as undoing does;
  // refused with the cure.
  virtual Status MayWrite() = 0;
  // Ok also for a job that is over. Refused with the scheduler's words, and the cure where a right
  // is missing; or because no answer came in time: then the change may still happen.
  virtual Status SetNice(const std::string& id, int nice) = 0;
  // The same as a command for people.
  virtual std::string CommandFor(const std::string& id, int nice) const = 0;
};

struct AdviceTargetInfo {
  std::string id;  // of the runtime: "slurm"
  std::string summary;
  std::vector<ParamSpec> params;
  // `partitions`: the only ones to advise; empty: all.
  std::function<std::unique_ptr<AdviceTarget>(const Params&,
                                              const std::vector<std::string>& partitions)>
      make;
};

}  // namespace allot
