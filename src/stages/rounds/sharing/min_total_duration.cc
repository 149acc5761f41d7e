// The shortest time until all jobs that are here have ended (Gavel's min_total_duration, OSDI'20,
// section 4.2). Needs lengths; a job of unknown length is taken to have as much ahead as behind it.

#include "core/error.h"
#include "stages/rounds/pair_rows.h"

namespace allot {
namespace {

class MinTotalDuration : public Sharing {
 public:
  explicit MinTotalDuration(const Params& params)
      : speeds_(params.Text("speeds")),
        bisect_(params.Flag("bisect")),
        pairs_(params.Flag("pairs")) {
    RefusePairsOfAssumedSpeeds("min-total-duration", speeds_, pairs_);
    if (bisect_ && pairs_) {
      throw UsageError("sharing 'min-total-duration': 'bisect' goes without 'pairs', got both");
    }
  }

  void Share(const Observation& o, std::span<const std::int32_t> rows,
             std::vector<TimeShare>* shares) override {
    if (pairs_) {
      const PairRows read = ReadPairRows(o, rows);
      AppendShares(read, MakespanPacked(read.problem, WorkLeft(o, read.rows)), shares);
      return;
    }
    ShareRows read = ReadShareRows(o, rows);
    AssumeSpeeds(speeds_, o, &read.problem);
    const std::vector<double> work = WorkLeft(o, read);
    Shares answer = MakespanShares(read.problem, work);
    if (bisect_ && read.jobs() > 0) {
      answer = SharesWithin(read.problem, work, BisectedMakespan(answer.objective));
    }
    AppendShares(read, answer.of, shares);
  }

 private:
  std::string speeds_;
  bool bisect_;
  bool pairs_;
};

ALLOT_REGISTER(
    SharingInfo, ([] {
      SharingInfo info;
      info.id = "min-total-duration";
      info.summary = "the shortest time until all present jobs have ended";
      info.needs_lengths = true;
      info.params = {
          {"speeds", "known", kSpeedsHelp},
          {"pairs", "no", kPairsHelp},
          {"bisect", "no",
           "as Gavel: any shares that reach a time up to 5 % longer, found by bisection"}};
      info.make = [](const Params& params) { return std::make_unique<MinTotalDuration>(params); };
      return info;
    }()));

}  // namespace
}  // namespace allot
