#include "live/port/limited_sizes.h"

#include <algorithm>
#include <optional>

#include "core/index.h"

namespace allot {
namespace {

// Of its table: rules may allow no smaller one.
GpuCount LeastOf(const LiveJob& job) {
  GpuCount least = job.asked->max_gpus;
  for (const Configuration& one : job.table->configurations()) {
    least = std::min(least, one.demand.gpus);
  }
  return least;
}

// It may begin now, but for limits.
bool Waits(const LiveJob& job, const PendingPlacements& pending) {
  return job.fits() && job.table != nullptr && job.asked->state == JobState::kActive &&
         !pending.BacksOff(job);
}

struct Part {
  const LiveJob* job = nullptr;
  GpuCount most = 0;
  GpuCount limit = 0;  // of its own
};

// What is left of each limit, and who has what of it.
class Shares {
 public:
  Shares(const std::vector<SharedLimit>& limits, std::vector<GpuCount> free)
      : limits_(limits), free_(std::move(free)) {
    left_.reserve(limits.size());
    for (const SharedLimit& limit : limits) left_.push_back(limit.gpus);
  }

  void Keep(const LiveJob& job, GpuCount gpus) {
    for (const std::int32_t of : job.asked->limited_by) left_[At(of)] -= gpus;
  }

  // The limit that has no room, for people.
  std::optional<std::string> WhyNot(const LiveJob& job, GpuCount gpus) const {
    if (gpus > MostOf(job)) {
      return fmt::format("a job may have {} GPUs ({})", job.asked->at_most->gpus,
                         job.asked->at_most->by);
    }
    for (const std::int32_t of : job.asked->limited_by) {
      if (gpus <= left_[At(of)]) continue;
      return fmt::format("{}: {} GPUs together, {} left", limits_[At(of)].name,
                         limits_[At(of)].gpus, std::max(0, left_[At(of)]));
    }
    return std::nullopt;
  }

  static GpuCount MostOf(const LiveJob& job) {
    const auto& own = job.asked->at_most;
    return own ? std::min(job.asked->max_gpus, own->gpus) : job.asked->max_gpus;
  }

  // Of a type that the job accepts.
  GpuCount FreeFor(const LiveJob& job) const {
    GpuCount most = 0;
    for (const GpuTypeIndex type : job.table->types()) most = std::max(most, free_[At(type)]);
    return most;
  }
  void TakeFree(const LiveJob& job, GpuCount gpus) {
    for (const GpuTypeIndex type : job.table->types()) {
      free_[At(type)] = std::max(0, free_[At(type)] - gpus);
    }
  }

  bool HasRoom(const LiveJob& job) const {
    return std::all_of(job.asked->limited_by.begin(), job.asked->limited_by.end(),
                       [this](std::int32_t of) { return left_[At(of)] > 0; });
  }

 private:
  const std::vector<SharedLimit>& limits_;
  std::vector<GpuCount> left_;
  std::vector<GpuCount> free_;  // by type
};

// The most that the job may begin with, or nothing: it is a newcomer that may not begin.
std::optional<GpuCount> MostToBegin(const LiveJob& job, const Newcomers* newcomers, Shares* shares,
                                    JobTable* table) {
  if (newcomers == nullptr || !Newcomers::Has(job)) return Shares::MostOf(job);
  const GpuCount least = LeastOf(job);
  const GpuCount free = shares->FreeFor(job);
  table->SetBeyond(job, newcomers->WhyNot(job, least, free));
  if (job.beyond) return std::nullopt;
  const GpuCount most = std::min(Shares::MostOf(job), std::max(least, free));
  shares->TakeFree(job, most);
  return most;
}

// One GPU each in turn, while there is room for any.
void Grow(std::vector<Part> growing, Shares* shares, JobTable* table) {
  while (!growing.empty()) {
    std::vector<Part> more;
    more.reserve(growing.size());
    for (const Part& part : growing) {
      const bool grows = part.most < part.limit && shares->HasRoom(*part.job);
      if (grows) {
        shares->Keep(*part.job, 1);
        more.push_back({part.job, part.most + 1, part.limit});
      } else {
        table->SetMost(*part.job, part.most);
      }
    }
    growing = std::move(more);
  }
}

}  // namespace

void ShareLimits(const std::vector<SharedLimit>& limits, const std::vector<GpuCount>& free,
                 const PendingPlacements& pending, const Newcomers* newcomers, JobTable* table) {
  Shares shares(limits, free);
  std::vector<Part> growing;
  std::vector<Part> waiting;
  for (const LiveJob* job : table->active()) {
    table->SetBeyond(*job, std::nullopt);
    const bool limited = job->asked->at_most || !job->asked->limited_by.empty();
    if (job->over) continue;
    if (job->running >= 0) {
      const GpuCount held = job->given();
      shares.Keep(*job, held);
      if (!pending.MayGrow(*job) || (newcomers != nullptr && Newcomers::Has(*job))) {
        table->SetMost(*job, held);
      } else if (limited && !job->fixed()) {
        growing.push_back({job, held, Shares::MostOf(*job)});
      } else {
        table->SetMost(*job, std::nullopt);
      }
    } else if (!Waits(*job, pending)) {
      table->SetMost(*job, std::nullopt);
    } else if (const auto most = MostToBegin(*job, newcomers, &shares, table)) {
      if (limited) {
        waiting.push_back({job, 0, *most});
      } else {
        table->SetMost(*job, *most);
      }
    }
  }
  std::stable_sort(waiting.begin(), waiting.end(), [](const Part& a, const Part& b) {
    return a.job->asked->priority > b.job->asked->priority;
  });
  for (Part& part : waiting) {
    part.most = LeastOf(*part.job);
    table->SetBeyond(*part.job, shares.WhyNot(*part.job, part.most));
    if (part.job->beyond) continue;
    shares.Keep(*part.job, part.most);
    growing.push_back(part);
  }
  Grow(std::move(growing), &shares, table);
}

}  // namespace allot
