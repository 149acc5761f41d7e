// Every job is considered as soon as it is submitted.

#include <vector>

#include "sched/stages.h"

namespace allot {
namespace {

class AcceptAll : public Admission {
 public:
  void Admit(const Observation& observation, std::vector<std::int32_t>* rows) override {
    const auto count = static_cast<std::size_t>(observation.rows());
    while (all_.size() < count) all_.push_back(static_cast<std::int32_t>(all_.size()));
    rows->assign(all_.begin(), all_.begin() + observation.rows());
  }

 private:
  std::vector<std::int32_t> all_;  // 0, 1, 2, ..., never fewer: quicker to copy than to count
};

ALLOT_REGISTER(AdmissionInfo, ([] {
                 AdmissionInfo info;
                 info.id = "accept-all";
                 info.summary = "every submitted job is considered";
                 info.rates = RatesRead::kNone;
                 info.make = [](const Params&) { return std::make_unique<AcceptAll>(); };
                 return info;
               }()));

}  // namespace
}  // namespace allot
