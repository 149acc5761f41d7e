#include "sim/start_plan.h"

#include "core/index.h"
#include "core/rng.h"

namespace allot {
namespace {

// A session is of jobs of one user, three on average, each within an hour of the one before.
constexpr Seconds kPause = 3600;
constexpr double kGoesOn = 2.0 / 3;

// A worker that fails at its start does so within half a minute or so.
constexpr Seconds kFailsAtOnce = 20;
constexpr Seconds kFailsMean = 20;  // and later by so much on average

}  // namespace

StartPlan::StartPlan(const FaultLaw& law, const Workload& workload, std::size_t nodes,
                     Seconds horizon, std::uint64_t seed)
    : faults_(law.starts().value()), seed_(seed) {
  bad_.reserve(nodes);
  for (std::size_t n = 0; n < nodes; ++n) bad_.push_back(law.OutagesOf(n, horizon, seed));
  FindBrokenJobs(workload);
}

void StartPlan::FindBrokenJobs(const Workload& workload) {
  struct Session {
    Seconds last = -kNever;
    bool broken = false;
  };
  std::vector<Session> of_user(workload.users.size());
  broken_.reserve(workload.jobs.size());
  for (const Job& job : workload.jobs) {
    Rng rng(seed_, "broken-sessions", broken_.size());
    const bool goes_on = rng.Uniform() < kGoesOn;
    const bool broken = rng.Uniform() < faults_.broken_sessions;
    if (job.user < 0) {  // nobody knows of another job of the same session
      broken_.push_back(broken);
      continue;
    }
    Session& session = of_user[At(job.user)];
    if (!goes_on || job.submit - session.last > kPause) session.broken = broken;
    session.last = job.submit;
    broken_.push_back(session.broken);
  }
}

const std::vector<Outage>& StartPlan::BadTimesOf(NodeIndex node) const { return bad_[At(node)]; }

Seconds StartPlan::FailsAfter(JobIndex job, std::int32_t number, std::size_t bad_nodes) const {
  Rng rng(seed_, "failed-starts", static_cast<std::uint64_t>(job),
          static_cast<std::uint64_t>(number));
  const Seconds after = kFailsAtOnce + rng.Exponential(kFailsMean);
  bool fails = rng.Uniform() < faults_.by_chance || IsBroken(job);
  for (std::size_t node = 0; node < bad_nodes; ++node) {
    fails = rng.Uniform() < faults_.of_bad_node || fails;
  }
  return fails ? after : kNever;
}

}  // namespace allot
