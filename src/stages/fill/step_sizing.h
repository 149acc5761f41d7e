#pragma once
// Sizings that grant resources in steps, used by files in src/stages/sizing/: the job with the
// least key takes its next step, of equal ones the first in the order, until nothing fits. A job
// whose next step does not fit drops out, the others continue. O(log jobs) a step.

#include <algorithm>
#include <optional>
#include <vector>

#include "sched/stages.h"
#include "stages/fill/capacity.h"

namespace allot {

class StepSizing : public Sizing {
 public:
  bool takes_types() const override { return true; }

  void Size(const Observation& o, std::span<const std::int32_t> order, std::span<const double>,
            std::vector<Grant>* grants) final {
    capacity_.Reset(*o.cluster);
    chosen_.assign(order.size(), -1);
    heap_.clear();
    for (std::size_t place = 0; place < order.size(); ++place) Push(Begin(o, order, place), place);
    std::make_heap(heap_.begin(), heap_.end(), Later);
    while (!heap_.empty() && !capacity_.Exhausted()) {
      std::pop_heap(heap_.begin(), heap_.end(), Later);
      const std::size_t place = heap_.back().place;
      heap_.pop_back();
      if (Push(Step(o, order, place), place)) std::push_heap(heap_.begin(), heap_.end(), Later);
    }
    for (std::size_t place = 0; place < order.size(); ++place) {
      if (chosen_[place] >= 0) grants->push_back({order[place], chosen_[place]});
    }
  }

 protected:
  // The key of a job before its first step; nullopt: it takes none.
  virtual std::optional<double> Begin(const Observation&, std::span<const std::int32_t> /*order*/,
                                      std::size_t /*place*/) {
    return 0.0;
  }
  // Takes the next step's resources and sets chosen_[place]: the key for the step after that, or
  // nullopt where the job drops out.
  virtual std::optional<double> Step(const Observation& o, std::span<const std::int32_t> order,
                                     std::size_t place) = 0;

  TypeCapacity capacity_;
  std::vector<std::int32_t> chosen_;  // configuration, by place in the order; -1: nothing yet

 private:
  struct Entry {
    double key;
    std::size_t place;
  };
  static bool Later(const Entry& a, const Entry& b) {
    return a.key != b.key ? a.key > b.key : a.place > b.place;
  }
  bool Push(std::optional<double> key, std::size_t place) {
    if (key) heap_.push_back({*key, place});
    return key.has_value();
  }

  std::vector<Entry> heap_;
};

}  // namespace allot
