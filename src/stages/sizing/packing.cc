// Tetris (Grandl et al., SIGCOMM'14, sections 3.2 and 3.3) for jobs that start whole: the waiting
// job with the best score gets its requested size, until none fits. The score is the alignment of
// its demand with what is free (their dot product, as shares of the GPU type's totals) less
// remaining work (shares x seconds) weighted with the ratio of the means of the two, so that both
// count alike. Tasks run to their end: a running job keeps what it has.
//
// Jobs of one table and size differ in their remaining work only: O(n log n) for n jobs and
// O(groups) a grant.

#include <algorithm>
#include <unordered_map>

#include "length_model/remaining.h"
#include "sched/stages.h"
#include "stages/fill/capacity.h"

namespace allot {
namespace {

class Packing : public Sizing {
 public:
  void Size(const Observation& o, std::span<const std::int32_t> order, std::span<const double>,
            std::vector<Grant>* grants) override {
    capacity_.Reset(*o.cluster);
    for (const std::int32_t row : order) {
      const auto r = static_cast<std::size_t>(row);
      if (o.running[r] < 0) continue;
      capacity_.Take((*o.table[r])[o.running[r]]);
      grants->push_back({row, o.running[r]});
    }
    GroupWaiting(o, order);
    while (waiting_ > 0 && !capacity_.Exhausted()) {
      Group* best = Best(o);
      if (best == nullptr) return;
      const Waiting& job = best->jobs.back();
      capacity_.Take((*best->table)[best->candidate]);
      grants->push_back({job.row, best->candidate});
      work_ -= job.work;
      --waiting_;
      best->jobs.pop_back();
    }
  }

 private:
  struct Waiting {
    double work;
    JobIndex job;
    std::int32_t row;
  };
  struct Group {
    const ConfigurationTable* table;
    std::int32_t requested;
    std::vector<Waiting> jobs;    // least work last
    std::int32_t candidate = -1;  // what its jobs can have now
    double alignment = 0;
  };

  static double Share(std::int32_t part, std::int32_t whole) {
    return whole > 0 ? static_cast<double>(part) / whole : 0;
  }

  // Groups in the order of their first jobs, which does not depend on the order of rows.
  void GroupWaiting(const Observation& o, std::span<const std::int32_t> order) {
    groups_.clear();
    group_of_.clear();
    waiting_ = 0;
    work_ = 0;
    for (const std::int32_t row : order) {
      const auto r = static_cast<std::size_t>(row);
      if (o.running[r] >= 0) continue;
      const Configuration& asked = (*o.table[r])[o.requested[r]];
      const auto [at, added] = group_of_.try_emplace(&asked, groups_.size());
      if (added) groups_.push_back({o.table[r], o.requested[r], {}});
      const Resources& total = o.cluster->total_of(asked.gpu_type);
      const double shares =
          Share(asked.demand.gpus, total.gpus) + Share(asked.demand.cpus, total.cpus);
      const double work = shares * AssumedRemaining(o, row) / asked.rate;
      groups_[at->second].jobs.push_back({work, o.job[r], row});
      work_ += work;
      ++waiting_;
    }
    for (Group& group : groups_) {
      std::sort(group.jobs.begin(), group.jobs.end(), [](const Waiting& a, const Waiting& b) {
        return a.work != b.work ? a.work > b.work : a.job > b.job;
      });
    }
  }

  // What the group's jobs can have now, on the fastest type with room, and how that aligns.
  void Align(const Observation& o, Group* group) const {
    const ConfigurationTable& table = *group->table;
    group->candidate = -1;
    group->alignment = 0;
    for (const GpuTypeIndex type : table.types()) {
      const std::int32_t candidate = table.OnType(group->requested, type);
      if (candidate < 0 || !capacity_.Fits(table[candidate])) continue;
      const Resources& demand = table[candidate].demand;
      const Resources& free = capacity_.free(type);
      const Resources& total = o.cluster->total_of(type);
      group->candidate = candidate;
      group->alignment = Share(demand.gpus, total.gpus) * Share(free.gpus, total.gpus) +
                         Share(demand.cpus, total.cpus) * Share(free.cpus, total.cpus);
      return;
    }
  }

  Group* Best(const Observation& o) {
    double alignment = 0;
    for (Group& group : groups_) {
      if (group.jobs.empty()) continue;
      Align(o, &group);
      alignment += group.alignment * static_cast<double>(group.jobs.size());
    }
    const double weight = work_ > 0 ? alignment / work_ : 0;
    Group* best = nullptr;
    double best_score = 0;
    for (Group& group : groups_) {
      if (group.jobs.empty() || group.candidate < 0) continue;
      const double score = group.alignment - weight * group.jobs.back().work;
      const bool better = best == nullptr || score > best_score ||
                          (score == best_score && group.jobs.back().job < best->jobs.back().job);
      if (!better) continue;
      best = &group;
      best_score = score;
    }
    return best;
  }

  TypeCapacity capacity_;
  std::vector<Group> groups_;
  std::unordered_map<const Configuration*, std::size_t> group_of_;
  std::int64_t waiting_ = 0;
  double work_ = 0;  // of all that wait
};

ALLOT_REGISTER(SizingInfo, ([] {
                 SizingInfo info;
                 info.id = "packing";
                 info.summary =
                     "the requested size by alignment with what is free, and shortness (Tetris)";
                 info.needs_lengths = true;
                 info.make = [](const Params&) { return std::make_unique<Packing>(); };
                 return info;
               }()));

}  // namespace
}  // namespace allot
