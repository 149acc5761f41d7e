// A short queue: jobs that run, and of those that wait at most so many, first come first served.
// The others queue outside, as behind the per-queue limits of batch systems.

#include <algorithm>

#include "sched/stages.h"

namespace allot {
namespace {

class QueueLimit : public Admission {
 public:
  explicit QueueLimit(std::size_t limit) : limit_(limit) {}

  void Admit(const Observation& o, std::vector<std::int32_t>* rows) override {
    waiting_.clear();
    for (std::int32_t row = 0; row < o.rows(); ++row) {
      (o.running[static_cast<std::size_t>(row)] < 0 ? waiting_ : *rows).push_back(row);
    }
    if (waiting_.size() > limit_) {
      // Jobs are numbered in order of submission.
      const auto earlier = [&o](std::int32_t a, std::int32_t b) {
        return o.job[static_cast<std::size_t>(a)] < o.job[static_cast<std::size_t>(b)];
      };
      const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(limit_);
      std::nth_element(waiting_.begin(), end, waiting_.end(), earlier);
      waiting_.resize(limit_);
    }
    rows->insert(rows->end(), waiting_.begin(), waiting_.end());
    std::sort(rows->begin(), rows->end());
  }

 private:
  std::size_t limit_;
  std::vector<std::int32_t> waiting_;
};

ALLOT_REGISTER(AdmissionInfo, ([] {
                 AdmissionInfo info;
                 info.id = "queue-limit";
                 info.summary = "at most `jobs` of the waiting jobs, in order of submission";
                 info.time_driven = true;  // jobs that start make room for others
                 info.params = {{"jobs", "100", "most waiting jobs considered at a time", 1, 1e9}};
                 info.make = [](const Params& params) {
                   return std::make_unique<QueueLimit>(
                       static_cast<std::size_t>(params.Integer("jobs")));
                 };
                 return info;
               }()));

}  // namespace
}  // namespace allot
