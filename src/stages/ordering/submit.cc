// First come, first served.

#include "sched/incremental_stages.h"

namespace allot {
namespace {

class SubmitOrder : public Ordering, public IncrementalOrdering {
 public:
  explicit SubmitOrder(bool preemptive) : preemptive_(preemptive) {}
  bool preemptive() const override { return preemptive_; }
  const IncrementalOrdering* incremental() const override { return this; }
  bool keys_stay() const override { return true; }
  void Keys(const Observation& observation, std::span<const std::int32_t> rows,
            std::vector<double>* keys) override {
    keys->resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      (*keys)[i] = observation.submit[static_cast<std::size_t>(rows[i])];
    }
  }

 private:
  bool preemptive_;
};

ALLOT_REGISTER(OrderingInfo, ([] {
                 OrderingInfo info;
                 info.id = "submit";
                 info.summary = "earliest submission first";
                 info.rates = RatesRead::kNone;
                 info.params = {{"preemptive", "false",
                                 "whether an older job may stop a backfilled younger one"}};
                 info.make = [](const Params& params) {
                   return std::make_unique<SubmitOrder>(params.Flag("preemptive"));
                 };
                 return info;
               }()));

}  // namespace
}  // namespace allot
