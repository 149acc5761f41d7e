// Pollux (Qiao et al., "Pollux", OSDI'21): GPUs on nodes for all jobs such that the power mean of
// their speedups over a fair share is largest. The decision is that of solve/speedup_problem.h;
// here are the numbers that it gets, as in Pollux's artifact:
//   - speedup over the rate on ceil(GPUs / jobs) GPUs of one node (of several, where one is not
//     that large);
//   - a job that changes counts by (age - restarts x cost) / (age + cost) of that, never below 0;
//   - jobs that were served least come first.
// Speeds are what the belief says, sizes those that it trusts. On clusters of several GPU types,
// types are not distinguished: speeds are the mean over types, and a job that got GPUs of several
// runs on the type with most.

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "cluster/free_map.h"
#include "core/index.h"
#include "core/rng.h"
#include "sched/policy.h"
#include "solve/speedup_genetic.h"
#include "solve/speedup_rows.h"

namespace allot {
namespace {

class PolluxPolicy : public Policy {
 public:
  PolluxPolicy(const Params& params, PolicyInfo info) : info_(std::move(info)) {
    problem_.power = params.Number("power");
    problem_.apart = params.Flag("apart");
    const std::string& search = params.Text("search");
    if (search != "exact" && search != "genetic") {
      throw UsageError("policy 'pollux': 'search' must be exact or genetic, got '{}'", search);
    }
    genetic_ = search == "genetic";
    options_.population = params.Integer("population");
    options_.generations = params.Integer("generations");
  }

  const PolicyInfo& info() const override { return info_; }

  void OnEpisodeStart(const EpisodeContext& context) override {
    seed_ = context.seed;
    decisions_ = 0;
    front_.clear();
  }

  void Decide(const Observation& o, Allocation* allocation) override {
    allocation->Clear();
    if (o.rows() == 0) return;
    OrderRows(o);
    Pose(o);
    const RowSet rows = genetic_ ? SearchGenetically(o) : SearchSpeedupRows(problem_).rows;
    Give(o, rows, allocation);
  }

 private:
  void OrderRows(const Observation& o) {
    order_.resize(At(o.rows()));
    std::iota(order_.begin(), order_.end(), 0);
    const auto key = [&](std::int32_t row) {
      return std::tuple(o.attained_gpu_seconds[At(row)], o.submit[At(row)], o.job[At(row)]);
    };
    std::sort(order_.begin(), order_.end(),
              [&](std::int32_t a, std::int32_t b) { return key(a) < key(b); });
  }

  void Pose(const Observation& o) {
    problem_.capacity.clear();
    for (const Node& node : o.cluster->nodes()) problem_.capacity.push_back(node.capacity.gpus);
    const std::int32_t gpus = problem_.gpus();
    const std::int32_t fair = gpus == 0 ? 1 : (gpus + o.rows() - 1) / o.rows();
    problem_.jobs.resize(order_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) PoseJob(o, order_[i], fair, &problem_.jobs[i]);
  }

  void PoseJob(const Observation& o, std::int32_t row, std::int32_t fair,
               SpeedupProblem::Job* job) const {
    const std::size_t r = At(row);
    const ConfigurationTable& table = *o.table[r];
    if (table.kinds().size() != 1 || table.kinds().front().demand.gpus != 1) {
      throw UsageError(
          "policy 'pollux' is for jobs made of GPUs one by one; profile '{}' is made of {} kinds "
          "of unit, the first with {} GPUs",
          table.name(), table.kinds().size(), table.kinds().front().demand.gpus);
    }
    const std::int32_t known = table.most_units().of(0);
    const std::int32_t most =
        std::min({known, table.limits().of(0), std::max(table.trusted().of(0), 1)});
    job->one.assign(At(most) + 1, 0);
    job->several.assign(At(most) + 1, 0);
    for (std::int32_t k = 1; k <= most; ++k) {
      job->one[At(k)] = Rate(table, k, 1);
      if (k > 1) job->several[At(k)] = Rate(table, k, 2);
    }
    const double base = FairRate(table, std::min(fair, known));
    for (std::int32_t k = 1; k <= most; ++k) {
      job->one[At(k)] /= base;
      job->several[At(k)] /= base;
    }
    const Seconds age = o.now - o.submit[r];
    const Seconds cost = o.restart_cost[r];
    const std::int32_t restarts = std::max(o.changes[r] - 1, 0);
    job->change = age + cost > 0 ? std::max(age - cost * restarts, 0.0) / (age + cost) : 1;
    job->current.clear();
    for (const NodeShare& share : o.shares_of(row)) {
      job->current.push_back({share.node, share.units.of(0)});
    }
    std::sort(job->current.begin(), job->current.end(),
              [](const NodeGpus& a, const NodeGpus& b) { return a.node < b.node; });
  }

  // Over the types that have such a configuration; 0: none has.
  static double Rate(const ConfigurationTable& table, std::int32_t gpus, std::size_t nodes) {
    double sum = 0;
    std::int32_t types = 0;
    for (const GpuTypeIndex type : table.types()) {
      const std::int32_t c = table.Find({gpus}, type, nodes);
      if (c < 0 || !(table[c].rate > 0)) continue;
      sum += table[c].rate;
      ++types;
    }
    return types > 0 ? sum / types : 0;
  }
  // Of the fair share, or of the largest configuration below it; of jobs that need more, their
  // part of it.
  static double FairRate(const ConfigurationTable& table, std::int32_t fair) {
    for (std::int32_t k = fair; k > 0; --k) {
      for (const std::size_t nodes : {1, 2}) {
        if (const double rate = Rate(table, k, nodes); rate > 0) return rate;
      }
    }
    return table.reference_rate() * fair / table.reference_cost();
  }

  RowSet SearchGenetically(const Observation& o) {
    std::vector<RowSet> starts;
    for (const auto& individual : front_) {
      RowSet start(order_.size());
      for (std::size_t i = 0; i < order_.size(); ++i) {
        const auto known = individual.find(o.job[At(order_[i])]);
        if (known != individual.end()) start[i] = known->second;
      }
      starts.push_back(std::move(start));
    }
    Rng rng(seed_, "pollux", decisions_++);
    GeneticAnswer answer = SearchSpeedupRowsGenetically(problem_, starts, &rng, options_);
    front_.clear();
    for (RowSet& rows : answer.front) {
      std::map<JobIndex, JobRowGpus> individual;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!rows[i].empty()) individual[o.job[At(order_[i])]] = std::move(rows[i]);
      }
      front_.push_back(std::move(individual));
    }
    return std::move(answer.rows);
  }

  // Rows that stay, then the others, least served first.
  void Give(const Observation& o, const RowSet& rows, Allocation* allocation) {
    free_.Reset(*o.cluster);
    given_.assign(At(o.rows()), {});
    configuration_.assign(At(o.rows()), -1);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!rows[i].empty() && rows[i] == problem_.jobs[i].current) Keep(o, order_[i]);
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!rows[i].empty() && configuration_[At(order_[i])] < 0) Start(o, order_[i], rows[i]);
    }
    // Whoever got GPUs that it cannot use, of several types or too few.
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!rows[i].empty() && configuration_[At(order_[i])] < 0) StartSomewhere(o, order_[i]);
    }
    for (std::int32_t row = 0; row < o.rows(); ++row) {
      if (configuration_[At(row)] < 0) continue;
      allocation->Add(o.job[At(row)], configuration_[At(row)], given_[At(row)]);
    }
  }
  void Keep(const Observation& o, std::int32_t row) {
    const Resources& unit = o.table[At(row)]->kinds().front().demand;
    const auto held = o.shares_of(row);
    std::size_t taken = 0;
    while (taken < held.size() &&
           free_.TakeExactly(held[taken].node, held[taken].gpus, unit * held[taken].units.of(0))) {
      ++taken;
    }
    if (taken == held.size()) {
      given_[At(row)].assign(held.begin(), held.end());
      configuration_[At(row)] = o.running[At(row)];
      return;
    }
    while (taken-- > 0) {
      free_.Release(held[taken].node, held[taken].gpus, unit * held[taken].units.of(0));
    }
  }
  void Start(const Observation& o, std::int32_t row, JobRowGpus gpus) {
    const ConfigurationTable& table = *o.table[At(row)];
    const Resources& unit = table.kinds().front().demand;
    const GpuTypeIndex type = MostlyOn(o, table, gpus);
    std::int32_t sum = 0;
    for (NodeGpus& share : gpus) {
      const bool other = o.cluster->nodes()[At(share.node)].type != type;
      share.gpus = other ? 0 : free_.Capacity(share.node, unit, share.gpus);
      sum += share.gpus;
    }
    std::erase_if(gpus, [](const NodeGpus& share) { return share.gpus == 0; });
    // Fewer, where there is no such configuration.
    for (; sum > 0; --sum) {
      const std::int32_t c = table.Find({sum}, type, gpus.size());
      if (c >= 0 && table[c].rate > 0) {
        configuration_[At(row)] = c;
        break;
      }
      if (--gpus.back().gpus == 0) gpus.pop_back();
    }
    for (std::size_t i = 0; sum > 0 && i < gpus.size(); ++i) {
      const std::uint64_t mask = free_.Take(gpus[i].node, unit * gpus[i].gpus);
      given_[At(row)].push_back({gpus[i].node, {gpus[i].gpus}, mask});
    }
  }
  // In its fastest configuration that has room, on the emptiest nodes.
  void StartSomewhere(const Observation& o, std::int32_t row) {
    const ConfigurationTable& table = *o.table[At(row)];
    const Resources& unit = table.kinds().front().demand;
    for (const std::int32_t c : table.fastest()) {
      std::vector<NodeGpus> room;
      for (std::size_t n = 0; n < o.cluster->nodes().size(); ++n) {
        const auto node = static_cast<NodeIndex>(n);
        if (o.cluster->nodes()[n].type != table[c].gpu_type) continue;
        const std::int32_t units = free_.Capacity(node, unit, table[c].demand.gpus);
        if (units > 0) room.push_back({node, units});
      }
      std::stable_sort(room.begin(), room.end(),
                       [](const NodeGpus& a, const NodeGpus& b) { return a.gpus > b.gpus; });
      std::int32_t left = table[c].demand.gpus;
      std::size_t nodes = 0;
      while (left > 0 && nodes < room.size()) {
        room[nodes].gpus = std::min(room[nodes].gpus, left);
        left -= room[nodes++].gpus;
      }
      room.resize(nodes);
      if (left > 0 || !table[c].span.Holds(nodes)) continue;
      std::sort(room.begin(), room.end(),
                [](const NodeGpus& a, const NodeGpus& b) { return a.node < b.node; });
      for (const NodeGpus& share : room) {
        const std::uint64_t mask = free_.Take(share.node, unit * share.gpus);
        given_[At(row)].push_back({share.node, {share.gpus}, mask});
      }
      configuration_[At(row)] = c;
      return;
    }
  }
  // The type of most of the GPUs, of those that the job runs on.
  static GpuTypeIndex MostlyOn(const Observation& o, const ConfigurationTable& table,
                               const JobRowGpus& gpus) {
    GpuTypeIndex best = table.types().front();
    std::int32_t most = 0;
    for (const GpuTypeIndex type : table.types()) {
      std::int32_t sum = 0;
      for (const NodeGpus& share : gpus) {
        if (o.cluster->nodes()[At(share.node)].type == type) sum += share.gpus;
      }
      if (sum > most) {
        most = sum;
        best = type;
      }
    }
    return best;
  }

  PolicyInfo info_;
  SpeedupProblem problem_;
  bool genetic_ = false;
  GeneticOptions options_;
  std::uint64_t seed_ = 0;
  std::uint64_t decisions_ = 0;
  std::vector<std::map<JobIndex, JobRowGpus>> front_;  // of the last genetic search
  std::vector<std::int32_t> order_;                    // rows, by place in the problem
  FreeMap free_;
  std::vector<std::vector<NodeShare>> given_;  // by row, as the next
  std::vector<std::int32_t> configuration_;    // -1: none
};

PolicyInfo PolluxInfo() {
  PolicyInfo info;
  info.id = "pollux";
  info.summary = "GPUs by goodput: the largest power mean of speedups over a fair share";
  info.source = "Qiao et al., OSDI 2021";
  info.time_driven = true;
  info.params = {
      {"power", "-1", "of the mean: the smaller, the more equal speedups", -10, 10},
      {"search", "exact",
       "exact: knapsack over sizes, packing, search over rows; genetic: as in Pollux's artifact"},
      {"apart", "true", "no node has GPUs of two jobs that span several nodes"},
      {"population", "100", "for search=genetic", 2, 10000},
      {"generations", "100", "for search=genetic", 1, 10000}};
  info.make = [info](const Params& params) -> std::unique_ptr<Policy> {
    return std::make_unique<PolluxPolicy>(params, info);
  };
  return info;
}

ALLOT_REGISTER(PolicyInfo, PolluxInfo());

}  // namespace
}  // namespace allot
