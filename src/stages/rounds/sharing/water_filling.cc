// Max-min fairness of progress one level after the other (Gavel, OSDI'20, section 4.3): when the
// least can rise no more, the others still do.

#include "solve/water_filling.h"

#include "core/error.h"
#include "solve/water_filling.h"
#include "stages/rounds/pair_rows.h"

namespace allot {
namespace {

class WaterFilling : public Sharing {
 public:
  explicit WaterFilling(const Params& params)
      : speeds_(params.Text("speeds")), pairs_(params.Flag("pairs")) {
    RefusePairsOfAssumedSpeeds("water-filling", speeds_, pairs_);
  }

  void Share(const Observation& o, std::span<const std::int32_t> rows,
             std::vector<TimeShare>* shares) override {
    if (pairs_) {
      const PairRows read = ReadPairRows(o, rows);
      AppendShares(read, WaterFillingPacked(read.problem), shares);
      return;
    }
    ShareRows read = ReadShareRows(o, rows);
    AssumeSpeeds(speeds_, o, &read.problem);
    AppendShares(read, WaterFillingShares(read.problem).of, shares);
  }

 private:
  std::string speeds_;
  bool pairs_;
};

ALLOT_REGISTER(SharingInfo, ([] {
                 SharingInfo info;
                 info.id = "water-filling";
                 info.summary = "max-min progress, and what is left goes to who can still rise";
                 info.params = {{"speeds", "known", kSpeedsHelp}, {"pairs", "no", kPairsHelp}};
                 info.make = [](const Params& params) {
                   return std::make_unique<WaterFilling>(params);
                 };
                 return info;
               }()));

}  // namespace
}  // namespace allot
