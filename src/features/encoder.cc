#include "features/encoder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "sched/remaining.h"

namespace allot {
namespace {

constexpr std::array<std::string_view, kJobFeatures> kJobNames = {
    "ln remaining intervals in the smallest configuration",
    "ln remaining intervals in the fastest configuration",
    "ln remaining GPU-intervals at the best efficiency",
    "remaining share of the total work",
    "ln (1 + age in intervals)",
    "arrived since the last decision",
    "ln (fastest rate / smallest rate)",
    "ln (largest useful cost / smallest cost)",
    "ln smallest cost",
    "ln (requested cost / smallest cost)",
    "is running",
    "ln (1 + present cost / smallest cost)",
    "ln (attained service / expected total service + 0.02)",
    "rank by remaining time, -1 shortest .. 1 longest",
    "rank by remaining cost, -1 least .. 1 most",
    "its length is estimated",
    "ln forecast intervals per completion (inverse Gittins index)",
    "ln forecast remaining intervals at the requested size, median",
    "ln forecast remaining intervals at the requested size, 90th percentile",
};

constexpr std::array<std::string_view, kClusterFeatures> kClusterNames = {
    "ln (jobs / GPUs)",
    "ln (remaining GPU-intervals / GPUs + 0.01)",
    "share of GPUs in use",
    "ln (sum of largest useful costs / GPUs)",
    "share of jobs that arrived since the last decision",
    "ln jobs / 3",
    "restart cost / interval",
    "1",
};

float Bounded(double value) {
  const double bound = kFeatureBound;
  return static_cast<float>(std::clamp(value, -bound, bound));
}

// In single precision, as logarithms are half the encoder's time. What a weight of the policy
// 'index' is made of is taken in double, as there.
float BoundedLog(double value) {
  return std::clamp(std::log(static_cast<float>(value)), -kFeatureBound, kFeatureBound);
}

}  // namespace

std::span<const std::string_view> FeatureEncoder::JobFeatureNames() { return kJobNames; }
std::span<const std::string_view> FeatureEncoder::ClusterFeatureNames() { return kClusterNames; }

void FeatureEncoder::Encode(const Observation& o, FeatureBatch* batch) {
  const auto rows = static_cast<std::size_t>(o.rows());
  batch->jobs.resize(rows * kJobFeatures);
  batch->context.assign(kContextFeatures, 0.0F);
  if (rows == 0) return;

  lengths_.Observe(o);
  double total_cost = 0;
  double total_width = 0;
  double used = 0;
  double arrived = 0;
  double restart = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    const ConfigurationTable& table = *o.table[r];
    float* x = batch->jobs.data() + r * kJobFeatures;
    const double remaining = ReckonedRemaining(o, static_cast<std::int32_t>(r));
    const double total = remaining + o.done_work[r];
    const double cost = remaining / table.best_efficiency() / o.interval;
    const bool running = o.running[r] >= 0;
    const double present = running ? table[o.running[r]].cost : 0;
    const bool is_new = o.now - o.submit[r] < o.interval && o.changes[r] == 0;
    x[kRemainingSmallest] =
        Bounded(std::log(remaining / table.reference_rate() / o.interval + 0.01));
    x[kRemainingFastest] = BoundedLog(remaining / table.best_rate() / o.interval + 0.01);
    x[kRemainingCost] = BoundedLog(cost + 0.01);
    x[kRemainingShare] = Bounded(remaining / total);
    x[kAge] = BoundedLog(1 + (o.now - o.submit[r]) / o.interval);
    x[kIsNew] = is_new ? 1.0F : 0.0F;
    x[kSpeedup] = BoundedLog(table.best_rate() / table.reference_rate());
    x[kWidth] = BoundedLog(table.max_hull_cost() / table.reference_cost());
    x[kSmallestCost] = BoundedLog(table.reference_cost());
    x[kRequestedCost] = BoundedLog(table[o.requested[r]].cost / table.reference_cost());
    x[kIsRunning] = running ? 1.0F : 0.0F;
    x[kRunningCost] = BoundedLog(1 + present / table.reference_cost());
    x[kAttained] = BoundedLog(o.attained_gpu_seconds[r] * table.best_efficiency() / total + 0.02);
    x[kHasEstimate] = std::isnan(o.estimated_work[r]) ? 0.0F : 1.0F;
    const LengthModel::Forecast forecast = lengths_.Of(o, static_cast<std::int32_t>(r));
    x[kForecastRank] = Bounded(std::log(forecast.rank / o.interval + 0.01));
    x[kForecastMedian] = BoundedLog(forecast.median / o.interval + 0.01);
    x[kForecastHigh] = BoundedLog(forecast.high / o.interval + 0.01);
    total_cost += cost;
    total_width += table.max_hull_cost();
    used += running ? table[o.running[r]].demand.gpus : 0;
    arrived += is_new ? 1 : 0;
    restart += o.restart_cost[r];
  }
  EncodeRanks(o, batch);

  float* context = batch->context.data();
  for (std::size_t f = 0; f < kJobFeatures; ++f) {
    double sum = 0;
    double squares = 0;
    for (std::size_t r = 0; r < rows; ++r) {
      const double value = batch->jobs[r * kJobFeatures + f];
      sum += value;
      squares += value * value;
    }
    const double mean = sum / static_cast<double>(rows);
    const double variance = std::max(0.0, squares / static_cast<double>(rows) - mean * mean);
    context[f] = static_cast<float>(mean);
    context[kJobFeatures + f] = static_cast<float>(std::sqrt(variance));
  }
  const double jobs = static_cast<double>(rows);
  const double gpus = o.cluster->total().gpus;
  float* cluster = context + 2 * kJobFeatures;
  cluster[0] = BoundedLog(jobs / gpus);
  cluster[1] = BoundedLog(total_cost / gpus + 0.01);
  cluster[2] = Bounded(used / gpus);
  cluster[3] = BoundedLog(total_width / gpus);
  cluster[4] = Bounded(arrived / jobs);
  cluster[5] = Bounded(std::log(jobs) / 3.0);
  cluster[6] = Bounded(restart / jobs / o.interval);
  cluster[7] = 1.0F;
}

void FeatureEncoder::EncodeRanks(const Observation& o, FeatureBatch* batch) {
  const auto rows = static_cast<std::size_t>(o.rows());
  order_.resize(rows);
  for (const auto& [value, rank] :
       {std::pair{kRemainingFastest, kRankRemaining}, std::pair{kRemainingCost, kRankCost}}) {
    std::iota(order_.begin(), order_.end(), 0);
    const auto of = [&, feature = value](std::int32_t row) {
      return batch->jobs[static_cast<std::size_t>(row) * kJobFeatures + feature];
    };
    std::sort(order_.begin(), order_.end(), [&](std::int32_t a, std::int32_t b) {
      const float x = of(a);
      const float y = of(b);
      return x != y ? x < y
                    : o.job[static_cast<std::size_t>(a)] < o.job[static_cast<std::size_t>(b)];
    });
    for (std::size_t position = 0; position < rows; ++position) {
      const float scaled =
          rows > 1 ? 2.0F * static_cast<float>(position) / static_cast<float>(rows - 1) - 1.0F
                   : 0.0F;
      batch->jobs[static_cast<std::size_t>(order_[position]) * kJobFeatures +
                  static_cast<std::size_t>(rank)] = scaled;
    }
  }
}

}  // namespace allot
