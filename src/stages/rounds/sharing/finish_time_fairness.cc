// Finish-time fairness (Themis, NSDI'20; as a problem of shares: Gavel, OSDI'20, section 4.2): the
// worst job's time from submission to its end, relative to what it would be on an even division of
// the cluster, is as small as possible. What a job has done counts at the rates that such divisions
// had then: they change with the number of jobs. Needs lengths.

#include <algorithm>
#include <map>

#include "core/error.h"
#include "core/index.h"
#include "stages/rounds/pair_rows.h"

namespace allot {
namespace {

class FinishTimeFairness : public Sharing {
 public:
  explicit FinishTimeFairness(const Params& params)
      : speeds_(params.Text("speeds")), pairs_(params.Flag("pairs")) {
    RefusePairsOfAssumedSpeeds("finish-time-fairness", speeds_, pairs_);
  }

  void OnEpisodeStart(const EpisodeContext&) override { past_.clear(); }

  void Share(const Observation& o, std::span<const std::int32_t> rows,
             std::vector<TimeShare>* shares) override {
    ShareRows read = ReadShareRows(o, rows);
    AssumeSpeeds(speeds_, o, &read.problem);
    const std::vector<double> isolated = RatesOf(read.problem, EvenShares(read.problem).of);
    std::vector<double> alone;
    std::map<JobIndex, Past> present;
    for (std::size_t i = 0; i < read.jobs(); ++i) {
      const std::size_t row = At(read.row[i]);
      Past& past = present[o.job[row]];
      if (const auto before = past_.find(o.job[row]); before != past_.end()) {
        past = before->second;
        past.alone += std::max(0.0, o.done_work[row] - past.done) / past.rate;  // work may be lost
      }
      past.done = o.done_work[row];
      past.rate = isolated[i];
      alone.push_back(past.alone);
    }
    past_ = std::move(present);
    if (pairs_) {
      const PairRows paired = ReadPairRows(o, rows);
      AppendShares(paired,
                   FinishTimePacked(paired.problem, WorkLeft(o, read), SinceSubmit(o, read), alone),
                   shares);
      return;
    }
    AppendShares(read,
                 FinishTimeShares(read.problem, WorkLeft(o, read), SinceSubmit(o, read), alone).of,
                 shares);
  }

 private:
  struct Past {
    double done = 0;    // work, when last asked
    double rate = 1;    // of the even division then
    Seconds alone = 0;  // that the work done would have taken at such rates
  };
  std::string speeds_;
  bool pairs_;
  std::map<JobIndex, Past> past_;
};

ALLOT_REGISTER(SharingInfo, ([] {
                 SharingInfo info;
                 info.id = "finish-time-fairness";
                 info.summary = "the worst finish time relative to an even division";
                 info.needs_lengths = true;
                 info.params = {{"speeds", "known", kSpeedsHelp}, {"pairs", "no", kPairsHelp}};
                 info.make = [](const Params& params) {
                   return std::make_unique<FinishTimeFairness>(params);
                 };
                 return info;
               }()));

}  // namespace
}  // namespace allot
