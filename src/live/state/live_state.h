#pragma once
// What a daemon knows. Only journal records change it: a change is written into the journal first,
// then applied here (live/state/state_writer.h). The next daemon applies the same records and
// arrives at the same state. Owned by LiveCluster.

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cluster/cluster_spec.h"
#include "live/state/job_table.h"
#include "live/state/journal.h"
#include "live/state/live_records.h"
#include "live/status/states.h"

namespace allot {

class LiveState {
 public:
  explicit LiveState(JobTable::Options options) : job_table_(std::move(options)) {}

  // DataError for a record that says what cannot be (a job that was never named). Records of other
  // kinds are for people.
  void Apply(const JournalRecord& record);

  JobTable& job_table() { return job_table_; }
  const JobTable& job_table() const { return job_table_; }
  const std::vector<RuntimeNode>& nodes() const { return nodes_; }
  const ClusterSpec& present() const { return present_; }  // what is down has nothing
  const std::vector<bool>& node_up() const { return node_up_; }
  NodeIndex NodeOf(const std::string& name) const;  // -1: unknown
  NodeState StateOf(NodeIndex node) const;
  HeldGpus Held() const;

  double origin() const { return origin_; }  // Unix time; NaN: nothing was ever written
  Seconds last() const { return last_; }     // of the latest record
  bool paused() const { return paused_; }
  bool drained() const { return drained_; }
  const std::set<std::string>& drained_nodes() const { return drained_nodes_; }
  const std::set<std::string>& maintained_nodes() const { return maintained_nodes_; }

 private:
  // What a record of each kind does to the state: the one place that knows the kinds.
  using Handler = std::function<void(LiveState&, const JournalRecord&, Seconds at)>;
  static const std::map<std::string, Handler>& Handlers();

  LiveJob& JobOf(const JournalRecord& record);
  std::vector<NodeShare> SharesOf(const JournalRecord& record) const;
  std::int32_t GivenConfiguration(const JournalRecord& record, LiveJob& job,
                                  std::span<const NodeShare> shares);
  void SetNodes(const JournalRecord& record);
  void SetDrained(const JournalRecord& record, bool drained);
  void Refresh();

  JobTable job_table_;
  std::vector<RuntimeNode> nodes_;
  std::map<std::string, NodeIndex> node_index_;
  ClusterSpec present_;
  std::vector<bool> node_up_;
  double origin_ = kUnknown;
  Seconds last_ = 0;
  bool paused_ = false;
  bool drained_ = false;
  std::set<std::string> drained_nodes_;
  std::set<std::string> maintained_nodes_;  // in a window of the operator's rules
};

}  // namespace allot
