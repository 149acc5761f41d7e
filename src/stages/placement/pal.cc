// The placements of PAL's simulator (Jain et al., SC'24; branch `artifact` of its repository), by
// `rule`:
//
//   packed     the tightest node that holds the job, else the emptiest nodes (its Packed)
//   random     any free GPUs (its Random)
//   pmfirst    the fastest free GPUs for the job's class
//   pal        these, or slower ones on one node where the penalty of several is larger
//
// Its names that end in -S keep running jobs and stop them for jobs before them (victims=true);
// under those in -NS, PMFirst and PAL all jobs are placed anew at each decision (anew=true). It
// takes GPUs of one group (groups=2) to be equally fast.

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "cluster/gpu_slowness.h"
#include "core/error.h"
#include "core/index.h"
#include "core/python_random.h"
#include "solve/line_clusters.h"
#include "stages/fill/placer.h"

namespace allot {
namespace {

class PackedNodes : public NodeChooser {
 public:
  bool Choose(const ClusterSpec& cluster, FreeMap& free, GpuTypeIndex type,
              const Resources& unit_demand, std::int32_t count, std::span<const NodeShare>,
              std::vector<UnitShare>* chosen) override {
    nodes_.clear();
    for (NodeIndex node = 0; At(node) < cluster.nodes().size(); ++node) {
      if (cluster.nodes()[At(node)].type != type) continue;
      const std::int32_t room = free.Capacity(node, unit_demand, kMaxGpusPerJob);
      if (room > 0) nodes_.push_back({node, room});
    }
    const UnitShare* tightest = nullptr;
    for (const UnitShare& each : nodes_) {
      const bool holds = each.units >= count;
      if (holds && (tightest == nullptr || each.units < tightest->units)) tightest = &each;
    }
    if (tightest != nullptr) {
      chosen->push_back({tightest->node, count});
      return true;
    }
    std::ranges::stable_sort(nodes_, std::ranges::greater(), &UnitShare::units);
    for (const UnitShare& each : nodes_) {
      if (count == 0) break;
      chosen->push_back({each.node, std::min(each.units, count)});
      count -= chosen->back().units;
    }
    return count == 0;
  }

 private:
  std::vector<UnitShare> nodes_;
};

// Chooses single GPUs for jobs whose units have one each; others are packed.
class GpuChooser : public NodeChooser {
 public:
  bool Choose(const ClusterSpec& cluster, FreeMap& free, GpuTypeIndex type,
              const Resources& unit_demand, std::int32_t count, std::span<const NodeShare> held,
              std::vector<UnitShare>* chosen) final {
    if (unit_demand.gpus != 1) {
      return packed_.Choose(cluster, free, type, unit_demand, count, held, chosen);
    }
    nodes_.clear();
    for (NodeIndex node = 0; At(node) < cluster.nodes().size(); ++node) {
      if (cluster.nodes()[At(node)].type != type) continue;
      const std::int32_t room = free.Capacity(node, unit_demand, kMaxGpusPerJob);
      if (room > 0) nodes_.push_back({node, room, free.gpu_mask(node)});
    }
    return ChooseGpus(count, chosen);
  }

 protected:
  struct FreeNode {
    NodeIndex node;
    std::int32_t room;  // units that it can hold
    std::uint64_t gpus;
  };

  virtual bool ChooseGpus(std::int32_t count, std::vector<UnitShare>* chosen) = 0;

  const std::vector<FreeNode>& nodes() const { return nodes_; }  // with room, ascending

  // The GPU is one bit. False: the node has no room for it.
  static bool Take(const FreeNode& node, std::uint64_t gpu, std::vector<UnitShare>* chosen) {
    auto share = std::find_if(chosen->begin(), chosen->end(),
                              [&node](const UnitShare& s) { return s.node == node.node; });
    if (share == chosen->end()) share = chosen->insert(share, UnitShare{node.node, 0});
    if (share->units == node.room) return false;
    ++share->units;
    share->gpus |= gpu;
    return true;
  }

 private:
  PackedNodes packed_;
  std::vector<FreeNode> nodes_;
};

// As Python's random.sample chooses among the free GPUs in order of their numbers.
class RandomGpus : public GpuChooser {
 public:
  RandomGpus(std::uint64_t seed, std::vector<double> drawn)
      : seed_(seed), drawn_(std::move(drawn)), random_(seed) {}

  void Begin(const Observation& o, std::int32_t /*row*/) override {
    if (decision_ < 0 || o.decision < decision_) Restart(*o.cluster);
    decision_ = o.decision;
  }

 protected:
  bool ChooseGpus(std::int32_t count, std::vector<UnitShare>* chosen) override {
    free_.clear();
    for (const FreeNode& node : nodes()) {
      std::uint64_t gpus = node.gpus;
      for (std::int32_t i = 0; i < node.room; ++i, gpus &= gpus - 1) {
        free_.emplace_back(&node, gpus & ~(gpus - 1));
      }
    }
    if (free_.size() < At(count)) return false;
    const auto size = static_cast<std::uint32_t>(free_.size());
    for (const std::uint32_t i : random_.Sample(size, static_cast<std::uint32_t>(count))) {
      Take(*free_[i].first, free_[i].second, chosen);
    }
    return true;
  }

 private:
  void Restart(const ClusterSpec& cluster) {
    random_ = PythonRandom(seed_);
    for (GpuCount gpu = 0; gpu < cluster.total().gpus; ++gpu) {
      for (const double below : drawn_) random_.Below(static_cast<std::uint32_t>(below));
    }
  }

  std::uint64_t seed_;
  std::vector<double> drawn_;
  PythonRandom random_;
  std::int64_t decision_ = -1;
  std::vector<std::pair<const FreeNode*, std::uint64_t>> free_;  // with the bit of the GPU
};

// Of each GPU the centre of its group over the median of all centres. Outliers are more than three
// standard deviations above the mean.
std::vector<double> Grouped(std::span<const double> slowness, int groups) {
  constexpr double kOutlier = 3;
  const auto n = static_cast<double>(slowness.size());
  const double mean = std::accumulate(slowness.begin(), slowness.end(), 0.0) / n;
  double squares = 0;
  for (const double each : slowness) squares += (each - mean) * (each - mean);
  const double limit = mean + kOutlier * std::sqrt(squares / std::max(1.0, n - 1));
  const auto outliers = std::count_if(slowness.begin(), slowness.end(),
                                      [limit](double each) { return each > limit; });
  const std::vector<double> centres = LineClusters(slowness, groups + static_cast<int>(outliers));
  const std::size_t half = centres.size() / 2;
  const double median =
      centres.size() % 2 == 1 ? centres[half] : (centres[half - 1] + centres[half]) / 2;
  std::vector<double> grouped;
  for (const double each : slowness) {
    const double centre = *std::min_element(
        centres.begin(), centres.end(),
        [each](double a, double b) { return std::abs(a - each) < std::abs(b - each); });
    grouped.push_back(centre / median);
  }
  return grouped;
}

class FastestGpus : public GpuChooser {
 public:
  // `groups`: 0 for each GPU's own slowness. `penalty`: of several nodes; none: nodes do not count.
  FastestGpus(int groups, std::optional<double> penalty) : groups_(groups), penalty_(penalty) {}

  void Begin(const Observation& o, std::int32_t row) override {
    slowness_ = o.cluster->slowness();
    if (slowness_ == nullptr) return;
    const std::string& job_class = o.table[At(row)]->slowness_class();
    of_gpus_ = slowness_->Of(job_class);
    if (groups_ == 0 || of_gpus_.empty()) return;
    Known& known = known_[job_class];
    if (!std::ranges::equal(known.slowness, of_gpus_)) {
      known = {{of_gpus_.begin(), of_gpus_.end()}, Grouped(of_gpus_, groups_)};
    }
    of_gpus_ = known.grouped;
  }

 protected:
  bool ChooseGpus(std::int32_t count, std::vector<UnitShare>* chosen) override {
    FindCandidates(count);
    const std::optional<double> slowest = TakeFastest(count, chosen);
    if (slowest && penalty_ && count > 1) TakeOnOneNode(count, *slowest * *penalty_, chosen);
    return slowest.has_value();
  }

 private:
  struct Known {
    std::vector<double> slowness;
    std::vector<double> grouped;
  };
  struct Candidate {
    double slowness;
    std::int64_t misfit;  // of the node's free GPUs that are as fast, to the need
    std::size_t at;       // node in nodes()
    std::uint64_t gpu;    // its bit
  };

  // By slowness; of equal ones first those on nodes with about as many of them as are needed.
  void FindCandidates(std::int32_t count) {
    candidates_.clear();
    for (std::size_t at = 0; at < nodes().size(); ++at) {
      const std::size_t first = candidates_.size();
      for (std::uint64_t gpus = nodes()[at].gpus; gpus != 0; gpus &= gpus - 1) {
        const int number = std::countr_zero(gpus);
        const bool known = slowness_ != nullptr && !of_gpus_.empty();
        const double slowness =
            known ? of_gpus_[slowness_->first_gpu(nodes()[at].node) + At(number)] : 1;
        candidates_.push_back({slowness, 0, at, std::uint64_t{1} << number});
      }
      const std::span of_node = std::span(candidates_).subspan(first);
      for (Candidate& each : of_node) {
        each.misfit =
            std::abs(std::ranges::count(of_node, each.slowness, &Candidate::slowness) - count);
      }
    }
    std::ranges::stable_sort(candidates_, {}, [](const Candidate& each) {
      return std::pair(each.slowness, each.misfit);
    });
  }

  // Returns the slowness of the slowest; nothing where they are too few.
  std::optional<double> TakeFastest(std::int32_t count, std::vector<UnitShare>* chosen) {
    for (const Candidate& each : candidates_) {
      if (!Take(nodes()[each.at], each.gpu, chosen)) continue;
      if (--count == 0) return each.slowness;
    }
    return std::nullopt;
  }

  // Takes others where one node has enough that are at most so slow: the fastest such node, of
  // equal ones that with most GPUs as fast as it needs.
  void TakeOnOneNode(std::int32_t count, double limit, std::vector<UnitShare>* chosen) {
    found_.assign(nodes().size(), 0);
    std::optional<std::size_t> best;
    double slowest = 0;
    for (const Candidate& each : candidates_) {
      if (each.slowness > (best ? slowest : limit)) break;
      const std::int32_t found = ++found_[each.at];
      if (found < count || nodes()[each.at].room < count) continue;
      slowest = each.slowness;
      if (!best || found > found_[*best] || (found == found_[*best] && each.at < *best)) {
        best = each.at;
      }
    }
    if (!best) return;
    std::uint64_t gpus = 0;
    for (const Candidate& each : candidates_) {
      if (each.at == *best && each.slowness <= slowest) gpus |= each.gpu;
    }
    chosen->clear();
    for (; count > 0; --count, gpus &= gpus - 1) {
      Take(nodes()[*best], gpus & ~(gpus - 1), chosen);
    }
  }

  int groups_;
  std::optional<double> penalty_;
  std::map<std::string, Known> known_;  // groups, by class
  const GpuSlowness* slowness_ = nullptr;
  std::span<const double> of_gpus_;  // for the job
  std::vector<Candidate> candidates_;
  std::vector<std::int32_t> found_;  // by node
};

// Those that fit into the cluster together are placed class by class, in the order of the classes'
// names; jobs of no class come last.
class ByClass : public Placement {
 public:
  explicit ByClass(std::unique_ptr<Placement> placement) : placement_(std::move(placement)) {}

  void Place(const Observation& o, std::span<const Grant> grants, Allocation* allocation) override {
    queue_.assign(grants.begin(), grants.end());
    GpuCount left = o.cluster->total().gpus;
    const auto end = std::find_if(queue_.begin(), queue_.end(), [&](const Grant& grant) {
      left -= (*o.table[At(grant.row)])[grant.configuration].demand.gpus;
      return left < 0;
    });
    std::stable_sort(queue_.begin(), end, [&o](const Grant& a, const Grant& b) {
      const std::string& first = o.table[At(a.row)]->slowness_class();
      const std::string& second = o.table[At(b.row)]->slowness_class();
      return first.empty() != second.empty() ? second.empty() : first < second;
    });
    placement_->Place(o, queue_, allocation);
  }

 private:
  std::unique_ptr<Placement> placement_;
  std::vector<Grant> queue_;
};

std::unique_ptr<NodeChooser> MakeChooser(const Params& params) {
  const std::string& rule = params.Text("rule");
  if (rule == "packed") return std::make_unique<PackedNodes>();
  if (rule == "random") {
    return std::make_unique<RandomGpus>(static_cast<std::uint64_t>(params.Number("seed")),
                                        params.Numbers("drawn"));
  }
  if (rule != "pal" && rule != "pmfirst") {
    throw UsageError("placement 'pal': 'rule' must be pal, pmfirst, packed or random, got '{}'",
                     rule);
  }
  const std::optional<double> penalty =
      rule == "pal" ? std::optional(params.Number("penalty")) : std::nullopt;
  return std::make_unique<FastestGpus>(params.Integer("groups"), penalty);
}

PlacementInfo PalInfo() {
  constexpr double kMostGroups = 1000;
  constexpr double kMostPython = 4294967295;
  PlacementInfo info = ChooserPlacementInfo(
      "pal", "the fastest free GPUs for the job's class, or slower ones on one node (PAL)",
      MakeChooser,
      {{"rule", "pal", "pal, or what it is compared with: pmfirst, packed, random"},
       {"penalty", "1.7", "of pal: time of an iteration on several nodes over one", 1, 1e6},
       {"groups", "0",
        "of pal and pmfirst: groups of GPUs that count as equally fast, and one more for each "
        "outlier; 0: each GPU has its own slowness",
        0, kMostGroups},
       {"seed", "42", "of random, for Python's random numbers", 0, kMostPython},
       {"drawn", "", "of random: numbers below these are drawn first for each GPU; joined by '|'",
        1, kMostPython}});
  info.repeats = false;  // random draws anew
  info.make = [serve = info.make](const Params& params) -> std::unique_ptr<Placement> {
    std::unique_ptr<Placement> placement = serve(params);
    const std::string& rule = params.Text("rule");
    if (rule == "packed" || rule == "random") return placement;
    return std::make_unique<ByClass>(std::move(placement));
  };
  return info;
}

ALLOT_REGISTER(PlacementInfo, PalInfo());

}  // namespace
}  // namespace allot
