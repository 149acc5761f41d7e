#pragma once
// What a policy answers: which jobs run, in which configuration, on which GPUs of which nodes. A
// job that is not listed does not run: if it ran before, it is preempted.

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
    float share = 0;            // of all time that it shall have so; 0: no shares are given out
  };

  void Clear();
  void Add(JobIndex job, std::int32_t configuration, std::span<const NodeShare> shares,
           bool relaunch = false, JobIndex partner = kAlone) {
    entries_.push_back({job, configuration, static_cast<std::int32_t>(shares_.size()),
                        static_cast<std::int32_t>(shares.size()), relaunch, partner, 0});
    has_partners_ = has_partners_ || partner != kAlone;
    for (const NodeShare& share : shares) shares_.push_back(share);  // few: quicker than insert
  }

  // Of an entry, by its place: another configuration of as many units on each node.
  void SetConfiguration(std::size_t entry, std::int32_t configuration) {
    entries_[entry].configuration = configuration;
  }
  // Sets the time share of an entry, by its place.
  void SetShare(std::size_t entry, float share) { entries_[entry].share = share; }
  // Makes an entry, by its place, one of a pair: it runs in this configuration, and `other` has an
  // entry for the same GPUs and the same time share from now on.
  void Pair(std::size_t entry, std::int32_t configuration, JobIndex other,
            std::int32_t other_configuration);

  // All of them train with the batch that their users asked for, where jobs could choose
  // (sim/training_run.h). Of all answers or of none: what jobs do is part of a policy.
  void KeepRequestedBatches() { requested_batches_ = true; }
  bool requested_batches() const { return requested_batches_; }

  const std::vector<Entry>& entries() const { return entries_; }
  bool has_partners() const { return has_partners_; }  // some entry names one
  std::span<const NodeShare> shares(const Entry& entry) const {
    return {shares_.data() + entry.first_share, static_cast<std::size_t>(entry.share_count)};
  }
  friend bool operator==(const Allocation& a, const Allocation& b);

 private:
  std::vector<Entry> entries_;
  std::vector<NodeShare> shares_;
  bool has_partners_ = false;
  bool requested_batches_ = false;
};

}  // namespace allot
