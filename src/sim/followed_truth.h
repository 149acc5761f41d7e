#pragma once
// Beliefs that follow the truth up to a factor that is each configuration's own: what "exact" (1)
// and "noisy" share. Jobs of equal table show one table, jobs with a process of their own one each,
// renewed when their rates change.

#include <functional>
#include <map>
#include <memory>

#include "sim/belief.h"
#include "sim/scenario.h"

namespace allot {

class FollowedTruth : public Belief {
 public:
  // `factor`: of a configuration's rate; null: 1.
  using Factor = std::function<double(const ConfigurationTable&, std::int32_t configuration)>;
  FollowedTruth(const Scenario& scenario, Factor factor);

  const ConfigurationTable* TableOf(JobIndex job) override;
  void Forget(JobIndex job) override { own_.erase(job); }
  bool See(const Sight& sight) override;
  Seconds sight_after() const override { return scenario_.has_processes() ? 0 : kNever; }

 private:
  // What is believed of the job at this point; false where the table says so already.
  bool Renew(JobIndex job, double done, ConfigurationTable* table) const;

  const Scenario& scenario_;
  Factor factor_;
  std::map<const ConfigurationTable*, std::unique_ptr<ConfigurationTable>> shared_;
  std::map<JobIndex, std::unique_ptr<ConfigurationTable>> own_;  // of jobs with a process
};

}  // namespace allot
