#include "sched/length_model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <utility>

#include "core/error.h"
#include "workload/history.h"

namespace allot {
namespace {

constexpr double kOfOtherClass = 0.125;
constexpr double kPatience = 1.0 / 64;

// Of an unknown run time: a Pareto tail of index 1, as long again as it has lasted.
constexpr double kPriorMedian = 600;
constexpr double kPriorJobs = 4;

// Of a run time over its estimate: log-normal noise, one in ten estimates worth nothing.
constexpr double kRatioUnit = 1.0 / 1024;
constexpr double kRatioSigma = 0.5;
constexpr double kWorthless = 0.1;
constexpr double kRatioJobs = 20;

std::size_t SizeClassOf(GpuCount gpus) { return gpus <= 1 ? 0 : gpus <= 4 ? 1 : gpus <= 8 ? 2 : 3; }

std::size_t EstimateClassOf(double seconds) { return seconds < 900 ? 0 : seconds < 10800 ? 1 : 2; }

double BeyondRatio(double x) {
  const double noisy = std::erfc(std::log(x) / (kRatioSigma * std::sqrt(2.0))) / 2;
  return (1 - kWorthless) * noisy + kWorthless / (1 + x);
}

// How much longer a job takes in its smallest configuration than as requested.
double Slowdown(const Observation& o, std::int32_t row) {
  const auto r = static_cast<std::size_t>(row);
  const ConfigurationTable& table = *o.table[r];
  return table[o.requested[r]].rate / table.reference_rate();
}

double EstimatedSeconds(const Observation& o, std::int32_t row) {
  const auto r = static_cast<std::size_t>(row);
  return o.estimated_work[r] / (*o.table[r])[o.requested[r]].rate;
}

}  // namespace

LengthModel::LengthModel() {
  initial_.by_size.assign(
      kSizeClasses,
      GittinsTable(
          1, kPriorJobs, [](double x) { return 1 / (1 + x / kPriorMedian); }, kPatience));
  initial_.by_estimate.assign(kEstimateClasses,
                              GittinsTable(kRatioUnit, kRatioJobs, BeyondRatio, kPatience));
  tables_ = initial_;
}

void LengthModel::Add(GpuCount gpus, double seconds, Tables* tables) {
  for (std::size_t c = 0; c < kSizeClasses; ++c) {
    tables->by_size[c].Add(seconds, c == SizeClassOf(gpus) ? 1 : kOfOtherClass);
  }
}

void LengthModel::Learn(const Workload& history, Seconds until) {
  for (const PastRun& run : PastRuns(history, until)) Add(run.gpus, run.seconds, &initial_);
  tables_ = initial_;
}

std::vector<std::vector<double>> LengthModel::learned() const {
  std::vector<std::vector<double>> counts;
  for (const GittinsTable& table : initial_.by_size) {
    counts.emplace_back(table.counts().begin(), table.counts().end());
  }
  return counts;
}

void LengthModel::SetLearned(const std::vector<std::vector<double>>& counts) {
  if (counts.size() != kSizeClasses) {
    throw UsageError("run times are kept for {} size classes, got {}", kSizeClasses, counts.size());
  }
  for (std::size_t c = 0; c < kSizeClasses; ++c) {
    const std::size_t bins = initial_.by_size[c].counts().size();
    if (counts[c].size() != bins) {
      throw UsageError("run times of a size class are kept in {} bins, got {}", bins,
                       counts[c].size());
    }
    initial_.by_size[c].SetCounts(counts[c]);
  }
  tables_ = initial_;
}

void LengthModel::OnEpisodeStart() {
  tables_ = initial_;
  ended_.OnEpisodeStart();
}

void LengthModel::Observe(const Observation& o) {
  for (const EndedJobs::Ended& ended : ended_.Observe(o)) {
    if (ended.estimated > 0) {
      const double estimate = ended.estimated / ended.size;
      tables_.by_estimate[EstimateClassOf(estimate)].Add(ended.seconds / estimate);
    } else {
      Add(ended.size, ended.seconds, &tables_);
    }
  }
}

double LengthModel::Rank(const Observation& o, std::int32_t row) const {
  const auto r = static_cast<std::size_t>(row);
  const double attained = AttainedAtRequested(o, row);
  const double estimate = EstimatedSeconds(o, row);
  if (!std::isnan(estimate)) {
    return Slowdown(o, row) * estimate *
           tables_.by_estimate[EstimateClassOf(estimate)].Rank(attained / estimate);
  }
  return Slowdown(o, row) *
         tables_.by_size[SizeClassOf((*o.table[r])[o.requested[r]].demand.gpus)].Rank(attained);
}

LengthModel::Forecast LengthModel::Of(const Observation& o, std::int32_t row) const {
  const auto r = static_cast<std::size_t>(row);
  const double attained = AttainedAtRequested(o, row);
  const double estimate = EstimatedSeconds(o, row);
  const bool estimated = !std::isnan(estimate);
  const GittinsTable& table =
      estimated ? tables_.by_estimate[EstimateClassOf(estimate)]
                : tables_.by_size[SizeClassOf((*o.table[r])[o.requested[r]].demand.gpus)];
  const double unit = estimated ? estimate : 1;
  const GittinsTable::Forecast ahead = table.Of(attained / unit);
  const double scale = unit * Slowdown(o, row);
  return {.rank = scale * ahead.rank, .median = scale * ahead.median, .high = scale * ahead.high};
}

LengthModel LengthModelOf(const std::string& history) {
  static std::mutex mutex;
  static std::map<std::string, LengthModel> read;
  const std::lock_guard lock(mutex);
  const auto known = read.find(history);
  if (known != read.end()) return known->second;
  const auto [trace, until] = ReadHistory(history);
  LengthModel model;
  model.Learn(trace, until);
  return read.emplace(history, std::move(model)).first->second;
}

}  // namespace allot
