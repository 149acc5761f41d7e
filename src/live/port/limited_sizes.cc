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
};

// What is left of each limit, and who has what of it.
class Shares {
 public:
  explicit Shares(const std::vector<SharedLimit>& limits) : limits_(limits) {
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

  bool HasRoom(const LiveJob& job) const {
    return std::all_of(job.asked->limited_by.begin(), job.asked->limited_by.end(),
                       [this](std::int32_t of) { return left_[At(of)] > 0; });
  }

 private:
  const std::vector<SharedLimit>& limits_;
  std::vector<GpuCount> left_;
};

// One GPU each in turn, while there is room for any.
void Grow(std::vector<Part> growing, Shares* shares, JobTable* table) {
  while (!growing.empty()) {
    std::vector<Part> more;
    more.reserve(growing.size());
    for (const Part& part : growing) {
      const bool grows = part.most < Shares::MostOf(*part.job) && shares->HasRoom(*part.job);
      if (grows) {
        shares->Keep(*part.job, 1);
        more.push_back({part.job, part.most + 1});
      } else {
        table->SetMost(*part.job, part.most);
      }
    }
    growing = std::move(more);
  }
}

}  // namespace

void ShareLimits(const std::vector<SharedLimit>& limits, const PendingPlacements& pending,
                 JobTable* table) {
  Shares shares(limits);
  std::vector<Part> growing;
  std::vector<const LiveJob*> waiting;
  for (const LiveJob* job : table->active()) {
    table->SetBeyond(*job, std::nullopt);
    const bool limited = job->asked->at_most || !job->asked->limited_by.empty();
    if (job->over) continue;
    if (job->running >= 0) {
      const GpuCount held = job->given();
      shares.Keep(*job, held);
      if (!pending.MayGrow(*job)) {
        table->SetMost(*job, held);
      } else if (limited && !job->fixed()) {
        growing.push_back({job, held});
      } else {
        table->SetMost(*job, std::nullopt);
      }
    } else if (limited && Waits(*job, pending)) {
      waiting.push_back(job);
    } else {
      table->SetMost(*job, std::nullopt);
    }
  }
  std::stable_sort(waiting.begin(), waiting.end(), [](const LiveJob* a, const LiveJob* b) {
    return a->asked->priority > b->asked->priority;
  });
  for (const LiveJob* job : waiting) {
    const GpuCount least = LeastOf(*job);
    table->SetBeyond(*job, shares.WhyNot(*job, least));
    if (job->beyond) continue;
    shares.Keep(*job, least);
    growing.push_back({job, least});
  }
  Grow(std::move(growing), &shares, table);
}

}  // namespace allot
