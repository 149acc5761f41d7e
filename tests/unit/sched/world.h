#pragma once
// A hand-made moment of a cluster: jobs whose tables are written out as rates. For the tests of
// stages, features and actions, which need an observation but no simulator.

#include <fmt/format.h>

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "cluster/observation.h"
#include "core/rng.h"

namespace allot::testing_support {

// rates[t][n - 1] = work per second on n GPUs of type t; 0: cannot run so.
inline ConfigurationTable GpuTable(const std::vector<std::vector<double>>& rates) {
  std::vector<Configuration> configurations;
  for (std::size_t type = 0; type < rates.size(); ++type) {
    for (std::size_t i = 0; i < rates[type].size(); ++i) {
      if (rates[type][i] <= 0) continue;
      const auto gpus = static_cast<std::int16_t>(i + 1);
      configurations.push_back({.units = {gpus},
                                .gpu_type = static_cast<GpuTypeIndex>(type),
                                .demand = {gpus, 0},
                                .cost = static_cast<double>(gpus),
                                .rate = rates[type][i]});
    }
  }
  return ConfigurationTable("test", {{"gpu", {1, 0}}}, configurations);
}

class World {
 public:
  explicit World(const std::string& cluster) : cluster_(ClusterSpec::Parse(cluster)) {
    o.cluster = &cluster_;
    o.interval = 300;
    o.share_begin = {0};
  }
  World(const World&) = delete;  // observations point into it
  World& operator=(const World&) = delete;

  // Jobs are submitted one second after the other. Returns the row.
  std::int32_t Add(const std::vector<std::vector<double>>& rates, std::int16_t requested = 1) {
    return Add(GpuTable(rates), {requested});
  }

  std::int32_t Add(ConfigurationTable table, const UnitCounts& requested) {
    tables_.push_back(std::move(table));
    const std::int32_t row = o.rows();
    o.job.push_back(row);
    o.submit.push_back(row);
    o.table.push_back(&tables_.back());
    std::int32_t configuration = -1;
    for (const GpuTypeIndex type : tables_.back().types()) {
      if (configuration < 0) configuration = tables_.back().Find(requested, type);
    }
    o.requested.push_back(configuration);
    o.running.push_back(-1);
    o.done_work.push_back(0);
    o.estimated_work.push_back(kUnknown);
    o.attained_gpu_seconds.push_back(0);
    o.attained_seconds.push_back(0);
    o.restart_cost.push_back(30);
    o.changes.push_back(0);
    o.waiting_since.push_back(row);
    o.priority.push_back(0);
    o.deadline.push_back(kNever);
    o.tenant.push_back(-1);
    o.user.push_back(-1);
    o.group.push_back(-1);
    o.share_begin.push_back(o.share_begin.back());
    return row;
  }

  // The job runs in this configuration on these GPUs (one kind of unit: a GPU).
  void Run(std::int32_t row, std::int32_t configuration,
           const std::vector<std::pair<NodeIndex, std::uint64_t>>& places) {
    std::vector<NodeShare> shares;
    for (const auto& [node, mask] : places) {
      shares.push_back({node, {static_cast<std::int16_t>(__builtin_popcountll(mask))}, mask});
    }
    const auto r = static_cast<std::size_t>(row);
    o.running[r] = configuration;
    o.changes[r] = 1;
    o.shares.insert(o.shares.begin() + o.share_begin[r + 1], shares.begin(), shares.end());
    for (std::size_t i = r + 1; i < o.share_begin.size(); ++i) {
      o.share_begin[i] += static_cast<std::int32_t>(shares.size());
    }
  }

  Observation o;

 private:
  ClusterSpec cluster_;
  std::deque<ConfigurationTable> tables_;  // stays where it is while it grows
};

// The same moment with its rows listed in another order: new row i is old row order[i].
inline Observation Permuted(const Observation& from, const std::vector<std::size_t>& order) {
  Observation to = from;
  to.share_begin = {0};
  to.shares.clear();
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t r = order[i];
    to.job[i] = from.job[r];
    to.submit[i] = from.submit[r];
    to.table[i] = from.table[r];
    to.requested[i] = from.requested[r];
    to.running[i] = from.running[r];
    to.done_work[i] = from.done_work[r];
    to.estimated_work[i] = from.estimated_work[r];
    to.attained_gpu_seconds[i] = from.attained_gpu_seconds[r];
    to.attained_seconds[i] = from.attained_seconds[r];
    to.restart_cost[i] = from.restart_cost[r];
    to.changes[i] = from.changes[r];
    to.waiting_since[i] = from.waiting_since[r];
    to.priority[i] = from.priority[r];
    to.deadline[i] = from.deadline[r];
    to.tenant[i] = from.tenant[r];
    to.user[i] = from.user[r];
    to.group[i] = from.group[r];
    const auto shares = from.shares_of(static_cast<std::int32_t>(r));
    to.shares.insert(to.shares.end(), shares.begin(), shares.end());
    to.share_begin.push_back(static_cast<std::int32_t>(to.shares.size()));
  }
  return to;
}

inline std::vector<std::size_t> Shuffled(std::size_t count, Rng* rng) {
  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = i;
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[rng->Below(i)]);
  return order;
}

// Who got what where, whatever the order of the entries: job -> "configuration 2: 0/0xf 1/0x1".
inline std::map<JobIndex, std::string> AsSet(const Allocation& allocation) {
  std::map<JobIndex, std::string> result;
  for (const Allocation::Entry& entry : allocation.entries()) {
    std::string text = fmt::format("configuration {}:", entry.configuration);
    for (const NodeShare& share : allocation.shares(entry)) {
      text += fmt::format(" {}/{:#x}", share.node, share.gpus);
    }
    result[entry.job] = text;
  }
  return result;
}

}  // namespace allot::testing_support
