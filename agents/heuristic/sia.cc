// Sia (Jayaram Subramanya et al., SOSP'23, section 3.4): a configuration (GPU type, one node or
// whole nodes) for every job, solved as in solve/sia_problem.h. Here are the numbers that it gets,
// as in Sia's artifact:
//   - configurations of a type: 1, 2, 4, ... GPUs of a node, then whole nodes;
//   - value: the rate over the job's least; a job that did nothing yet and is not trusted beyond
//   its
//     smallest configuration has 1 on every type; jobs of one size only: the rate such that the
//     slowest type is worth its GPUs;
//   - what a restart leaves: (age - restarts x cost) / (age + cost), 1 below the age of one
//   restart;
//   - jobs that are still restarting stay.
// Speeds are what the belief says, sizes those that it trusts.

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

#include "core/index.h"
#include "core/nested_spec.h"
#include "sched/policy.h"
#include "sched/stages.h"
#include "solve/sia_problem.h"
#include "stages/fill/node_sizes.h"

namespace allot {
namespace {

class SiaPolicy : public Policy {
 public:
  SiaPolicy(const Params& params, PolicyInfo info)
      : info_(std::move(info)),
        tolerance_(params.Number("tolerance")),
        placement_(MakeStage<Placement>("placement", NestedSpec(params.Text("placement")))) {
    problem_.power = params.Number("power");
    problem_.unserved = params.Number("unserved");
    problem_.decimals = params.Integer("decimals");
    if (problem_.power == 0) {
      throw UsageError("policy 'sia': 'power' must not be 0: all configurations would be equal");
    }
  }

  const PolicyInfo& info() const override { return info_; }
  void OnEpisodeStart(const EpisodeContext&) override {
    changed_.clear();
    last_ = 0;
  }

  void Decide(const Observation& o, Allocation* allocation) override {
    NoteChanges(o);
    sizes_.Read(*o.cluster);
    problem_.capacity = sizes_.capacity();
    problem_.jobs.assign(At(o.rows()), {});
    configurations_.assign(At(o.rows()), {});
    for (std::int32_t row = 0; row < o.rows(); ++row) PoseJob(o, row);
    FreePins();
    // Many answers are equally good: jobs are named in an order of their own, whatever the rows'.
    order_.resize(At(o.rows()));
    std::iota(order_.begin(), order_.end(), 0);
    std::sort(order_.begin(), order_.end(), [&](std::int32_t a, std::int32_t b) {
      return std::pair(o.submit[At(a)], o.job[At(a)]) < std::pair(o.submit[At(b)], o.job[At(b)]);
    });
    std::vector<SiaProblem::Job> jobs(problem_.jobs.size());
    for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i] = std::move(problem_.jobs[At(order_[i])]);
    problem_.jobs = std::move(jobs);
    const SiaAnswer answer = SolveSia(problem_, tolerance_);
    grants_.clear();
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const std::int32_t chosen = answer.chosen[i];
      if (chosen >= 0) grants_.push_back({order_[i], configurations_[At(order_[i])][At(chosen)]});
    }
    // Large ones first, as they need whole nodes.
    std::stable_sort(grants_.begin(), grants_.end(), [&](const Grant& a, const Grant& b) {
      const auto gpus = [&](const Grant& grant) {
        return (*o.table[At(grant.row)])[grant.configuration].demand.gpus;
      };
      return gpus(a) > gpus(b);
    });
    placement_->Place(o, grants_, allocation);
  }

 private:
  struct Changed {
    std::int32_t changes = 0;
    Seconds at = 0;
  };

  void NoteChanges(const Observation& o) {
    std::map<JobIndex, Changed> now;
    for (std::int32_t row = 0; row < o.rows(); ++row) {
      const std::size_t r = At(row);
      const auto known = changed_.find(o.job[r]);
      const bool same = known != changed_.end() && known->second.changes == o.changes[r];
      // It was changed by the answer before, at most one interval ago.
      now[o.job[r]] = same ? known->second : Changed{o.changes[r], last_};
    }
    last_ = o.now;
    changed_ = std::move(now);
  }

  void PoseJob(const Observation& o, std::int32_t row) {
    const std::size_t r = At(row);
    const ConfigurationTable& table = *o.table[r];
    if (table.kinds().size() != 1 || table.kinds().front().demand.gpus != 1) {
      throw UsageError(
          "policy 'sia' is for jobs made of GPUs one by one; profile '{}' is made of {} kinds of "
          "unit, the first with {} GPUs",
          table.name(), table.kinds().size(), table.kinds().front().demand.gpus);
    }
    SiaProblem::Job& job = problem_.jobs[r];
    for (const GpuTypeIndex type : table.types()) {
      sizes_.Each(type, [&](GpuCount gpus, std::size_t nodes) {
        AddOption(table, type, gpus, nodes, row);
      });
    }
    const bool rigid = IsRigid(table);
    if (rigid && job.options.empty()) AddRequested(o, row);
    Value(o, row, rigid);
    if (o.running[r] >= 0) FindCurrent(o, row);
    const Seconds age = o.now - o.submit[r];
    const Seconds cost = o.restart_cost[r];
    const std::int32_t restarts = std::max(o.changes[r] - 1, 0);
    job.factor =
        age < cost || age + cost <= 0 ? 1 : std::max(age - cost * restarts, 0.0) / (age + cost);
    job.pinned = job.current >= 0 && o.now < changed_[o.job[r]].at + cost;
  }

  void AddOption(const ConfigurationTable& table, GpuTypeIndex type, std::int32_t gpus,
                 std::size_t nodes, std::int32_t row) {
    if (gpus > kMaxGpusPerJob || gpus > std::min(table.limits().of(0), table.trusted().of(0))) {
      return;
    }
    const std::int32_t c = table.Find({gpus}, type, nodes);
    if (c < 0 || !(table[c].rate > 0)) return;
    problem_.jobs[At(row)].options.push_back({type, gpus, table[c].rate});
    configurations_[At(row)].push_back(c);
  }
  // Of a size that is no configuration of Sia's.
  void AddRequested(const Observation& o, std::int32_t row) {
    const ConfigurationTable& table = *o.table[At(row)];
    for (const GpuTypeIndex type : table.types()) {
      const std::int32_t c = table.OnType(o.requested[At(row)], type);
      if (c < 0 || !(table[c].rate > 0)) continue;
      problem_.jobs[At(row)].options.push_back({type, table[c].demand.gpus, table[c].rate});
      configurations_[At(row)].push_back(c);
    }
    if (!configurations_[At(row)].empty()) return;
    for (const GpuTypeIndex type : table.types()) {
      const std::int32_t c = table.hull(type).front().to;
      problem_.jobs[At(row)].options.push_back({type, table[c].demand.gpus, table[c].rate});
      configurations_[At(row)].push_back(c);
    }
  }
  static bool IsRigid(const ConfigurationTable& table) {
    for (const Configuration& c : table.configurations()) {
      if (c.partner == kNoPartner && !(c.units == table[0].units)) return false;
    }
    return true;
  }

  // Rates to values.
  void Value(const Observation& o, std::int32_t row, bool rigid) {
    SiaProblem::Job& job = problem_.jobs[At(row)];
    if (job.options.empty()) AddRequested(o, row);
    double least = 0;
    for (const SiaProblem::Option& option : job.options) {
      least = least > 0 ? std::min(least, option.value) : option.value;
    }
    const bool unknown =
        o.done_work[At(row)] <= 0 && o.table[At(row)]->trusted().FitsIn(job.options.front().gpus);
    for (SiaProblem::Option& option : job.options) {
      option.value = unknown ? 1 : option.value / least;
      if (rigid) option.value *= option.gpus;
    }
  }

  // What it runs in is an option, also where it is none of Sia's configurations.
  void FindCurrent(const Observation& o, std::int32_t row) {
    SiaProblem::Job& job = problem_.jobs[At(row)];
    const ConfigurationTable& table = *o.table[At(row)];
    const Configuration& running = table[o.running[At(row)]];
    for (std::size_t i = 0; i < job.options.size(); ++i) {
      const SiaProblem::Option& option = job.options[i];
      if (option.type == running.gpu_type && option.gpus == running.demand.gpus) {
        job.current = static_cast<std::int32_t>(i);
        configurations_[At(row)][i] = o.running[At(row)];
      }
    }
    if (job.current >= 0) return;
    const double least = table[configurations_[At(row)].front()].rate / job.options.front().value;
    job.current = static_cast<std::int32_t>(job.options.size());
    job.options.push_back({running.gpu_type, running.demand.gpus,
                           running.rate > 0 && least > 0 ? running.rate / least : 1e-4});
    configurations_[At(row)].push_back(o.running[At(row)]);
  }

  // Nodes may have gone: pins that cannot all hold are none.
  void FreePins() {
    std::vector<std::int32_t> left = problem_.capacity;
    for (const SiaProblem::Job& job : problem_.jobs) {
      if (!job.pinned) continue;
      const SiaProblem::Option& held = job.options[At(job.current)];
      left[At(held.type)] -= held.gpus;
    }
    if (std::all_of(left.begin(), left.end(), [](std::int32_t gpus) { return gpus >= 0; })) return;
    for (SiaProblem::Job& job : problem_.jobs) job.pinned = false;
  }

  PolicyInfo info_;
  SiaProblem problem_;
  double tolerance_;
  std::unique_ptr<Placement> placement_;
  NodeSizes sizes_;
  std::vector<std::vector<std::int32_t>> configurations_;  // by row and option
  std::vector<std::int32_t> order_;                        // rows by submission
  std::vector<Grant> grants_;
  std::map<JobIndex, Changed> changed_;
  Seconds last_ = 0;
};

PolicyInfo SiaInfo() {
  PolicyInfo info;
  info.id = "sia";
  info.summary = "GPUs and their types by goodput: exact choice of configurations";
  info.source = "Jayaram Subramanya et al., SOSP 2023, section 3.4";
  info.time_driven = true;
  info.params = {
      {"power", "-0.5", "of the values; below 0: what is summed is to be small", -10, 10},
      {"unserved", "1.1", "what a waiting job adds to the sum", 0, 1000},
      {"decimals", "2", "to which powers are rounded, as in Sia's artifact; -1: not", -1, 12},
      {"tolerance", "1e-4", "of the sum, relative, within which it is the best", 0, 0.1},
      StageParam<Placement>({"placement", "packed", "stage: which GPUs on which nodes"})};
  info.make = [info](const Params& params) -> std::unique_ptr<Policy> {
    return std::make_unique<SiaPolicy>(params, info);
  };
  return info;
}

ALLOT_REGISTER(PolicyInfo, SiaInfo());

}  // namespace
}  // namespace allot
