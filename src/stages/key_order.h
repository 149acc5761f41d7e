#pragma once
// Orderings by a number of each job that depends on its own row alone, used by the files in
// src/stages/ordering/. A job without the number (NaN) comes last.

#include <cmath>
#include <string>
#include <utility>

#include "sched/incremental_stages.h"

namespace allot {

using KeyOfRow = double (*)(const Observation& observation, std::size_t row);

class KeyOrder : public Ordering, public IncrementalOrdering {
 public:
  KeyOrder(KeyOfRow key, bool preemptive, bool keys_stay)
      : key_(key), preemptive_(preemptive), keys_stay_(keys_stay) {}
  bool preemptive() const override { return preemptive_; }
  const IncrementalOrdering* incremental() const override { return this; }
  bool keys_stay() const override { return keys_stay_; }
  void Keys(const Observation& observation, std::span<const std::int32_t> rows,
            std::vector<double>* keys) override {
    keys->clear();
    for (const std::int32_t row : rows) {
      const double key = key_(observation, static_cast<std::size_t>(row));
      keys->push_back(std::isnan(key) ? kNever : key);
    }
  }

 private:
  const KeyOfRow key_;
  const bool preemptive_;
  const bool keys_stay_;
};

// The info of such an ordering, which has one parameter: whether it is preemptive.
inline OrderingInfo KeyOrderInfo(std::string id, std::string summary, KeyOfRow key,
                                 ParamSpec preemptive, bool keys_stay = false) {
  OrderingInfo info;
  info.id = std::move(id);
  info.summary = std::move(summary);
  info.params = {std::move(preemptive)};
  info.make = [key, keys_stay](const Params& params) {
    return std::make_unique<KeyOrder>(key, params.Flag("preemptive"), keys_stay);
  };
  return info;
}

}  // namespace allot
