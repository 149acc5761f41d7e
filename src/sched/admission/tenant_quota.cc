// A quota of GPUs for each tenant (Philly's virtual clusters; Jeon et al., ATC'19):
// its jobs enter in order of submission while all inside together ask for at most so many. One that
// asks for more than the quota alone enters when it is its tenant's oldest. Jobs of no known tenant
// have no quota.
//
// Who is inside follows from the order of submission alone: a job that is in stays in until it
// ends.

#include <algorithm>
#include <vector>

#include "sched/stages.h"

namespace allot {
namespace {

class TenantQuota : public Admission {
 public:
  explicit TenantQuota(GpuCount gpus) : gpus_(gpus) {}

  void Admit(const Observation& o, std::vector<std::int32_t>* rows) override {
    by_job_.resize(static_cast<std::size_t>(o.rows()));
    for (std::int32_t row = 0; row < o.rows(); ++row) by_job_[static_cast<std::size_t>(row)] = row;
    const auto earlier = [&o](std::int32_t a, std::int32_t b) {
      return o.job[static_cast<std::size_t>(a)] < o.job[static_cast<std::size_t>(b)];
    };
    if (!std::is_sorted(by_job_.begin(), by_job_.end(), earlier)) {
      std::sort(by_job_.begin(), by_job_.end(), earlier);
    }
    asked_.assign(asked_.size(), 0);
    for (const std::int32_t row : by_job_) {
      const auto r = static_cast<std::size_t>(row);
      if (o.tenant[r] < 0) {
        rows->push_back(row);
        continue;
      }
      const auto tenant = static_cast<std::size_t>(o.tenant[r]);
      if (tenant >= asked_.size()) asked_.resize(tenant + 1, 0);
      // Whoever does not fit holds up his tenant's later jobs: their sum is over the quota too.
      const bool first = asked_[tenant] == 0;
      asked_[tenant] += (*o.table[r])[o.requested[r]].demand.gpus;
      if (first || asked_[tenant] <= gpus_) rows->push_back(row);
    }
    std::sort(rows->begin(), rows->end());
  }

 private:
  std::int64_t gpus_;
  std::vector<std::int32_t> by_job_;
  std::vector<std::int64_t> asked_;  // by tenant
};

ALLOT_REGISTER(AdmissionInfo, ([] {
                 AdmissionInfo info;
                 info.id = "tenant-quota";
                 info.summary = "of each tenant, in order, jobs that ask for at most `gpus` GPUs";
                 info.params = {{"gpus", "64", "GPUs that one tenant may ask for", 1, 1e9}};
                 info.make = [](const Params& params) {
                   return std::make_unique<TenantQuota>(params.Integer("gpus"));
                 };
                 return info;
               }()));

}  // namespace
}  // namespace allot
