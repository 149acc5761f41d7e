#pragma once
// Small scenarios whose results can be worked out by hand, and policies that do one simple thing.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/run.h"
#include "stages/staged_policy.h"

namespace allot::testing_support {

struct SmallJob {
  Seconds submit = 0;
  GpuCount gpus = 1;
  Seconds duration = 0;
  GpuCount min_gpus = 0;
  GpuCount max_gpus = 0;
};

inline Workload WorkloadOf(const std::vector<SmallJob>& jobs) {
  Workload workload;
  workload.name = "small";
  for (const SmallJob& small : jobs) {
    Job job;
    job.id = fmt::format("job{}", workload.jobs.size());
    job.submit = small.submit;
    job.gpus = small.gpus;
    job.duration = small.duration;
    job.min_gpus = small.min_gpus;
    job.max_gpus = small.max_gpus;
    workload.jobs.push_back(job);
  }
  workload.Finish();
  return workload;
}

// Rate 1 at any number of GPUs.
inline const Catalogue& EqualRates() {
  static const Catalogue catalogue = [] {
    Catalogue made;
    made.Add(MakeConstantModel());
    return made;
  }();
  return catalogue;
}

// Jobs with limits name a model, as jobs without one keep their size.
inline Workload WithEqualRates(Workload workload) {
  for (Job& job : workload.jobs) {
    if (!job.rigid()) job.model = workload.models.Intern("constant");
  }
  return workload;
}

inline Scenario ScenarioOf(const std::vector<SmallJob>& jobs, const std::string& cluster,
                           SimOptions options = {}) {
  return Scenario(WithEqualRates(WorkloadOf(jobs)), ClusterSpec::Parse(cluster), std::move(options),
                  EqualRates());
}

// The registered heuristics stand above this folder; their compositions are all that is needed.
inline std::unique_ptr<Policy> Staged(const StageSpecs& stages) {
  const PolicyInfo info = StagedPolicyInfo("staged", "for tests", stages);
  return info.make(Params("policy 'staged'", info.params, {}));
}
inline std::unique_ptr<Policy> Fifo() { return Staged({.ordering = "submit"}); }
inline std::unique_ptr<Policy> Las() { return Staged({.ordering = "attained"}); }

// Gives jobs what a list says, decision by decision: GPUs of node 0, lowest first; 0: nothing.
class ScriptedPolicy : public Policy {
 public:
  explicit ScriptedPolicy(std::vector<std::vector<GpuCount>> script) : script_(std::move(script)) {
    info_.id = "scripted";
    info_.time_driven = true;
  }
  const PolicyInfo& info() const override { return info_; }
  void Decide(const Observation& o, Allocation* allocation) override {
    allocation->Clear();
    const auto last = static_cast<std::int64_t>(script_.size()) - 1;
    const auto& wanted = script_[static_cast<std::size_t>(std::min(o.decision, last))];
    std::uint64_t used = 0;
    for (std::size_t r = 0; r < o.job.size(); ++r) {
      const GpuCount gpus = wanted[static_cast<std::size_t>(o.job[r])];
      if (gpus == 0) continue;
      const UnitCounts units{static_cast<std::int16_t>(gpus)};
      const std::uint64_t mask = GpuMask(gpus) << __builtin_popcountll(used);
      used |= mask;
      const NodeShare share{0, units, mask};
      allocation->Add(o.job[r], o.table[r]->Find(units, 0), std::span(&share, 1));
    }
  }

 private:
  PolicyInfo info_;
  std::vector<std::vector<GpuCount>> script_;
};

inline std::vector<Seconds> Jcts(const RunOutcome& outcome) {
  std::vector<Seconds> jcts;
  for (const JobRecord& record : outcome.records) jcts.push_back(record.finish - record.submit);
  return jcts;
}

// Every number of every record, exactly.
inline std::string TextOf(const std::vector<JobRecord>& records) {
  std::string text;
  for (const JobRecord& r : records) {
    text += fmt::format("{} {} {} {} {} {} {}\n", r.job, r.submit, r.first_start, r.finish,
                        r.gpu_seconds, r.preemptions, r.restarts);
  }
  return text;
}

}  // namespace allot::testing_support
