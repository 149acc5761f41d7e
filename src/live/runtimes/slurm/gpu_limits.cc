#include "live/runtimes/slurm/gpu_limits.h"

#include <fmt/format.h>

#include "clients/slurm/resources.h"
#include "core/index.h"
#include "live/runtimes/slurm/slurm_tags.h"

namespace allot {

void GpuLimits::Change(const SlurmLimits& limits) {
  limits_ = limits;
  qos_.clear();
  accounts_.clear();
  known_.clear();
  index_.clear();
  whole_.clear();
  shared_.clear();
  for (const SlurmQos& one : limits_.qos) qos_[one.name] = &one;
  for (const SlurmAssociation& one : limits_.associations) accounts_[one.account].push_back(&one);
}

bool GpuLimits::Read(const SlurmSnapshot& snapshot) {
  const bool changed = !(snapshot.limits == limits_);
  if (changed) Change(snapshot.limits);
  if (limits_.qos.empty() && limits_.associations.empty()) return changed;
  for (std::size_t i = 0; i < shared_.size(); ++i) shared_[i].gpus = whole_[i];
  for (const auto& record : snapshot.jobs) {
    const SlurmJob& job = *record;
    if (job.gpus_on.empty() || job.over() || ParseWorkerTag(job.admin_comment) ||
        ParseJobTag(job.admin_comment)) {
      continue;
    }
    GpuCount held = 0;
    for (const auto& [node, gres] : job.gpus_on) {
      for (const SlurmGpuType& gpus : GpuTypesOfGres(gres)) held += gpus.count;
    }
    for (const std::int32_t limit : LimitsOf(job).shared) shared_[At(limit)].gpus -= held;
  }
  return changed;
}

void GpuLimits::Limit(const SlurmJob& slurm, RuntimeJob* job) {
  job->free_account = accounts_.empty();
  if (qos_.empty() && accounts_.empty()) return;
  const Of& of = LimitsOf(slurm);
  job->limited_by = of.shared;
  job->at_most = of.a_job;
}

const GpuLimits::Of& GpuLimits::LimitsOf(const SlurmJob& slurm) {
  const auto [known, is_new] =
      known_.try_emplace(fmt::format("{}\n{}\n{}", slurm.account, slurm.user, slurm.qos));
  Of& of = known->second;
  if (!is_new) return of;
  const auto qos = qos_.find(slurm.qos);
  if (qos != qos_.end()) OfQos(*qos->second, slurm, &of);
  OfAssociations(slurm, qos == qos_.end() || !qos->second->together, &of);
  return of;
}

void GpuLimits::OfQos(const SlurmQos& qos, const SlurmJob& slurm, Of* of) {
  Share(fmt::format("QOS {} (GrpTRES)", qos.name), qos.together, of);
  Share(fmt::format("user {} in QOS {} (MaxTRESPerUser)", slurm.user, qos.name), qos.a_user, of);
  Share(fmt::format("account {} in QOS {} (MaxTRESPerAccount)", slurm.account, qos.name),
        qos.an_account, of);
  if (qos.a_job) of->a_job = {*qos.a_job, fmt::format("MaxTRESPerJob of QOS {}", qos.name)};
}

// The user's own in the account, then the account, and those above it. `together`: their GrpTRES
// hold, too.
void GpuLimits::OfAssociations(const SlurmJob& slurm, bool together, Of* of) {
  const auto take = [&](const SlurmAssociation& one, const std::string& name) {
    if (together) Share(name + " (GrpTRES)", one.together, of);
    if (!of->a_job && one.a_job) of->a_job = {*one.a_job, "MaxTRESPerJob of " + name};
  };
  std::string account = slurm.account;
  for (std::size_t above = 0; above <= accounts_.size(); ++above) {  // no circle holds it up
    const auto found = accounts_.find(account);
    if (found == accounts_.end()) return;
    const SlurmAssociation* all = nullptr;
    for (const SlurmAssociation* one : found->second) {
      if (!one->partition.empty() && one->partition != partition_) continue;
      if (one->user.empty()) all = one;
      if (one->user == slurm.user && above == 0) {
        take(*one, fmt::format("user {} of account {}", one->user, account));
      }
    }
    if (all == nullptr) return;
    take(*all, fmt::format("account {}", account));
    account = all->parent;
  }
}

void GpuLimits::Share(const std::string& name, std::optional<int> gpus, Of* of) {
  if (!gpus) return;
  const auto [known, is_new] = index_.try_emplace(name, static_cast<std::int32_t>(shared_.size()));
  if (is_new) {
    whole_.push_back(*gpus);
    shared_.push_back({name, *gpus});
  }
  of->shared.push_back(known->second);
}

}  // namespace allot
