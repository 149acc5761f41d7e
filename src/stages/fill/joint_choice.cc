#include "stages/fill/joint_choice.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/error.h"

namespace allot {
namespace {

constexpr double kNearlyOne = 1e-6;
constexpr double kLeastLeft = 0.02;  // of a rate after a restart: who ends soon had better stay
constexpr std::size_t kMostLabels = 50'000;  // beyond, the best answer so far

// The alpha-fair utility of a speed over that of waiting.
double Utility(double speed, double waiting, double beta) {
  if (std::abs(1 - beta) < kNearlyOne) return std::log(speed / waiting);
  return (std::pow(speed, 1 - beta) - std::pow(waiting, 1 - beta)) / (1 - beta);
}

}  // namespace

void JointChoice::Pose(const Observation& o, std::int32_t row, const Score& score,
                       Seconds remaining) {
  const ConfigurationTable& table = *o.table[At(row)];
  const std::int32_t running = o.running[At(row)];
  if (table.kinds().size() != 1 || table.kinds().front().demand.gpus != 1) {
    throw UsageError(
        "types and sizes are chosen together (joint) for jobs made of GPUs one by one; profile "
        "'{}' is made of {} kinds of unit, the first with {} GPUs",
        table.name(), table.kinds().size(), table.kinds().front().demand.gpus);
  }
  if (!(waiting_ > 0) && score.beta >= 1 - kNearlyOne) {
    throw UsageError(
        "with 'beta' of 1 or more, 'waiting' must be above 0: waiting would be worth -infinity; "
        "got {} and {}",
        score.beta, waiting_);
  }
  const double weight = std::exp(std::clamp(static_cast<double>(score.u), -600.0, 600.0));
  const double moved =
      std::exp(-score.kappa) *
      std::max(kLeastLeft, 1 - o.restart_cost[At(row)] / std::max(remaining, 1e-3));
  const auto add = [&](std::int32_t c) {
    double speed = table[c].rate / table.reference_rate();
    if (running >= 0 && c != running) speed *= moved;
    const double gain = weight * Utility(speed, waiting_, score.beta);
    if (!(gain > 0) || !std::isfinite(gain)) return;
    options_.push_back({table[c].gpu_type, table[c].demand.gpus, gain});
    configurations_.push_back(c);
  };
  options_.clear();
  bool keeps = false;
  for (const GpuTypeIndex type : table.types()) {
    sizes_.Each(type, [&](GpuCount gpus, std::size_t nodes) {
      if (!UnitCounts(gpus).FitsIn(table.trusted())) return;
      const std::int32_t c = table.Find(UnitCounts(gpus), type, nodes);
      if (c < 0 || !(table[c].rate > 0) || !table.Allocatable(c)) return;
      keeps = keeps || c == running;
      add(c);
    });
  }
  if (running >= 0 && !keeps && table[running].rate > 0) add(running);
  // Jobs of sizes that are none of these.
  if (options_.empty()) {
    for (const GpuTypeIndex type : table.types()) {
      const std::int32_t c = table.OnType(o.requested[At(row)], type);
      if (c >= 0 && table[c].rate > 0) add(c);
    }
  }
  problem_.Add(options_);
}

void JointChoice::Choose(const Observation& o, std::span<const std::int32_t> rows,
                         std::span<const Score> scores, std::span<const Seconds> remaining,
                         std::vector<Grant>* grants) {
  sizes_.Read(*o.cluster);
  problem_.capacity = sizes_.capacity();
  problem_.options.clear();
  problem_.first = {0};
  configurations_.clear();
  // Of equally good answers the same one, in whatever order rows are.
  order_.resize(rows.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
    const std::size_t i = At(rows[a]);
    const std::size_t j = At(rows[b]);
    return std::pair(o.submit[i], o.job[i]) < std::pair(o.submit[j], o.job[j]);
  });
  for (const std::size_t i : order_) Pose(o, rows[i], scores[i], remaining[i]);
  const MultipleChoiceAnswer answer = SolveMultipleChoice(problem_, tolerance_, kMostLabels);
  const std::size_t before = grants->size();
  for (std::size_t i = 0; i < order_.size(); ++i) {
    if (answer.chosen[i] < 0) continue;
    grants->push_back({rows[order_[i]], configurations_[problem_.first[i] + At(answer.chosen[i])]});
  }
  // Large ones first, as they need whole nodes.
  const auto gpus = [&](const Grant& grant) {
    return (*o.table[At(grant.row)])[grant.configuration].demand.gpus;
  };
  std::stable_sort(grants->begin() + static_cast<std::ptrdiff_t>(before), grants->end(),
                   [&](const Grant& a, const Grant& b) { return gpus(a) > gpus(b); });
}

}  // namespace allot
