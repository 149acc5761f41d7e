// First come, first served, each job on its fastest type that has its GPUs left (Gavel's
// fifo_perf); the first that finds none holds up those behind it. Types are chosen anew at every
// change, so that jobs move to faster ones. A job that does not run on the types left is passed
// over.

#include "stages/rounds/share_rows.h"

namespace allot {
namespace {

class FifoPerf : public Sharing {
 public:
  void Share(const Observation& o, std::span<const std::int32_t> rows,
             std::vector<TimeShare>* shares) override {
    const ShareRows read = ReadShareRows(o, rows);
    AppendShares(read, FirstComeShares(read.problem).of, shares);
  }
};

ALLOT_REGISTER(SharingInfo, ([] {
                 SharingInfo info;
                 info.id = "fifo-perf";
                 info.summary = "first come, first served, each on the fastest type left";
                 info.make = [](const Params&) { return std::make_unique<FifoPerf>(); };
                 return info;
               }()));

}  // namespace
}  // namespace allot
