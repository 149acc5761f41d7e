// Max-min fairness of time that does not look at speeds (Gavel's LAS, OSDI'20, section 4.1): the
// least GPUs x time / weight as large as possible, an hour on any type counting the same.

#include "stages/rounds/share_rows.h"

namespace allot {
namespace {

class MaxMinTime : public Sharing {
 public:
  void Share(const Observation& o, std::span<const std::int32_t> rows,
             std::vector<TimeShare>* shares) override {
    ShareRows read = ReadShareRows(o, rows);
    for (double& rate : read.problem.rate) rate = rate > 0 ? 1 : 0;
    // What counts is time, not time relative to the part of the cluster that a job can use.
    const std::vector<double> even = EvenRates(read.problem);
    for (std::size_t i = 0; i < read.jobs(); ++i) read.problem.weight[i] /= even[i];
    AppendShares(read, MaxMinShares(read.problem).of, shares);
  }
};

ALLOT_REGISTER(SharingInfo, ([] {
                 SharingInfo info;
                 info.id = "max-min";
                 info.summary = "the least time on GPUs by weight, whatever their speed";
                 info.make = [](const Params&) { return std::make_unique<MaxMinTime>(); };
                 return info;
               }()));

}  // namespace
}  // namespace allot
