#pragma once
// Starts of jobs that fail in a simulated cluster, and what is done with the nodes for it: the rule
// of suspicion (rules/node_suspicion.h) is fed as the daemon feeds it (live/port/node_blame.h,
// live/state/live_state.h), and its suspects are named, avoided or drained as the operator's rule
// says. Which starts fail says StartPlan. Part of SimulatedCluster, which stops the jobs;
// SimulatedRules keeps others from starting there.
//
// A start is a launch or any other change of a job's allocation. It proves its nodes when it has
// lasted for NodeSuspicion::kProven, or with the end of the job.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cluster/job_record.h"
#include "cluster/observation.h"
#include "rules/node_suspicion.h"
#include "sim/scenario.h"

namespace allot {

class FailedStarts {
 public:
  // `scenario` has a start plan and outlives it.
  explicit FailedStarts(const Scenario& scenario);

  // The job starts on these nodes, and would make progress from `ready` on. When it fails instead;
  // kNever: it does not.
  Seconds Start(JobIndex job, std::span<const NodeShare> shares, Seconds now, Seconds ready);
  // It holds nothing any more, and its start neither failed nor proved anything.
  void Stop(JobIndex job);
  void End(JobIndex job, Seconds now);  // its work is done
  // The job's latest start will fail.
  bool WillFail(JobIndex job) const;

  // When a start fails next, a node is repaired, one is used again, or a job proves one that failed
  // on others.
  Seconds NextChange() const;

  struct Changes {
    std::vector<JobIndex> failed;     // they wait again
    std::vector<JobIndex> given_up;   // they failed too often, and are over
    std::vector<NodeIndex> drained;   // they have no capacity from now on
    std::vector<NodeIndex> put_back;  // drained ones that have it again
  };
  // All that happens until `now`.
  Changes Advance(Seconds now);

  // Nothing starts there now. Ascending.
  std::vector<NodeIndex> AvoidedNodes() const;
  // Nodes where a job should not start for some time, because it failed there; where the other
  // nodes of `all` are large enough for it.
  std::map<JobIndex, std::vector<NodeIndex>> FindFailedNodes(const Observation& all) const;

  const StartFigures& figures() const { return figures_; }

 private:
  struct Tried {  // an unfinished job
    std::vector<NodeIndex> nodes;
    std::int32_t starts = 0;
    Seconds fails = kNever;  // the latest start
    Seconds proves = kNever;
    int failures = 0;  // in a row, without those that nodes are to blame for
    bool accuses = false;
  };
  struct BadTime {         // of a node: the present one, or the next
    std::size_t next = 0;  // in StartPlan::BadTimesOf
    std::int64_t failures = 0;
    bool found = false;
  };
  struct Closed {
    Seconds until = 0;
    bool drained = false;
  };

  bool IsBad(NodeIndex node, Seconds now) const;
  std::string UserOf(JobIndex job) const;
  std::vector<std::string> NamesOf(const std::vector<NodeIndex>& nodes) const;
  void Schedule(JobIndex job, Tried* tried, Seconds fails, Seconds proves);
  void ProveUntil(Seconds now);
  void Prove(JobIndex job, Seconds at);
  void Fail(JobIndex job, Seconds at, Changes* changes);
  void Repair(NodeIndex node, Changes* changes);
  void UseAgain(NodeIndex node, Changes* changes);
  void ActOnSuspects(Seconds at, Changes* changes);
  void Close(const SuspectNode& suspect, Seconds at, Changes* changes);
  void CountAlarm(NodeIndex node, Seconds at);
  bool CanHold(const Observation& all, JobIndex job, const std::vector<NodeIndex>& without) const;

  const Scenario& scenario_;
  const StartPlan& plan_;
  const FailureRule rule_;
  NodeSuspicion suspicion_;
  std::map<JobIndex, Tried> tried_;
  std::set<std::pair<Seconds, JobIndex>> failing_;  // by time
  std::set<std::pair<Seconds, JobIndex>> proving_;
  std::set<std::pair<Seconds, JobIndex>> telling_;   // of these, by jobs that failed before
  std::set<JobIndex> leaving_;                       // unfinished jobs that failed somewhere
  std::set<std::pair<Seconds, NodeIndex>> repairs_;  // the next one of each node
  std::vector<BadTime> bad_;                         // by node
  std::map<NodeIndex, Closed> closed_;
  std::set<NodeIndex> named_;  // suspects, where the rule is to name them
  StartFigures figures_;
};

}  // namespace allot
