// Every job is considered as soon as it is submitted.

#include <numeric>

#include "sched/stages.h"

namespace allot {
namespace {

class AcceptAll : public Admission {
 public:
  void Admit(const Observation& observation, std::vector<std::int32_t>* rows) override {
    rows->resize(static_cast<std::size_t>(observation.rows()));
    std::iota(rows->begin(), rows->end(), 0);
  }
};

ALLOT_REGISTER(AdmissionInfo, ([] {
                 AdmissionInfo info;
                 info.id = "accept-all";
                 info.summary = "every submitted job is considered";
                 info.make = [](const Params&) { return std::make_unique<AcceptAll>(); };
                 return info;
               }()));

}  // namespace
}  // namespace allot
