// Max-min fairness of progress (Gavel, OSDI'20, section 4.1): the least rate by weight as large as
// possible, each relative to what an even division of all GPUs would give the job.

#include "stages/rounds/share_rows.h"

namespace allot {
namespace {

class MaxMinProgress : public Sharing {
 public:
  void Share(const Observation& o, std::span<const std::int32_t> rows,
             std::vector<TimeShare>* shares) override {
    const ShareRows read = ReadShareRows(o, rows);
    AppendShares(read, MaxMinShares(read.problem).of, shares);
  }
};

ALLOT_REGISTER(SharingInfo, ([] {
                 SharingInfo info;
                 info.id = "max-min-perf";
                 info.summary = "the least progress by weight, relative to an even division";
                 info.make = [](const Params&) { return std::make_unique<MaxMinProgress>(); };
                 return info;
               }()));

}  // namespace
}  // namespace allot
