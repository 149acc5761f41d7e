#include "features/encoder.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/vector_log.h"
#include "length_model/remaining.h"

namespace allot {
namespace {

float Bounded(double value) {
  const double bound = kFeatureBound;
  return static_cast<float>(std::clamp(value, -bound, bound));
}

// Those of all jobs are taken together and by vectors, as logarithms would be half the encoder's
// time: in single precision, but what a weight of the policy 'index' is made of in double, as
// there.
constexpr std::array<JobFeature, 2> kLoggedWide = {kRemainingSmallest, kForecastRank};
constexpr std::array<JobFeature, 7> kLogged = {kRemainingFastest, kRemainingCost, kAge,
                                               kRunningCost,      kAttained,      kForecastMedian,
                                               kForecastHigh};

// Places at which a table's features are looked for.
constexpr std::size_t kTries = 4;

float BoundedLog(double value) {
  return std::clamp(std::log(static_cast<float>(value)), -kFeatureBound, kFeatureBound);
}

}  // namespace

void FeatureEncoder::Encode(const Observation& o, FeatureBatch* batch) {
  const auto rows = static_cast<std::size_t>(o.rows());
  batch->jobs.resize(rows * kJobFeatures);
  batch->context.assign(kContextFeatures, 0.0F);
  lengths_.Observe(o);
  if (rows == 0) return;

  of_tables_.fill({});
  logs_.resize(rows * kLogLanes);
  wide_logs_.assign((rows * kLoggedWide.size() + kWideLogLanes - 1) / kWideLogLanes * kWideLogLanes,
                    1.0);
  float* log = logs_.data();
  double* wide_log = wide_logs_.data();
  const double per_interval = 1 / o.interval;
  double total_cost = 0;
  double total_width = 0;
  double used = 0;
  double arrived = 0;
  double restart = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    const ConfigurationTable& table = *o.table[r];
    float* x = batch->jobs.data() + r * kJobFeatures;
    const double remaining = AssumedRemaining(o, static_cast<std::int32_t>(r));
    const double total = remaining + o.done_work[r];
    const double cost = remaining / table.best_efficiency() * per_interval;
    const bool running = o.running[r] >= 0;
    const double present = running ? table[o.running[r]].cost : 0;
    const bool is_new = o.now - o.submit[r] < o.interval && o.changes[r] == 0;
    wide_log[0] = remaining / table.reference_rate() / o.interval + 0.01;
    log[0] = static_cast<float>(remaining / table.best_rate() * per_interval + 0.01);
    log[1] = static_cast<float>(cost + 0.01);
    log[2] = static_cast<float>(1 + (o.now - o.submit[r]) * per_interval);
    log[3] = static_cast<float>(1 + present / table.reference_cost());
    log[4] = static_cast<float>(o.attained_gpu_seconds[r] * table.best_efficiency() / total + 0.02);
    x[kRemainingShare] = Bounded(remaining / total);
    x[kIsNew] = is_new ? 1.0F : 0.0F;
    const OfTable& of_table = TableFeatures(table, o.requested[r]);
    x[kSpeedup] = of_table.speedup;
    x[kWidth] = of_table.width;
    x[kSmallestCost] = of_table.smallest_cost;
    x[kRequestedCost] = of_table.requested_cost;
    x[kIsRunning] = running ? 1.0F : 0.0F;
    x[kHasEstimate] = std::isnan(o.estimated_work[r]) ? 0.0F : 1.0F;
    const LengthModel::RemainingTime forecast = lengths_.Predict(o, static_cast<std::int32_t>(r));
    wide_log[1] = forecast.rank / o.interval + 0.01;
    log[5] = static_cast<float>(forecast.median * per_interval + 0.01);
    log[6] = static_cast<float>(forecast.high * per_interval + 0.01);
    log[7] = 1;
    log += kLogLanes;
    wide_log += kLoggedWide.size();
    total_cost += cost;
    total_width += table.max_hull_cost();
    used += running ? table[o.running[r]].demand.gpus : 0;
    arrived += is_new ? 1 : 0;
    restart += o.restart_cost[r];
  }
  EncodeLogs(batch);
  EncodeRanks(o, batch);

  // A whole number of vectors, so that the compiler uses them.
  constexpr std::size_t kPadded = (kJobFeatures + 3) / 4 * 4;
  std::array<float, kPadded> x{};
  std::array<double, kPadded> sum{};
  std::array<double, kPadded> squares{};
  for (std::size_t r = 0; r < rows; ++r) {
    std::copy_n(batch->jobs.data() + r * kJobFeatures, kJobFeatures, x.begin());
    for (std::size_t f = 0; f < kPadded; ++f) {
      const double value = x[f];
      sum[f] += value;
      squares[f] += value * value;
    }
  }
  float* context = batch->context.data();
  for (std::size_t f = 0; f < kJobFeatures; ++f) {
    const double mean = sum[f] / static_cast<double>(rows);
    const double variance = std::max(0.0, squares[f] / static_cast<double>(rows) - mean * mean);
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

const FeatureEncoder::OfTable& FeatureEncoder::TableFeatures(const ConfigurationTable& table,
                                                             std::int32_t requested) {
  const auto address = reinterpret_cast<std::uintptr_t>(&table);
  std::size_t slot = (address >> 5 ^ address >> 12) % of_tables_.size();
  for (std::size_t tries = 1; of_tables_[slot].table != nullptr; ++tries) {
    const OfTable& known = of_tables_[slot];
    if (known.table == &table && known.requested == requested) return known;
    if (tries == kTries) break;  // the last one looked at makes room
    slot = (slot + 1) % of_tables_.size();
  }
  OfTable& known = of_tables_[slot];
  known = {.table = &table,
           .requested = requested,
           .speedup = BoundedLog(table.best_rate() / table.reference_rate()),
           .width = BoundedLog(table.max_hull_cost() / table.reference_cost()),
           .smallest_cost = BoundedLog(table.reference_cost()),
           .requested_cost = BoundedLog(table[requested].cost / table.reference_cost())};
  return known;
}

void FeatureEncoder::EncodeLogs(FeatureBatch* batch) {
  TakeLogs(logs_.data(), logs_.size(), kFeatureBound);
  TakeLogs(wide_logs_.data(), wide_logs_.size(), kFeatureBound);
  const float* log = logs_.data();
  const double* wide_log = wide_logs_.data();
  for (auto x = batch->jobs.begin(); x != batch->jobs.end(); x += kJobFeatures) {
    for (std::size_t i = 0; i < kLogged.size(); ++i) x[kLogged[i]] = log[i];
    for (std::size_t i = 0; i < kLoggedWide.size(); ++i) {
      x[kLoggedWide[i]] = static_cast<float>(wide_log[i]);
    }
    log += kLogLanes;
    wide_log += kLoggedWide.size();
  }
}

void FeatureEncoder::EncodeRanks(const Observation& o, FeatureBatch* batch) {
  RankBy(o, kRemainingFastest, kRankRemaining, &remaining_ranks_, batch);
  RankBy(o, kRemainingCost, kRankCost, &cost_ranks_, batch);
  ShareBy(o, kRemainingSmallest, kHesrptWeight, &longer_, batch);
  ShareBy(o, kForecastRank, kHesrptForecastWeight, &longer_remaining_, batch);
}

void FeatureEncoder::TakeColumn(const FeatureBatch& batch, JobFeature feature) {
  column_.resize(batch.jobs.size() / kJobFeatures);
  for (std::size_t r = 0; r < column_.size(); ++r) {
    column_[r] = batch.jobs[r * kJobFeatures + static_cast<std::size_t>(feature)];
  }
}

void FeatureEncoder::RankBy(const Observation& o, JobFeature value, JobFeature rank, Ranks* ranks,
                            FeatureBatch* batch) {
  TakeColumn(*batch, value);
  const auto places = ranks->Of(column_, o.job);
  const auto last = static_cast<float>(places.size() - 1);
  for (std::size_t r = 0; r < places.size(); ++r) {
    batch->jobs[r * kJobFeatures + static_cast<std::size_t>(rank)] =
        last > 0 ? 2.0F * static_cast<float>(places[r]) / last - 1.0F : 0.0F;
  }
}

void FeatureEncoder::ShareBy(const Observation& o, JobFeature value, JobFeature share,
                             HesrptWeight* longer, FeatureBatch* batch) {
  TakeColumn(*batch, value);
  const std::vector<float>& shares = longer->Of(column_, o.job);
  for (std::size_t r = 0; r < shares.size(); ++r) {
    batch->jobs[r * kJobFeatures + static_cast<std::size_t>(share)] = shares[r];
  }
}

}  // namespace allot
