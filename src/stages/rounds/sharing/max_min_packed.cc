// Max-min fairness of progress where two jobs may run on the same GPUs (Gavel, OSDI'20, sections
// 3.1 and 4.1).

#include "stages/rounds/pair_rows.h"

namespace allot {
namespace {

class MaxMinPairs : public Sharing {
 public:
  void Share(const Observation& o, std::span<const std::int32_t> rows,
             std::vector<TimeShare>* shares) override {
    const PairRows read = ReadPairRows(o, rows);
    AppendShares(read, MaxMinPacked(read.problem), shares);
  }
};

ALLOT_REGISTER(SharingInfo, ([] {
                 SharingInfo info;
                 info.id = "max-min-packed";
                 info.summary = "as max-min-perf, with pairs of jobs on the same GPUs";
                 info.make = [](const Params&) { return std::make_unique<MaxMinPairs>(); };
                 return info;
               }()));

}  // namespace
}  // namespace allot
