#include "stages/fill/sized_types.h"

#include <algorithm>

#include "core/index.h"

namespace allot {
namespace {

constexpr double kWorthwhile = 1.05;  // less growth changes no type
constexpr int kTries = 4;

// The largest size on the job's fastest type that costs at most so many times as much.
std::int32_t Grown(const ConfigurationTable& table, std::int32_t size, double factor) {
  std::int32_t grown = size;
  for (const HullStep& step : table.hull(table.types().front())) {
    if (step.cost > table[grown].cost && step.cost <= factor * table[size].cost) grown = step.to;
  }
  return grown;
}

// How many times the GPUs that the jobs hold there are.
double Slack(const Observation& o, std::span<const std::int32_t> order,
             std::span<const char> granted, std::span<const std::int32_t> sizes) {
  std::int64_t held = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (granted[i] != 0) held += (*o.table[At(order[i])])[sizes[i]].demand.gpus;
  }
  return held == 0 ? 1 : static_cast<double>(o.cluster->total().gpus) / static_cast<double>(held);
}

}  // namespace

bool HasOneSize(const ConfigurationTable& table) {
  const auto same = [&](std::int32_t c) { return table.SameUnits(c, table.fastest().front()); };
  return std::all_of(table.fastest().begin(), table.fastest().end(), same);
}

std::int32_t SmallestSize(const ConfigurationTable& table) {
  return table.hull(table.types().front()).front().to;
}

void SizedTypes::Assign(TypeAssignment* assignment, const Observation& o, TypeQuestion question,
                        std::span<const char> granted, std::vector<std::int32_t>* sizes,
                        const std::function<void(TypeQuestion*)>& weigh,
                        std::vector<GpuTypeIndex>* types) {
  larger_.reserve(sizes->size());
  double factor = granted.empty() ? 1 : Slack(o, question.order, granted, *sizes);
  for (int tries = 0; tries < kTries && factor > kWorthwhile; ++tries) {
    larger_ = *sizes;
    for (std::size_t i = 0; i < larger_.size(); ++i) {
      if (granted[i] != 0) larger_[i] = Grown(*o.table[At(question.order[i])], larger_[i], factor);
    }
    question.sizes = larger_;
    weigh(&question);
    assignment->Assign(o, question, types);
    if (types->empty()) return;
    bool all_placed = true;
    for (std::size_t i = 0; i < granted.size(); ++i) {
      all_placed = all_placed && (granted[i] == 0 || (*types)[i] != kNoType);
    }
    if (all_placed) {
      std::swap(*sizes, larger_);
      return;
    }
    factor = tries + 2 == kTries ? 1 : 1 + (factor - 1) / 2;
  }
  question.sizes = *sizes;
  weigh(&question);
  assignment->Assign(o, question, types);
}

}  // namespace allot
