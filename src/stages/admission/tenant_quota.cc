// A quota of GPUs for each tenant (Philly's virtual clusters; Jeon et al., ATC'19):
// its jobs enter in order of submission while all inside together ask for at most so many. One that
// asks for more than the quota alone enters when it is its tenant's oldest. Jobs of no known tenant
// have no quota. Quotas may differ (a file); a tenant that is not in the file has the common one.
//
// Which jobs are in depends only on the order of submission: a job that is in stays in until it
// ends.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "sched/policy.h"
#include "sched/stages.h"
#include "workload/quotas.h"

namespace allot {
namespace {

class TenantQuota : public Admission {
 public:
  TenantQuota(GpuCount gpus, const std::string& file, Quotas quotas)
      : gpus_(gpus), file_(file), quotas_(std::move(quotas)) {}

  void OnEpisodeStart(const EpisodeContext& context) override {
    of_tenant_.clear();
    if (quotas_.empty()) return;
    if (context.tenants == nullptr) {
      throw UsageError(
          "admission 'tenant-quota': quotas of '{}' go by tenants' names, which this run "
          "does not tell",
          file_);
    }
    for (const std::string& tenant : *context.tenants) {
      const auto known = quotas_.find(tenant);
      of_tenant_.push_back(known == quotas_.end() ? gpus_ : known->second);
    }
  }

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
      // A job that does not fit blocks later jobs of its tenant: their sum is over the quota too.
      const bool first = asked_[tenant] == 0;
      asked_[tenant] += (*o.table[r])[o.requested[r]].demand.gpus;
      const std::int64_t quota = tenant < of_tenant_.size() ? of_tenant_[tenant] : gpus_;
      if (first || asked_[tenant] <= quota) rows->push_back(row);
    }
    std::sort(rows->begin(), rows->end());
  }

 private:
  std::int64_t gpus_;
  std::string file_;  // for messages
  Quotas quotas_;
  std::vector<std::int64_t> of_tenant_;  // where quotas differ
  std::vector<std::int32_t> by_job_;
  std::vector<std::int64_t> asked_;  // by tenant
};

ALLOT_REGISTER(
    AdmissionInfo, ([] {
      AdmissionInfo info;
      info.id = "tenant-quota";
      info.summary =
          "of each tenant the first jobs in order, while they request at most `gpus` GPUs";
      info.params = {{"gpus", "64", "GPUs that one tenant may request", 1, 1e9},
                     FileParam({"file", "", "CSV of tenants and their GPUs, if they differ"})};
      info.make = [](const Params& params) {
        return std::make_unique<TenantQuota>(params.Integer("gpus"), params.Text("file"),
                                             QuotasOf(params, "file"));
      };
      return info;
    }()));

}  // namespace
}  // namespace allot
