#include "features/offset_encoder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/index.h"
#include "core/vector_log.h"
#include "length_model/remaining.h"

namespace allot {
namespace {

constexpr std::array<std::string_view, kOffsetOwn> kOwnNames = {
    "u of the index, less the mean over jobs",
    "restart cost / interval",
    "ln (1 + restart cost / remaining time in the smallest configuration)",
    "ln (1 + allocations begun so far)",
    "ln (1 + present wait in intervals)",
    "ln (units up to which rates are trusted / largest number of units), 0: all",
    "ln (1 + times that its rates were renewed)",
    "ln efficiency at four times the smallest configuration",
    "ln efficiency in its largest useful configuration",
    "ln (rate on its best GPU type / on its worst)",
    "ln (mean rate over its GPU types / on its best)",
    "ln (rate on the GPU type it runs on / on its best), 0 where it waits",
    "share of the GPU types on which it cannot run",
    "ln (1 + GPU-intervals attained)",
    "ln efficiency in its largest useful configuration, less its mean of the last ten decisions",
    "ln (1 + GPUs asked for by jobs whose best GPU type is its best / GPUs of that type)",
    "the same of the least wanted type where it can run, less that",
};

constexpr std::array<std::string_view, kOffsetWorld> kWorldNames = {
    "ln GPU types",
    "ln (interval / 60 s)",
    "ln GPUs / 3",
    "ln (GPUs / nodes)",
    "share in use of the GPU type least used",
    "share in use of the GPU type most used, less that",
};

float Clipped(double value) {
  const double bound = kFeatureBound;
  return std::isnan(value) ? 0.0F : static_cast<float>(std::clamp(value, -bound, bound));
}

double SafeLog(double value) { return std::log(std::max(value, 1e-9)); }

// The features of each row whose logarithms are taken together.
constexpr std::array<OffsetFeature, 4> kOwnLogged = {kRestartShare, kChanges, kWait, kService};
static_assert(kLogLanes % kOwnLogged.size() == 0);

// Of the mean that trends are measured from: about ten decisions.
constexpr float kSlow = 0.1F;

UnitCounts FourTimes(const UnitCounts& units) { return {4 * units.of(0), 4 * units.of(1)}; }

// Rate over cost of `c`, in units of the reference configuration's.
double Efficiency(const ConfigurationTable& table, const Configuration& c) {
  return c.rate / c.cost * table.reference_cost() / table.reference_rate();
}

// One unit of each kind where that progresses, else where the hull begins; -1 where there is none.
std::int32_t Smallest(const ConfigurationTable& table, GpuTypeIndex type) {
  const std::int32_t one = table.Find(UnitCounts::OfEach(table.kinds().size(), 1), type);
  if (one >= 0 && table[one].rate > 0) return one;
  return table.hull(type).empty() ? -1 : table.hull(type).front().to;
}

}  // namespace

OffsetEncoder::OfTable OffsetEncoder::Measure(const ConfigurationTable& table, std::size_t types) {
  OfTable of{.table = &table, .smallest = Smallest(table, table.types().front())};
  const GpuTypeIndex best_type = table.types().front();
  const std::vector<HullStep>& hull = table.hull(best_type);
  const int limit = std::min(table.limits().of(0), table.most_units().of(0));
  const int trusted = std::min(table.trusted().of(0), limit);
  of.trusted = Clipped(SafeLog(static_cast<double>(std::max(1, trusted)) / std::max(1, limit)));
  of.measured = Clipped(std::log1p(static_cast<double>(table.version())));
  if (!hull.empty() && of.smallest >= 0) {
    const UnitCounts more = FourTimes(table[of.smallest].units);
    const std::int32_t four = table.Find(more, best_type);
    if (four >= 0 && table[four].rate > 0 && more.FitsIn(table.trusted())) {
      of.scaling = Clipped(SafeLog(Efficiency(table, table[four])));
    }
    of.widest = Clipped(SafeLog(Efficiency(table, table[hull.back().to])));
  }
  of.types_missing =
      Clipped(1 - static_cast<double>(table.types().size()) / static_cast<double>(types));
  if (table.types().size() < 2 || of.smallest < 0) return of;
  double worst = kNever;
  double sum = 0;
  int on = 0;
  for (const GpuTypeIndex type : table.types()) {
    const std::int32_t there = table.OnType(of.smallest, type);
    if (there < 0 || !(table[there].rate > 0)) continue;
    const double rate = table[there].rate;
    of.best = std::max(of.best, rate);
    worst = std::min(worst, rate);
    sum += rate;
    ++on;
  }
  if (on == 0) return of;
  of.type_range = Clipped(SafeLog(of.best / worst));
  of.type_mean = Clipped(SafeLog(sum / on / of.best));
  return of;
}

const OffsetEncoder::OfTable& OffsetEncoder::TableFeatures(const ConfigurationTable& table,
                                                           std::size_t types) {
  constexpr std::size_t kLine = 64;  // bytes that addresses of tables differ by at least
  OfTable& of = of_tables_[reinterpret_cast<std::uintptr_t>(&table) / kLine % of_tables_.size()];
  if (of.table != &table) of = Measure(table, types);
  return of;
}

void OffsetEncoder::EncodeTable(const ConfigurationTable& table, std::int32_t running,
                                std::size_t types, float* x) {
  const OfTable& of = TableFeatures(table, types);
  x[kTrusted] = of.trusted;
  x[kMeasured] = of.measured;
  x[kScaling] = of.scaling;
  x[kWidest] = of.widest;
  x[kTypesMissing] = of.types_missing;
  x[kTypeRange] = of.type_range;
  x[kTypeMean] = of.type_mean;
  if (running < 0 || !(of.best > 0)) return;
  const std::int32_t there = table.OnType(of.smallest, table[running].gpu_type);
  if (there >= 0 && table[there].rate > 0)
    x[kTypeNow] = Clipped(SafeLog(table[there].rate / of.best));
}

std::span<const std::string_view> OffsetEncoder::OwnNames() { return kOwnNames; }
std::span<const std::string_view> OffsetEncoder::WorldNames() { return kWorldNames; }

void OffsetEncoder::OnEpisodeStart() {
  encoder_.OnEpisodeStart();
  slow_.clear();
}

void OffsetEncoder::Encode(const Observation& o, std::span<const Score> scores,
                           FeatureBatch* batch) {
  encoder_.Encode(o, &base_);
  const auto rows = static_cast<std::size_t>(o.rows());
  batch->jobs.assign(rows * kOffsetJobFeatures, 0.0F);
  batch->context.assign(kOffsetContext, 0.0F);
  of_tables_.fill({});  // rates may have been renewed
  if (rows == 0) return;
  double mean_u = 0;
  for (const Score& score : scores) mean_u += score.u / static_cast<double>(rows);
  const std::size_t types = o.cluster->types().size();
  const double per_interval = 1 / o.interval;
  logs_.assign((rows * kOwnLogged.size() + kLogLanes - 1) / kLogLanes * kLogLanes, 1.0F);
  float* log = logs_.data();
  for (std::size_t r = 0; r < rows; ++r, log += kOwnLogged.size()) {
    float* const row = batch->jobs.data() + r * kOffsetJobFeatures;
    std::copy_n(base_.jobs.data() + r * kJobFeatures, kJobFeatures, row);
    float* const x = row + kJobFeatures;
    const ConfigurationTable& table = *o.table[r];
    const double left = AssumedRemaining(o, static_cast<std::int32_t>(r)) / table.reference_rate();
    x[kRuleU] = Clipped(scores[r].u - mean_u);
    x[kRestart] = Clipped(o.restart_cost[r] * per_interval);
    log[0] = static_cast<float>(1 + o.restart_cost[r] / std::max(left, 1e-3));
    log[1] = static_cast<float>(1 + o.changes[r]);
    log[2] = static_cast<float>(1 + std::max(0.0, o.now - o.waiting_since[r]) * per_interval);
    log[3] = static_cast<float>(1 + o.attained_gpu_seconds[r] * per_interval);
    EncodeTable(table, o.running[r], types, x);
    x[kTrend] = Trend(o.job[r], x[kWidest]);
  }
  EncodeLogs(batch);
  EncodeWanted(o, batch);
  EncodeMeans(batch);
  std::copy_n(base_.context.data() + std::size_t{2} * kJobFeatures, kClusterFeatures,
              batch->context.data() + kOffsetJobFeatures);
  EncodeWorld(o, batch->context.data() + kOffsetJobFeatures + kClusterFeatures);
}

void OffsetEncoder::EncodeLogs(FeatureBatch* batch) {
  TakeLogs(logs_.data(), logs_.size(), kFeatureBound);
  const float* log = logs_.data();
  for (auto row = batch->jobs.begin(); row != batch->jobs.end(); row += kOffsetJobFeatures) {
    for (const OffsetFeature feature : kOwnLogged) row[kJobFeatures + feature] = *log++;
  }
}

void OffsetEncoder::EncodeMeans(FeatureBatch* batch) {
  std::copy_n(base_.context.begin(), kJobFeatures, batch->context.begin());
  std::array<double, kOffsetOwn> sums{};
  for (auto row = batch->jobs.begin(); row != batch->jobs.end(); row += kOffsetJobFeatures) {
    for (std::size_t f = 0; f < sums.size(); ++f) sums[f] += row[kJobFeatures + f];
  }
  const std::size_t rows = batch->jobs.size() / kOffsetJobFeatures;
  for (std::size_t f = 0; f < sums.size(); ++f) {
    batch->context[kJobFeatures + f] = static_cast<float>(sums[f] / static_cast<double>(rows));
  }
}

float OffsetEncoder::Trend(JobIndex job, float now) {
  if (slow_.size() <= At(job)) slow_.resize(At(job) + 1, std::numeric_limits<float>::quiet_NaN());
  float& slow = slow_[At(job)];
  if (std::isnan(slow)) slow = now;
  const float trend = now - slow;
  slow += kSlow * trend;
  return trend;
}

void OffsetEncoder::EncodeWanted(const Observation& o, FeatureBatch* batch) {
  wanted_.assign(o.cluster->types().size(), 0.0);
  for (std::size_t r = 0; r < o.job.size(); ++r) {
    const ConfigurationTable& table = *o.table[r];
    wanted_[At(table.types().front())] += table[o.requested[r]].demand.gpus;
  }
  for (std::size_t t = 0; t < wanted_.size(); ++t) {
    const double gpus = o.cluster->total_of(static_cast<GpuTypeIndex>(t)).gpus;
    wanted_[t] = std::log1p(wanted_[t] / std::max(1.0, gpus));
  }
  for (std::size_t r = 0; r < o.job.size(); ++r) {
    float* const x = batch->jobs.data() + r * kOffsetJobFeatures + kJobFeatures;
    const std::vector<GpuTypeIndex>& types = o.table[r]->types();
    const double best = wanted_[At(types.front())];
    double least = best;
    for (const GpuTypeIndex type : types) least = std::min(least, wanted_[At(type)]);
    x[kWanted] = Clipped(best);
    x[kSpared] = Clipped(least - best);
  }
}

void OffsetEncoder::EncodeWorld(const Observation& o, float* x) {
  const std::size_t types = o.cluster->types().size();
  used_.assign(types, 0.0);
  for (std::size_t r = 0; r < o.job.size(); ++r) {
    if (o.running[r] < 0) continue;
    const Configuration& now = (*o.table[r])[o.running[r]];
    used_[At(now.gpu_type)] += now.demand.gpus;
  }
  double least = 1;
  double most = 0;
  for (std::size_t t = 0; t < types; ++t) {
    const double gpus = o.cluster->total_of(static_cast<GpuTypeIndex>(t)).gpus;
    const double share = gpus > 0 ? used_[t] / gpus : 0;
    least = std::min(least, share);
    most = std::max(most, share);
  }
  const double gpus = o.cluster->total().gpus;
  const auto nodes = static_cast<double>(std::max<std::size_t>(1, o.cluster->nodes().size()));
  x[0] = Clipped(SafeLog(static_cast<double>(types)));
  x[1] = Clipped(SafeLog(o.interval / 60));
  x[2] = Clipped(SafeLog(gpus) / 3);
  x[3] = Clipped(SafeLog(gpus / nodes));
  x[4] = Clipped(least);
  x[5] = Clipped(most - least);
}

}  // namespace allot
