// At most so many unfinished jobs are considered, first come first served; the others queue
// outside.

#include <algorithm>

#include "sched/stages.h"

namespace allot {
namespace {

class ActiveLimit : public Admission {
 public:
  explicit ActiveLimit(int limit) : limit_(limit) {}

  void Admit(const Observation& observation, std::vector<std::int32_t>* rows) override {
    rows->resize(static_cast<std::size_t>(observation.rows()));
    for (std::int32_t row = 0; row < observation.rows(); ++row)
      (*rows)[static_cast<std::size_t>(row)] = row;
    if (rows->size() <= static_cast<std::size_t>(limit_)) return;
    const auto earlier = [&](std::int32_t a, std::int32_t b) {
      const auto i = static_cast<std::size_t>(a);
      const auto j = static_cast<std::size_t>(b);
      if (observation.submit[i] != observation.submit[j]) {
        return observation.submit[i] < observation.submit[j];
      }
      return observation.job[i] < observation.job[j];
    };
    std::nth_element(rows->begin(), rows->begin() + limit_, rows->end(), earlier);
    rows->resize(static_cast<std::size_t>(limit_));
    std::sort(rows->begin(), rows->end());
  }

 private:
  int limit_;
};

ALLOT_REGISTER(AdmissionInfo, ([] {
                 AdmissionInfo info;
                 info.id = "active-limit";
                 info.summary =
                     "at most `jobs` unfinished jobs are considered, in order of submission";
                 info.params = {{"jobs", "1000", "most jobs considered at a time", 1, 1e9}};
                 info.make = [](const Params& params) {
                   return std::make_unique<ActiveLimit>(params.Integer("jobs"));
                 };
                 return info;
               }()));

}  // namespace
}  // namespace allot
