#include "cluster/validate.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "cluster/free_map.h"
#include "core/index.h"

namespace allot {
namespace {

// What has been seen so far of one job and one node. A stamp that is not the present call's means
// "nothing", so that a call touches only what its allocation names.
struct JobUse {
  std::int32_t row = 0;       // a guess: its row at the last look
  std::int32_t entry = 0;     // where partners are looked for: its entry, if it was listed
  std::uint64_t entered = 0;  // stamp: an entry names it
};
struct NodeUse {
  std::uint64_t stamp = 0;
  std::uint64_t gpus = 0;
  std::int32_t cpus = 0;
  std::int64_t memory_mb = 0;
};

// Kept per thread: no allocation once it has grown to the cluster and the workload.
struct Scratch {
  std::uint64_t stamp = 0;
  std::vector<JobUse> jobs;           // by JobIndex
  std::vector<std::uint64_t> listed;  // by JobIndex, where partners are looked for: stamp
  std::vector<NodeUse> nodes;         // by NodeIndex
};

// False, with the reason kept: a Status costs something even where all is well.
class Refusal {
 public:
  template <typename... Args>
  bool Refuse(fmt::format_string<Args...> rule, Args&&... args) {
    refused_ = Status::Refused(rule, std::forward<Args>(args)...);
    return false;
  }
  Status Take() { return std::move(refused_); }

 private:
  Status refused_ = Status::Ok();
};

// Of an entry by itself: that it names a configuration of the job, and shares that are one.
class EntryRules {
 public:
  EntryRules(const Observation& o, const Allocation& allocation, Refusal* refusal)
      : o_(o), cluster_(*o.cluster), allocation_(allocation), refusal_(*refusal) {}

  bool Hold(const Allocation::Entry& entry, std::int32_t row) {
    const ConfigurationTable& table = *o_.table[At(row)];
    if (entry.configuration < 0 || entry.configuration >= table.size()) {
      return refusal_.Refuse("job {}: configuration {} is not in its table '{}', which has {}",
                             entry.job, entry.configuration, table.name(), table.size());
    }
    const Configuration& configuration = table[entry.configuration];
    if (!table.Allocatable(entry.configuration)) {
      return refusal_.Refuse("job {}: at most {} units of each kind, configuration {} has {}",
                             entry.job, fmt::join(table.limits().counts(), " and "),
                             entry.configuration, fmt::join(configuration.units.counts(), " and "));
    }
    if ((configuration.partner == kNoPartner) != (entry.partner == kAlone)) {
      return RefusePartner(entry, table, configuration);
    }
    std::array<std::int64_t, kMaxUnitKinds> held{};
    for (const NodeShare& share : allocation_.shares(entry)) {
      if (!CheckShare(entry, table, configuration, share)) return false;
      for (std::size_t kind = 0; kind < held.size(); ++kind) held[kind] += share.units.of(kind);
    }
    for (std::size_t kind = 0; kind < table.kinds().size(); ++kind) {
      if (held[kind] != configuration.units.of(kind)) {
        return refusal_.Refuse(
            "job {}: its shares must add up to configuration {}: {} '{}', got {}", entry.job,
            entry.configuration, configuration.units.of(kind), table.kinds()[kind].name,
            held[kind]);
      }
    }
    return configuration.span.any() || CheckSpan(entry, configuration.span);
  }

 private:
  bool CheckShare(const Allocation::Entry& entry, const ConfigurationTable& table,
                  const Configuration& configuration, const NodeShare& share) {
    const auto nodes = static_cast<std::int32_t>(cluster_.nodes().size());
    if (share.node < 0 || share.node >= nodes) {
      return refusal_.Refuse("job {}: node {} does not exist, the cluster has {} (from 0)",
                             entry.job, share.node, nodes);
    }
    const GpuTypeIndex type = cluster_.nodes()[At(share.node)].type;
    if (type != configuration.gpu_type) {
      return refusal_.Refuse("job {}: configuration {} runs on '{}', node {} has '{}'", entry.job,
                             entry.configuration, TypeName(configuration.gpu_type), share.node,
                             TypeName(type));
    }
    for (std::size_t kind = 0; kind < kMaxUnitKinds; ++kind) {
      const bool exists = kind < table.kinds().size();
      if (share.units.of(kind) < 0 || (!exists && share.units.of(kind) != 0)) {
        return refusal_.Refuse(
            "job {}: a share holds >= 0 units of each of its {} kinds, got {} of kind "
            "{} on node {}",
            entry.job, table.kinds().size(), share.units.of(kind), kind, share.node);
      }
    }
    const std::uint64_t present = cluster_.gpu_masks()[At(share.node)];
    if (const std::uint64_t absent = share.gpus & ~present; absent != 0) {
      return refusal_.Refuse("job {}: GPU {} of node {} does not exist, the node has {} (from 0)",
                             entry.job, std::countr_zero(absent), share.node,
                             std::popcount(present));
    }
    const Resources demand = DemandOf(table.kinds(), share.units);
    if (std::popcount(share.gpus) != demand.gpus) {
      return refusal_.Refuse("job {}: its units on node {} need {} GPUs, {} are named", entry.job,
                             share.node, demand.gpus, std::popcount(share.gpus));
    }
    return true;
  }

  bool CheckSpan(const Allocation::Entry& entry, const Span& span) {
    const auto shares = allocation_.shares(entry);
    std::size_t nodes = 0;
    for (std::size_t s = 0; s < shares.size(); ++s) {
      const auto same = [&](const NodeShare& other) { return other.node == shares[s].node; };
      if (std::none_of(shares.begin(), shares.begin() + static_cast<std::ptrdiff_t>(s), same)) {
        ++nodes;
      }
    }
    if (span.Holds(nodes)) return true;
    return refusal_.Refuse("job {}: configuration {} spans {} nodes, its shares lie on {}",
                           entry.job, entry.configuration, TextOf(span), nodes);
  }

  bool RefusePartner(const Allocation::Entry& entry, const ConfigurationTable& table,
                     const Configuration& configuration) {
    if (configuration.partner == kNoPartner) {
      return refusal_.Refuse(
          "job {}: configuration {} is of a job alone on its GPUs, partner {} "
          "is named",
          entry.job, entry.configuration, entry.partner);
    }
    return refusal_.Refuse(
        "job {}: configuration {} shares its GPUs with a '{}', no partner is "
        "named",
        entry.job, entry.configuration,
        table.partners()[static_cast<std::size_t>(configuration.partner)]);
  }

  const std::string& TypeName(GpuTypeIndex type) const { return cluster_.types()[At(type)]; }

  const Observation& o_;
  const ClusterSpec& cluster_;
  const Allocation& allocation_;
  Refusal& refusal_;
};

class Validation {
 public:
  Validation(const Observation& observation, const Allocation& allocation, Scratch* scratch)
      : o_(observation),
        cluster_(*observation.cluster),
        allocation_(allocation),
        rules_(observation, allocation, &refusal_),
        scratch_(*scratch) {}

  Status Run() {
    ++scratch_.stamp;
    if (scratch_.nodes.size() < cluster_.nodes().size()) {
      scratch_.nodes.resize(cluster_.nodes().size());
    }
    if (allocation_.has_partners()) ListEntries();
    for (const Allocation::Entry& entry : allocation_.entries()) {
      if (!CheckEntry(entry)) break;
    }
    return refusal_.Take();
  }

 private:
  // Whether the job is a row, and the guess is that row.
  bool Known(JobIndex job) const {
    if (job < 0 || At(job) >= scratch_.jobs.size()) return false;
    const std::int32_t row = scratch_.jobs[At(job)].row;
    return row < o_.rows() && o_.job[At(row)] == job;
  }

  // Rows move when one before them goes: looks at all of them.
  bool FoundAnew(JobIndex job) {
    for (std::int32_t row = 0; row < o_.rows(); ++row) {
      const JobIndex each = o_.job[At(row)];
      if (At(each) >= scratch_.jobs.size()) scratch_.jobs.resize(At(each) + 1);
      scratch_.jobs[At(each)].row = row;
    }
    return Known(job);
  }

  bool CheckEntry(const Allocation::Entry& entry) {
    if (!Known(entry.job) && !FoundAnew(entry.job)) {
      return refusal_.Refuse("job {}: only unfinished jobs can be allocated, it is none of the {}",
                             entry.job, o_.rows());
    }
    JobUse& use = scratch_.jobs[At(entry.job)];
    if (use.entered == scratch_.stamp) {
      return refusal_.Refuse(
          "job {}: a job is allocated once, configuration {} follows an earlier one", entry.job,
          entry.configuration);
    }
    use.entered = scratch_.stamp;
    if (entry.partner != kAlone && !CheckPartner(entry, use.row)) return false;
    // What a job holds was legal when it was given: only others can be in its way.
    if (!HoldsAlready(o_, use.row, allocation_, entry) && !rules_.Hold(entry, use.row)) {
      return false;
    }
    const std::vector<UnitKind>& kinds = o_.table[At(use.row)]->kinds();
    const auto shares = allocation_.shares(entry);
    return std::all_of(shares.begin(), shares.end(), [&](const NodeShare& share) {
      return Take(entry, share, DemandOf(kinds, share.units));
    });
  }

  // The entry of each job that has one.
  void ListEntries() {
    scratch_.listed.resize(scratch_.jobs.size());
    for (std::size_t e = 0; e < allocation_.entries().size(); ++e) {
      const JobIndex job = allocation_.entries()[e].job;
      if (!Known(job) && !FoundAnew(job)) continue;
      scratch_.jobs[At(job)].entry = static_cast<std::int32_t>(e);
      if (scratch_.listed.size() < scratch_.jobs.size()) {
        scratch_.listed.resize(scratch_.jobs.size());
      }
      scratch_.listed[At(job)] = scratch_.stamp;
    }
  }

  bool CheckPartner(const Allocation::Entry& entry, std::int32_t row) {
    const bool known = entry.partner >= 0 && At(entry.partner) < scratch_.listed.size();
    if (!known || scratch_.listed[At(entry.partner)] != scratch_.stamp) {
      return refusal_.Refuse("job {}: its partner {} is none of the {} jobs that are allocated",
                             entry.job, entry.partner, allocation_.entries().size());
    }
    const JobUse& use = scratch_.jobs[At(entry.partner)];
    const Allocation::Entry& other = allocation_.entries()[At(use.entry)];
    if (other.partner != entry.job || other.job == entry.job) {
      return refusal_.Refuse("job {}: partners name each other, its partner {} names {}", entry.job,
                             entry.partner, other.partner);
    }
    const auto shares = allocation_.shares(entry);
    const auto others = allocation_.shares(other);
    const bool same = std::equal(shares.begin(), shares.end(), others.begin(), others.end(),
                                 [](const NodeShare& a, const NodeShare& b) {
                                   return a.node == b.node && a.gpus == b.gpus;
                                 });
    if (!same) {
      return refusal_.Refuse(
          "job {}: partners hold the same GPUs of the same nodes in the same order, it has {} "
          "shares and its partner {} has {} others",
          entry.job, shares.size(), entry.partner, others.size());
    }
    const ConfigurationTable& table = *o_.table[At(row)];
    if (entry.configuration < 0 || entry.configuration >= table.size()) return true;  // said below
    const std::int16_t partner = table[entry.configuration].partner;
    if (partner == kNoPartner) return true;  // said below
    const std::string& wanted = table.partners()[static_cast<std::size_t>(partner)];
    const std::string& given = o_.table[At(use.row)]->name();
    if (wanted == given) return true;
    return refusal_.Refuse(
        "job {}: configuration {} shares its GPUs with a '{}', partner {} is a "
        "'{}'",
        entry.job, entry.configuration, wanted, entry.partner, given);
  }

  // Whether the other of a pair has taken their GPUs.
  bool PartnerTook(const Allocation::Entry& entry) const {
    return entry.partner != kAlone && scratch_.jobs[At(entry.partner)].entered == scratch_.stamp;
  }

  bool Take(const Allocation::Entry& entry, const NodeShare& share, const Resources& demand) {
    NodeUse& use = scratch_.nodes[At(share.node)];
    if (use.stamp != scratch_.stamp) use = {scratch_.stamp, 0, 0, 0};
    if (const std::uint64_t taken = share.gpus & use.gpus; taken != 0 && !PartnerTook(entry)) {
      const int gpu = std::countr_zero(taken);
      return refusal_.Refuse("job {}: GPU {} of node {} is given twice, first to job {}", entry.job,
                             gpu, share.node, FirstOwner(share.node, gpu));
    }
    const std::int32_t cpus = cluster_.cpus()[At(share.node)];
    if (use.cpus + demand.cpus > cpus) {
      return refusal_.Refuse("job {}: node {} has {} CPUs, its jobs would hold {}", entry.job,
                             share.node, cpus, use.cpus + demand.cpus);
    }
    if (demand.memory_mb > 0) {
      const std::int64_t memory = cluster_.nodes()[At(share.node)].capacity.memory_mb;
      if (use.memory_mb + demand.memory_mb > memory) {
        return refusal_.Refuse("job {}: node {} has {} MB of memory, its jobs would hold {}",
                               entry.job, share.node, memory, use.memory_mb + demand.memory_mb);
      }
    }
    use.gpus |= share.gpus;
    use.cpus += demand.cpus;
    use.memory_mb += demand.memory_mb;
    return true;
  }

  // For messages only.
  JobIndex FirstOwner(NodeIndex node, int gpu) const {
    for (const Allocation::Entry& entry : allocation_.entries()) {
      for (const NodeShare& share : allocation_.shares(entry)) {
        if (share.node == node && (share.gpus >> gpu & 1U) != 0) return entry.job;
      }
    }
    return -1;
  }

  const Observation& o_;
  const ClusterSpec& cluster_;
  const Allocation& allocation_;
  Refusal refusal_;
  EntryRules rules_;
  Scratch& scratch_;
};

}  // namespace

Status ValidateAllocation(const Observation& observation, const Allocation& allocation) {
  static thread_local Scratch scratch;
  return Validation(observation, allocation, &scratch).Run();
}

Status ValidateEntry(const Observation& observation, std::int32_t row, const Allocation& allocation,
                     const Allocation::Entry& entry) {
  Refusal refusal;
  EntryRules(observation, allocation, &refusal).Hold(entry, row);
  return refusal.Take();
}

}  // namespace allot
