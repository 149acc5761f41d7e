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
    std::int32_t configuration = -1;
    for (const GpuTypeIndex type : tables_.back().types()) {
      if (configuration < 0) configuration = tables_.back().Find(requested, type);
    }
    o.Append({.job = row,
              .submit = static_cast<Seconds>(row),
              .table = &tables_.back(),
              .requested = configuration,
              .waiting_since = static_cast<Seconds>(row)});
    return row;
  }

  // The job runs in this configuration on these GPUs (one kind of unit: a GPU).
  void Run(std::int32_t row, std::int32_t configuration,
           const std::vector<std::pair<NodeIndex, std::uint64_t>>& places) {
    std::vector<NodeShare> shares;
    shares.reserve(places.size());
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
  return InOrder(from, std::vector<std::int32_t>(order.begin(), order.end()));
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
