#pragma once
// Beliefs that follow the truth up to a factor that is each configuration's own: what "exact" (1),
// "noisy" and "completed" share. Jobs of equal table show one table, jobs with a process of their
// own one each: the rates of its configurations at the state of its training, renewed when that
// changes.

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "sim/belief.h"
#include "sim/scenario.h"

namespace allot {

class FollowedTruth : public Belief {
 public:
  // `factor`: of a configuration's rate in jobs that name a profile; null: 1.
  using Factor = std::function<double(const ConfigurationTable&, std::int32_t configuration)>;
  FollowedTruth(const Scenario& scenario, Factor factor);

  const ConfigurationTable* TableOf(JobIndex job) override;
  void Forget(JobIndex job) override { own_.erase(job); }
  bool Take(const RateMeasurement& measured) override;
  Seconds measured_after() const override { return scenario_.has_processes() ? 0 : kNever; }

 protected:
  // Renews the table of a job with a process at this point of its training, also where only the
  // factor changed. False where the table says so already.
  bool RenewAt(JobIndex job, double done);

 private:
  struct Own {
    std::unique_ptr<ConfigurationTable> table;
    double from = 0;  // done work between which its rates hold
    double until = 0;
  };
  bool HasFactor(JobIndex job) const;
  // What is believed of the job at this point of its training, and until which.
  std::vector<double> RatesAt(JobIndex job, double done, double* until) const;

  const Scenario& scenario_;
  Factor factor_;
  std::map<const ConfigurationTable*, std::unique_ptr<ConfigurationTable>> shared_;
  std::map<JobIndex, Own> own_;  // of jobs with a process
};

}  // namespace allot
