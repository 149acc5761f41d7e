#pragma once
// What a daemon knows. Only journal records change it: a change is written into the journal first,
// then applied here (live/state/state_writer.h). The next daemon applies the same records and
// arrives at the same state. Owned by LiveCluster.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/cluster_spec.h"
#include "cluster/topology_text.h"
#include "live/state/job_table.h"
#include "live/state/records.h"
#include "live/status/states.h"
#include "rules/node_failure_rate.h"
#include "rules/node_suspicion.h"

namespace allot {

using FailedNodes = std::map<JobIndex, std::vector<NodeIndex>>;  // by job

class LiveState {
 public:
  // `topology` null: every place is alike.
  explicit LiveState(JobTable::Options options, TopologyOfNodes topology = {})
      : job_table_(std::move(options)), topology_(std::move(topology)) {}

  // DataError for a record that cannot be true: it names a job or node that no record named before,
  // or a configuration that the job does not have. Records for people change nothing.
  void Apply(const TimedRecord& record);

  // Visits the records by which an empty state becomes this one: a journal that is written anew.
  // The runtime's snapshot adds the rest. Job indices differ afterwards. `origin` is that of the
  // run's clock. One at a time, because all records of many jobs take many megabytes. O(jobs).
  void ForEachRecord(double origin, Seconds now,
                     const std::function<void(const TimedRecord&)>& visit) const;

  JobTable& job_table() { return job_table_; }
  const JobTable& job_table() const { return job_table_; }
  const std::vector<RuntimeNode>& nodes() const { return nodes_; }
  const ClusterSpec& present() const { return present_; }  // what is down has nothing
  const std::vector<bool>& node_up() const { return node_up_; }
  // Notes on nodes that only the topology's file or only the cluster has (TopologyNotes).
  const std::vector<std::string>& topology_notes() const { return topology_notes_; }
  NodeIndex NodeOf(const std::string& name) const;  // -1: unknown
  // As records name them.
  record::Allocated Named(std::optional<std::string> configuration,
                          std::span<const NodeShare> shares) const;
  // A configuration on GPUs that the job is to get; for a restart job with the plan of its model.
  record::Allocated Named(const LiveJob& job, std::int32_t configuration,
                          std::span<const NodeShare> shares) const;
  std::vector<record::Worker> Named(std::span<const LiveWorker> workers) const;
  NodeState StateOf(NodeIndex node) const;
  HeldGpus Held() const;
  bool InUse(NodeIndex node) const;  // a job has GPUs there, or a worker. O(jobs)
  // No worker starts there, though the node is up: those that run there go on.
  bool IsClosed(NodeIndex node) const;
  // Nodes where a job should not start workers for some time, because they failed there. Only jobs
  // that the other nodes can hold.
  FailedNodes FindFailedNodes(Seconds now) const;

  const NodeSuspicion& suspicion() const { return suspicion_; }
  const NodeFailureRate& failure_rate() const { return failure_rate_; }
  double origin() const { return origin_; }  // Unix time; NaN: nothing was ever written
  Seconds last() const { return last_; }     // of the latest record
  bool paused() const { return paused_; }
  bool drained() const { return drained_; }
  const std::set<std::string>& drained_nodes() const { return drained_nodes_; }
  const std::set<std::string>& maintained_nodes() const { return maintained_nodes_; }

 private:
  struct Applier;  // what a record of each kind changes
  struct DaemonBegin {
    Seconds at = 0;
    Seconds after = 0;  // so long after the record before
  };

  const LiveJob& JobOf(const std::string& id) const;
  WorkerGroup& WorkersOf(const std::string& job);
  std::vector<std::string> NamesOf(std::span<const NodeShare> shares) const;
  // The nodes where the failure of a worker may have its cause. "": those of all workers.
  std::vector<std::string> NodesOf(const LiveJob& job, std::string_view worker) const;
  void CountFailure(const LiveJob& job, const std::vector<std::string>& nodes,
                    WorkerFailure failure, Seconds at);
  void CountEnd(const LiveJob& job, JobState state, Seconds at);
  void Avoid(const std::string& node, Seconds until);
  bool CanHold(const LiveJob& job, std::span<const NodeIndex> without) const;
  NodeIndex KnownNode(const std::string& name) const;
  std::vector<NodeShare> SharesOf(const record::Allocated& allocated) const;
  std::int32_t ConfigurationOf(const record::Allocated& allocated, const LiveJob& job,
                               std::span<const NodeShare> shares);
  void BeginRun(Seconds at, double origin);
  void SetNodes(const std::vector<RuntimeNode>& nodes);
  ClusterSpec MakeNominal() const;
  void SetTopology(ClusterSpec* nominal);
  void SetDrained(const std::optional<std::string>& node, bool drained);
  void Resume(const record::Kept& kept);
  record::Kept KeptOf(const LiveJob& job) const;
  void Refresh();

  JobTable job_table_;
  NodeSuspicion suspicion_;
  NodeFailureRate failure_rate_;
  std::vector<RuntimeNode> nodes_;
  std::map<std::string, NodeIndex> node_index_;
  ClusterSpec present_;
  TopologyOfNodes topology_;
  std::vector<std::string> topology_notes_;
  std::vector<bool> node_up_;
  double origin_ = kUnknown;
  Seconds last_ = 0;
  Seconds last_before_ = 0;          // of the records before the latest one
  std::vector<DaemonBegin> begins_;  // of daemons since the origin is what it is
  bool paused_ = false;
  bool drained_ = false;
  std::set<std::string> drained_nodes_;
  std::set<std::string> maintained_nodes_;  // in a window of the operator's rules
};

}  // namespace allot
