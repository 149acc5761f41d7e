#include "length_model/length_model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <utility>

#include "core/error.h"
#include "core/index.h"
#include "length_model/remaining.h"

namespace allot {
namespace {

constexpr double kOfOtherClass = 0.125;
constexpr double kPatience = 1.0 / 64;

// Of an unknown run time: a Pareto tail of index 1, as long again as it has lasted.
constexpr double kSecondsUnit = 1;
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

// NaN where nobody estimated the length, or the job has no time limit.
double KnownEstimate(Seconds estimate) {
  constexpr double kRounding = 1e-9;
  return estimate < kWithoutLimit * (1 - kRounding) ? estimate : kUnknown;
}

double EstimatedSeconds(const Observation& o, std::int32_t row) {
  const auto r = static_cast<std::size_t>(row);
  return KnownEstimate(o.estimated_work[r] / (*o.table[r])[o.requested[r]].rate);
}

void CheckRuns(const RunsByName& submitters) {
  for (const auto& [user, groups] : submitters) {
    for (const auto& [group, runs] : groups) {
      for (const auto& [bin, count] : runs) {
        if (bin >= 0 && At(bin) < SizeBins::kCount && count >= 0 && std::isfinite(count)) continue;
        throw UsageError("runs of user '{}' are kept as (one of {} bins, number), got ({}, {})",
                         user, SizeBins::kCount, bin, count);
      }
    }
  }
}

}  // namespace

LengthModel::LengthModel(const SubmitterOptions& options)
    : by_submitter_(kSecondsUnit, kSizeClasses), ratios_by_user_(kRatioUnit, kEstimateClasses) {
  initial_.by_size.assign(kSizeClasses,
                          GittinsTable(
                              kSecondsUnit, kPriorJobs,
                              [](double x) { return 1 / (1 + x / kPriorMedian); }, kPatience));
  initial_.by_estimate.assign(kEstimateClasses,
                              GittinsTable(kRatioUnit, kRatioJobs, BeyondRatio, kPatience));
  tables_ = initial_;
  SetOptions(options);
}

void LengthModel::SetOptions(const SubmitterOptions& options) {
  by_submitter_.SetOptions(options);
  ratios_by_user_.SetOptions(options);
}

void LengthModel::Add(GpuCount gpus, double seconds, Tables* tables) {
  for (std::size_t c = 0; c < kSizeClasses; ++c) {
    tables->by_size[c].Add(seconds, c == SizeClassOf(gpus) ? 1 : kOfOtherClass);
  }
}

void LengthModel::Learn(const Workload& history, Seconds until) {
  RunsByName submitters = by_submitter_.history();
  const SubmitterOptions& options = by_submitter_.options();
  Seconds date = until;
  if (date == kNever) date = history.jobs.empty() ? 0 : history.jobs.back().submit;
  for (const PastRun& run : PastRuns(history, until)) {
    Add(run.gpus, run.seconds, &initial_);
    if (run.user < 0 && run.group < 0) continue;
    AddRun(history.users[run.user], history.groups[run.group], by_submitter_.bins().Of(run.seconds),
           &submitters, options.Weight(date - run.end));
  }
  KeepLargestGroups(SubmitterTables::kMostLevels, &submitters);
  by_submitter_.SetHistory(std::move(submitters));
  tables_ = initial_;
}

std::vector<std::vector<double>> LengthModel::learned() const {
  std::vector<std::vector<double>> counts;
  for (const GittinsTable& table : initial_.by_size) {
    counts.emplace_back(table.counts().begin(), table.counts().end());
  }
  return counts;
}

void LengthModel::SetLearned(const std::vector<std::vector<double>>& counts,
                             RunsByName submitters) {
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
  CheckRuns(submitters);
  by_submitter_.SetHistory(std::move(submitters));
  tables_ = initial_;
}

void LengthModel::OnEpisodeStart() {
  tables_ = initial_;
  by_submitter_.OnEpisodeStart();
  ratios_by_user_.OnEpisodeStart();
  events_.Reset();
}

void LengthModel::Learn(const EndedJob& ended) {
  const Seconds estimate = KnownEstimate(ended.estimated_seconds());
  const Seconds seconds = ended.requested_seconds();
  if (estimate > 0) {
    tables_.by_estimate[EstimateClassOf(estimate)].Add(seconds / estimate);
    ratios_by_user_.Add(ended.user, -1, seconds / estimate);
  } else {
    Add(ended.requested_gpus, seconds, &tables_);
    by_submitter_.Add(ended.user, ended.group, seconds);
  }
}

void LengthModel::Observe(const Observation& o) {
  by_submitter_.Observe(o, true);
  ratios_by_user_.Observe(o, false);
  if (events_.Follow(o.events) != EventCursor::Step::kAgain) {
    for (const EndedJob& ended : o.events.ended) Learn(ended);
  }
  ObserveUnfinished(o);
  if (by_submitter_.knows_anybody()) {
    for (std::size_t c = 0; c < kSizeClasses; ++c) by_submitter_.SetClass(c, tables_.by_size[c]);
  }
  if (ratios_by_user_.knows_anybody()) {
    for (std::size_t c = 0; c < kEstimateClasses; ++c) {
      ratios_by_user_.SetClass(c, tables_.by_estimate[c]);
    }
  }
}

void LengthModel::ObserveUnfinished(const Observation& o) {
  if (!by_submitter_.options().unfinished) return;
  if (!by_submitter_.knows_anybody() && !ratios_by_user_.knows_anybody()) return;
  lasted_.assign(o.job.size(), 0);
  lasted_ratios_.assign(o.job.size(), 0);
  for (std::size_t r = 0; r < o.job.size(); ++r) {
    if (!(o.done_work[r] > 0)) continue;
    const double lasted = o.done_work[r] / (*o.table[r])[o.requested[r]].rate;
    const Seconds estimate = EstimatedSeconds(o, static_cast<std::int32_t>(r));
    if (estimate > 0) {
      lasted_ratios_[r] = o.done_work[r] / o.estimated_work[r];
    } else {
      lasted_[r] = lasted;
    }
  }
  by_submitter_.ObserveUnfinished(o, lasted_);
  ratios_by_user_.ObserveUnfinished(o, lasted_ratios_);
}

LengthModel::Question LengthModel::QuestionOf(const Observation& o, std::int32_t row) const {
  const auto r = static_cast<std::size_t>(row);
  const double attained = o.done_work[r] / (*o.table[r])[o.requested[r]].rate;
  const double estimate = EstimatedSeconds(o, row);
  if (!std::isnan(estimate)) {
    const std::size_t of = EstimateClassOf(estimate);
    return {&tables_.by_estimate[of], ratios_by_user_.Of(o.user[r], -1, of), attained / estimate,
            Slowdown(o, row) * estimate};
  }
  const std::size_t of = SizeClassOf((*o.table[r])[o.requested[r]].demand.gpus);
  return {&tables_.by_size[of], by_submitter_.Of(o.user[r], o.group[r], of), attained,
          Slowdown(o, row)};
}

double LengthModel::Rank(const Observation& o, std::int32_t row) const {
  const Question asked = QuestionOf(o, row);
  if (asked.of_submitter == nullptr) return asked.scale * asked.of_class->Rank(asked.attained);
  const SizeBins& bins = asked.of_class->bins();
  return asked.scale * asked.of_submitter->Rank(bins, bins.Of(asked.attained));
}

double LengthModel::Remaining(const Observation& o, std::int32_t row, double level) const {
  const Question asked = QuestionOf(o, row);
  if (asked.of_submitter == nullptr) {
    return asked.scale * asked.of_class->Remaining(asked.attained, level);
  }
  return asked.scale * asked.of_submitter->Remaining(asked.of_class->bins(), asked.attained, level);
}

LengthModel::RemainingTime LengthModel::Predict(const Observation& o, std::int32_t row) const {
  const Question asked = QuestionOf(o, row);
  const RemainingSize ahead =
      asked.of_submitter == nullptr
          ? asked.of_class->Predict(asked.attained)
          : asked.of_submitter->Predict(asked.of_class->bins(), asked.attained);
  return {.rank = asked.scale * ahead.rank,
          .median = asked.scale * ahead.median,
          .high = asked.scale * ahead.high};
}

LengthModel LengthModelOf(const std::shared_ptr<const History>& history,
                          const SubmitterOptions& options) {
  if (history == nullptr) return LengthModel(options);
  using Models = std::map<std::pair<double, bool>, LengthModel>;  // by the options
  static std::mutex mutex;
  static std::map<std::weak_ptr<const History>, Models, std::owner_less<>> made;
  const std::lock_guard lock(mutex);
  std::erase_if(made, [](const auto& known) { return known.first.expired(); });
  Models& of_history = made[history];
  const std::pair<double, bool> key(options.half_life, options.unfinished);
  const auto known = of_history.find(key);
  if (known != of_history.end()) return known->second;
  LengthModel model(options);
  model.Learn(history->trace, history->until);
  return of_history.emplace(key, std::move(model)).first->second;
}

}  // namespace allot
