// AlloX (Le et al., EuroSys'20, as Gavel's policy of that name): jobs that wait are queued on the
// GPUs that are free so that the sum of their finish times is least; those that begin now run, all
// of their time, until they end. Nobody is moved or preempted. Needs lengths. With jobs of several
// GPUs, which the published one refuses, each is placed where it ends first, the shortest first.

#include <algorithm>
#include <map>

#include "core/index.h"
#include "solve/queue_plan.h"
#include "stages/rounds/share_rows.h"

namespace allot {
namespace {

class Allox : public Sharing {
 public:
  explicit Allox(double considered) : considered_(considered) {}

  void OnEpisodeStart(const EpisodeContext&) override { type_of_.clear(); }

  void Share(const Observation& o, std::span<const std::int32_t> rows,
             std::vector<TimeShare>* shares) override {
    const ShareRows read = ReadShareRows(o, rows);
    const std::size_t types = read.problem.types();
    std::vector<std::int32_t> free(types);
    for (std::size_t g = 0; g < types; ++g) {
      free[g] = static_cast<std::int32_t>(read.problem.capacity[g]);
    }
    std::vector<double> of(read.problem.rate.size(), 0.0);
    std::map<JobIndex, std::size_t> placed;
    std::vector<std::int32_t> waiting;
    for (std::size_t i = 0; i < read.jobs(); ++i) {
      const JobIndex job = o.job[At(read.row[i])];
      const auto before = type_of_.find(job);
      const auto gpus = static_cast<std::int32_t>(read.problem.gpus[i]);
      // Nodes may have gone since.
      if (before != type_of_.end() && free[before->second] >= gpus &&
          read.problem.rates(i)[before->second] > 0) {
        of[i * types + before->second] = 1;
        free[before->second] -= gpus;
        placed[job] = before->second;
      } else {
        waiting.push_back(static_cast<std::int32_t>(i));
      }
    }
    PlaceWaiting(o, read, free, waiting, &of, &placed);
    type_of_ = std::move(placed);
    AppendShares(read, of, shares);
  }

 private:
  // Some of the oldest that wait; never fewer than there are GPUs.
  void PlaceWaiting(const Observation& o, const ShareRows& read,
                    const std::vector<std::int32_t>& free, const std::vector<std::int32_t>& waiting,
                    std::vector<double>* of, std::map<JobIndex, std::size_t>* placed) const {
    const std::size_t types = free.size();
    std::int64_t gpus = 0;
    for (const std::int32_t count : free) gpus += count;
    const auto most = std::max(
        static_cast<std::int64_t>(considered_ * static_cast<double>(waiting.size())), gpus);
    const std::vector<double> work = WorkLeft(o, read);
    std::vector<double> seconds;
    std::vector<std::int32_t> takes;
    std::vector<std::int32_t> queued;
    for (const std::int32_t i : waiting) {
      if (static_cast<std::int64_t>(queued.size()) >= most) break;
      const std::size_t before = seconds.size();
      bool runs = false;
      for (std::size_t g = 0; g < types; ++g) {
        const double rate = read.problem.rates(At(i))[g];
        seconds.push_back(rate > 0 ? work[At(i)] / rate : kNever);
        runs = runs || (rate > 0 && free[g] > 0);
      }
      if (!runs) {
        seconds.resize(before);
        continue;
      }
      queued.push_back(i);
      takes.push_back(static_cast<std::int32_t>(read.problem.gpus[At(i)]));
    }
    if (gpus == 0 || queued.empty()) return;
    const bool single = std::all_of(takes.begin(), takes.end(), [](auto n) { return n == 1; });
    const QueuePlan plan = single ? PlanQueues(free, seconds) : PlanGangs(free, seconds, takes);
    for (const std::int32_t first : plan.first) {
      const std::size_t job = At(queued[At(first)]);
      const std::size_t type = At(plan.type[At(first)]);
      (*of)[job * types + type] = 1;
      (*placed)[o.job[At(read.row[job])]] = type;
    }
  }

  double considered_;
  std::map<JobIndex, std::size_t> type_of_;
};

ALLOT_REGISTER(SharingInfo, ([] {
                 SharingInfo info;
                 info.id = "allox";
                 info.summary =
                     "queues of the least sum of finish times on free GPUs; nobody is preempted";
                 info.needs_lengths = true;
                 info.params = {{"considered", "1",
                                 "part of the jobs that wait that is queued, the oldest", 0, 1}};
                 info.make = [](const Params& params) {
                   return std::make_unique<Allox>(params.Number("considered"));
                 };
                 return info;
               }()));

}  // namespace
}  // namespace allot
