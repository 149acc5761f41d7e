#include "perf/load_by_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/strings.h"
#include "perf/accepted_types.h"

namespace allot {
namespace {

// GPU time of jobs that accept the same types, and how it is spread over all types.
struct Pool {
  std::vector<std::size_t> types{};
  double gpu_seconds = 0;
  std::vector<double> spread{};  // by `types`
};

std::vector<Pool> PoolsOf(const Workload& workload, const std::vector<GpuTypeSpec>& types) {
  AcceptedTypes accepted(types);
  std::map<std::vector<bool>, double> gpu_seconds;
  for (const Job& job : workload.jobs) {
    std::vector<bool> suited = accepted.Of(workload.gpu_types[job.gpu_types]);
    for (std::size_t t = 0; t < types.size(); ++t) {
      const double memory = types[t].memory_gb;
      const bool room = memory <= 0 || memory >= job.gpu_memory_gb;
      suited[t] = suited[t] && room && types[t].gpus > 0;
    }
    gpu_seconds[suited] += job.gpus * job.duration;
  }
  std::vector<Pool> pools;
  for (const auto& [suited, seconds] : gpu_seconds) {
    Pool pool{.gpu_seconds = seconds};
    for (std::size_t t = 0; t < types.size(); ++t) {
      if (suited[t]) pool.types.push_back(t);
    }
    pool.spread.assign(pool.types.size(), 0);
    if (!pool.types.empty()) pools.push_back(std::move(pool));
  }
  return pools;
}

// Spreads the pool over its types so that the lowest of their loads, `others` included, are level.
// Returns how much that moved.
double Level(const std::vector<GpuTypeSpec>& types, const std::vector<double>& others, Pool* pool) {
  std::vector<std::size_t> order(pool->types.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto gpus = [&](std::size_t i) { return static_cast<double>(types[pool->types[i]].gpus); };
  const auto load = [&](std::size_t i) { return others[pool->types[i]] / gpus(i); };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return load(a) < load(b); });
  double level = 0;
  double filled_gpus = 0;
  double filled = 0;  // GPU time of others on these
  for (std::size_t n = 0; n < order.size(); ++n) {
    filled_gpus += gpus(order[n]);
    filled += others[pool->types[order[n]]];
    level = (pool->gpu_seconds + filled) / filled_gpus;
    if (n + 1 == order.size() || level <= load(order[n + 1])) break;
  }
  double moved = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double spread = std::max(0.0, (level - load(i)) * gpus(i));
    moved += std::abs(spread - pool->spread[i]);
    pool->spread[i] = spread;
  }
  return moved;
}

}  // namespace

std::vector<TypeLoad> LoadByType(const Workload& workload, const std::vector<GpuTypeSpec>& types) {
  constexpr int kMostRounds = 1000;
  constexpr double kSettled = 1e-9;  // of all GPU time
  const Seconds span = workload.Span();
  if (types.size() < 2 || !(span > 0)) return {};
  std::vector<Pool> pools = PoolsOf(workload, types);
  std::vector<double> gpu_seconds(types.size(), 0);
  double all = 0;
  for (const Pool& pool : pools) all += pool.gpu_seconds;
  for (int round = 0; round < kMostRounds; ++round) {
    double moved = 0;
    for (Pool& pool : pools) {
      for (std::size_t i = 0; i < pool.types.size(); ++i) {
        gpu_seconds[pool.types[i]] -= pool.spread[i];
      }
      moved += Level(types, gpu_seconds, &pool);
      for (std::size_t i = 0; i < pool.types.size(); ++i) {
        gpu_seconds[pool.types[i]] += pool.spread[i];
      }
    }
    if (moved <= kSettled * all) break;
  }
  std::vector<TypeLoad> loads;
  for (std::size_t t = 0; t < types.size(); ++t) {
    const double capacity = types[t].gpus * span;
    const double demand = capacity > 0 ? std::max(0.0, gpu_seconds[t]) / capacity : 0;
    loads.push_back({types[t].name, types[t].gpus, demand});
  }
  return loads;
}

const TypeLoad* MostLoaded(const std::vector<TypeLoad>& loads) {
  constexpr double kEven = 1.01;
  const auto by_demand = [](const TypeLoad& a, const TypeLoad& b) { return a.demand < b.demand; };
  const auto [least, most] = std::minmax_element(loads.begin(), loads.end(), by_demand);
  return most == loads.end() || most->demand <= kEven * least->demand ? nullptr : &*most;
}

std::string LoadsInWords(const std::vector<TypeLoad>& loads) {
  std::vector<std::string> words;
  words.reserve(loads.size());
  for (const TypeLoad& load : loads) {
    words.push_back(fmt::format("{} {:.2f}", load.type, load.demand));
  }
  return Join(words, ", ");
}

}  // namespace allot
