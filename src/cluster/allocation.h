#pragma once
// What a policy answers: which jobs run, in which configuration, on which GPUs of which nodes, and
// how long that answer holds. A job that is not listed does not run (a running one is preempted);
// but an answer may also be given as changes: what runs and is neither listed nor stopped goes on.

#include <cstdint>
#include <span>
#include <vector>

#include "core/types.h"
#include "perf/configuration.h"

namespace allot {

// A job's share of one node. `gpus` is a bit mask of local GPU numbers (a node has at most 64).
struct NodeShare {
  NodeIndex node = 0;
  UnitCounts units{};
  std::uint64_t gpus = 0;
  friend bool operator==(const NodeShare&, const NodeShare&) = default;
};

inline constexpr JobIndex kAlone = -1;

// Flat storage: jobs in the order of the observation's rows, shares of a job consecutive.
class Allocation {
 public:
  struct Entry {
    JobIndex job = 0;
    std::int32_t configuration = 0;  // index into the job's table
    std::int32_t first_share = 0;
    std::int32_t share_count = 0;
    bool relaunch = false;      // stop and start again, even where nothing else changes
    JobIndex partner = kAlone;  // the job on the same GPUs, whose entry names this one
  };

  void Clear();
  void Add(JobIndex job, std::int32_t configuration, std::span<const NodeShare> shares,
           bool relaunch = false, JobIndex partner = kAlone) {
    entries_.push_back({job, configuration, static_cast<std::int32_t>(shares_.size()),
                        static_cast<std::int32_t>(shares.size()), relaunch, partner});
    has_partners_ = has_partners_ || partner != kAlone;
    for (const NodeShare& share : shares) shares_.push_back(share);  // few: quicker than insert
  }

  // As changes from now on, until it is cleared.
  void BecomeChanges() { is_changes_ = true; }
  bool is_changes() const { return is_changes_; }
  void Stop(JobIndex job) { stopped_.push_back(job); }  // of changes only
  const std::vector<JobIndex>& stopped() const { return stopped_; }

  // A promise: while no job arrives or ends, the same question before `time` has the same answer,
  // so that it need not be asked. Without it the policy is asked every interval.
  void HoldUntil(Seconds time) { holds_until_ = time; }
  Seconds holds_until() const { return holds_until_; }

  const std::vector<Entry>& entries() const { return entries_; }
  bool has_partners() const { return has_partners_; }  // some entry names one
  std::span<const NodeShare> shares(const Entry& entry) const {
    return {shares_.data() + entry.first_share, static_cast<std::size_t>(entry.share_count)};
  }
  friend bool operator==(const Allocation& a, const Allocation& b);  // of who gets what

 private:
  std::vector<Entry> entries_;
  std::vector<NodeShare> shares_;
  std::vector<JobIndex> stopped_;
  bool is_changes_ = false;
  bool has_partners_ = false;
  Seconds holds_until_ = 0;
};

}  // namespace allot
