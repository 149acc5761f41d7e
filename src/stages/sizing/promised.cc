// After Rubick (Zhang et al., MLSys'25), GPUs only: every job is promised the speed of its request.
// A waiting job gets the smallest configuration that keeps the promise, in order; where GPUs are
// missing, the jobs that lose least per unit of cost shrink, not below their own promise. What is
// left goes to the jobs that gain most per unit of cost. A job that was launched changes only where
// the restarts so far and this one take at most 3 % of its time since submission.
// Not in it: CPUs and bandwidths as dimensions of their own, and quotas of tenants.
// O(rows x (rows + configurations)) a decision.

#include <algorithm>
#include <optional>
#include <vector>

#include "sched/stages.h"
#include "stages/fill/capacity.h"

namespace allot {
namespace {

constexpr double kMostRestarts = 0.03;  // of a job's time: the paper's threshold 0.97
constexpr double kNearly = 0.999;       // of the promised speed
constexpr double kLeastGain = 1.01;     // a growing job must become so much faster

class PromisedSpeed : public Sizing {
 public:
  void Size(const Observation& o, std::span<const std::int32_t> order, std::span<const double>,
            std::vector<Grant>* grants) override {
    capacity_.Reset(*o.cluster);
    ladders_.clear();
    for (const std::int32_t row : order) Open(o, row);
    for (Ladder& ladder : ladders_) {
      if (!ladder.granted()) Admit(&ladder);
    }
    while (GrowBest()) {
    }
    for (const Ladder& ladder : ladders_) {
      if (ladder.granted()) grants->push_back({ladder.row, ladder.configuration()});
    }
  }

 private:
  // A job's useful configurations on one GPU type, by cost: each is faster than all before it.
  struct Ladder {
    std::int32_t row;
    const ConfigurationTable* table;
    std::vector<std::int32_t> steps{};
    double requested_rate = 0;
    std::ptrdiff_t promise = 0;  // the first step that keeps it
    std::ptrdiff_t at = -1;      // -1: nothing
    bool may_change = true;

    bool granted() const { return at >= 0; }
    std::int32_t configuration() const { return steps[static_cast<std::size_t>(at)]; }
    const Configuration& Step(std::ptrdiff_t step) const {
      return (*table)[steps[static_cast<std::size_t>(step)]];
    }
    const Configuration& now() const { return Step(at); }
    // Speed per unit of cost between two steps, relative to the request.
    double Slope(std::ptrdiff_t low, std::ptrdiff_t high) const {
      return (Step(high).rate - Step(low).rate) / requested_rate /
             (Step(high).cost - Step(low).cost);
    }
  };

  void Open(const Observation& o, std::int32_t row) {
    const std::size_t r = At(row);
    const ConfigurationTable& table = *o.table[r];
    const std::int32_t running = o.running[r];
    const GpuTypeIndex type =
        running >= 0 ? table[running].gpu_type : table[o.requested[r]].gpu_type;
    Ladder ladder{.row = row, .table = &table, .requested_rate = table[o.requested[r]].rate};
    for (std::int32_t c = 0; c < table.size(); ++c) {
      const bool own = c == running;
      if (table[c].gpu_type != type || table[c].partner != kNoPartner) continue;
      if (!own && (!table.Allocatable(c) || !(table[c].rate > 0))) continue;
      if (!own && !ladder.steps.empty() && !(table[c].rate > table[ladder.steps.back()].rate)) {
        continue;
      }
      if (!ladder.steps.empty() && !(table[c].cost > table[ladder.steps.back()].cost)) {
        if (!own) continue;
        ladder.steps.pop_back();
      }
      ladder.steps.push_back(c);
      if (own) ladder.at = static_cast<std::ptrdiff_t>(ladder.steps.size()) - 1;
    }
    if (ladder.steps.empty()) return;
    const auto keeps = [&](std::int32_t c) {
      return table[c].rate >= kNearly * ladder.requested_rate;
    };
    const auto first = std::find_if(ladder.steps.begin(), ladder.steps.end(), keeps);
    if (first != ladder.steps.end()) ladder.promise = first - ladder.steps.begin();
    const Seconds age = std::max(1.0, o.now - o.submit[r]);
    ladder.may_change =
        o.changes[r] == 0 || (o.changes[r] + 1) * o.restart_cost[r] <= kMostRestarts * age;
    if (ladder.granted()) capacity_.Take(ladder.now());
    ladders_.push_back(std::move(ladder));
  }

  // Grants the promise where it fits, after others have shrunk; else nothing changes.
  void Admit(Ladder* job) {
    const Configuration& wanted = job->Step(job->promise);
    std::vector<std::pair<Ladder*, std::ptrdiff_t>> shrunk;  // and where they were
    while (!capacity_.Fits(wanted)) {
      Ladder* const least = LeastSlope(wanted.gpu_type);
      if (least == nullptr) break;
      shrunk.emplace_back(least, least->at);
      Move(least, least->at - 1);
    }
    if (capacity_.Fits(wanted)) {
      job->at = job->promise;
      capacity_.Take(wanted);
      return;
    }
    for (auto each = shrunk.rbegin(); each != shrunk.rend(); ++each) {
      Move(each->first, each->second);
    }
  }

  // Of those that may shrink, the one that loses least; null: none may.
  Ladder* LeastSlope(GpuTypeIndex type) {
    Ladder* least = nullptr;
    for (Ladder& ladder : ladders_) {
      if (!ladder.granted() || !ladder.may_change || ladder.at <= ladder.promise ||
          ladder.now().gpu_type != type) {
        continue;
      }
      if (least == nullptr ||
          ladder.Slope(ladder.at - 1, ladder.at) < least->Slope(least->at - 1, least->at)) {
        least = &ladder;
      }
    }
    return least;
  }

  // The step of the largest slope that fits; false: none does.
  bool GrowBest() {
    Ladder* best = nullptr;
    std::ptrdiff_t to = -1;
    for (Ladder& ladder : ladders_) {
      if (!ladder.granted() || !ladder.may_change) continue;
      for (std::ptrdiff_t step = ladder.at + 1; step < std::ssize(ladder.steps); ++step) {
        if (!capacity_.TypeTotals::Fits(ladder.now(), ladder.Step(step))) continue;
        if (!(ladder.Step(step).rate > kLeastGain * ladder.now().rate)) continue;
        if (best != nullptr && ladder.Slope(ladder.at, step) <= best->Slope(best->at, to)) continue;
        best = &ladder;
        to = step;
      }
    }
    if (best != nullptr) Move(best, to);
    return best != nullptr;
  }

  void Move(Ladder* ladder, std::ptrdiff_t to) {
    capacity_.Return(ladder->now());
    ladder->at = to;
    capacity_.Take(ladder->now());
  }

  TypeCapacity capacity_;
  std::vector<Ladder> ladders_;
};

ALLOT_REGISTER(
    SizingInfo, ([] {
      SizingInfo info;
      info.id = "promised";
      info.summary =
          "the speed of the request in order, by shrinking others; the rest to who gains "
          "most (after Rubick)";
      info.time_driven = true;
      info.make = [](const Params&) { return std::make_unique<PromisedSpeed>(); };
      return info;
    }()));

}  // namespace
}  // namespace allot
