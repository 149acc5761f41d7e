// As fifo-perf; then each job in turn that found no GPUs joins one that runs, where both together
// get enough done (Gavel's fifo_packed).

#include "stages/rounds/pair_rows.h"

namespace allot {
namespace {

class FifoPacked : public Sharing {
 public:
  explicit FifoPacked(double least) : least_(least) {}

  void Share(const Observation& o, std::span<const std::int32_t> rows,
             std::vector<TimeShare>* shares) override {
    const PairRows read = ReadPairRows(o, rows);
    AppendShares(read, FirstComePacked(read.problem, least_), shares);
  }

 private:
  double least_;
};

ALLOT_REGISTER(SharingInfo, ([] {
                 SharingInfo info;
                 info.id = "fifo-packed";
                 info.summary = "as fifo-perf; who finds no GPUs joins a job that runs";
                 info.params = {{"least", "1.5",
                                 "a pair forms where the sum of both rates, each relative to the "
                                 "job alone there, is above this",
                                 0, 2}};
                 info.make = [](const Params& params) {
                   return std::make_unique<FifoPacked>(params.Number("least"));
                 };
                 return info;
               }()));

}  // namespace
}  // namespace allot
