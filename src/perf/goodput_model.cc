#include "perf/goodput_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/strings.h"

namespace allot {
namespace {

constexpr int kCandidates = 50;
constexpr double kRounding = 1e-8;  // above which a share of a sample is one more
constexpr double kLeastSeconds = 1e-8;

double UpToWhole(double value) { return std::ceil(value - kRounding); }

double RateOf(const StepTiming& timing, const BatchLimits& limits,
              const std::vector<StatisticsPoint>& points, bool several_nodes, GpuCount gpus,
              const BatchChoice& choice) {
  const double total = choice.total(gpus);
  return StatisticsAt(points, total).Gain(total / limits.initial) /
         timing.Iteration(several_nodes, gpus, static_cast<double>(choice.local_batch),
                          choice.accumulation);
}

}  // namespace

double StepTiming::Synchronisation(bool several_nodes, GpuCount gpus) const {
  const double beyond_two = std::max<double>(gpus - 2, kLeastSeconds);
  if (several_nodes) return alpha_n + beta_n * beyond_two;
  if (gpus > 1) return alpha_r + beta_r * beyond_two;
  return kLeastSeconds + kLeastSeconds * beyond_two;
}

double StepTiming::Iteration(bool several_nodes, GpuCount gpus, double local_batch,
                             int accumulation) const {
  const double gradient = Gradient(local_batch);
  const double synchronisation = Synchronisation(several_nodes, gpus);
  const double last =
      std::pow(std::pow(gradient, gamma) + std::pow(synchronisation, gamma), 1 / gamma);
  return accumulation * gradient + last;
}

double GradientStatistics::Gain(double scale) const {
  const double left = variance / scale + square;
  return left > 0 ? (variance + square) / left : 1.0;
}

GradientStatistics StatisticsAt(const std::vector<StatisticsPoint>& points, double batch) {
  const auto above =
      std::lower_bound(points.begin(), points.end(), batch,
                       [](const StatisticsPoint& point, double b) { return point.batch < b; });
  if (above == points.end()) return points.back().statistics;
  if (above == points.begin() || above->batch == batch) return above->statistics;
  const StatisticsPoint& below = *std::prev(above);
  const double share = (batch - below.batch) / (above->batch - below.batch);
  const auto between = [&](double a, double b) { return a + share * (b - a); };
  return {between(below.statistics.square, above->statistics.square),
          between(below.statistics.variance, above->statistics.variance)};
}

BatchChoice SplitBatch(const BatchLimits& limits, GpuCount gpus, double total_batch) {
  const double local = total_batch / gpus;
  BatchChoice choice;
  choice.accumulation = static_cast<int>(UpToWhole(local / limits.most_local)) - 1;
  if (gpus == 1 && total_batch > limits.initial + kRounding) {
    choice.accumulation = std::max(choice.accumulation, 1);
  }
  choice.local_batch = static_cast<std::int64_t>(UpToWhole(local / (choice.accumulation + 1)));
  return choice;
}

BatchChoice SplitFixedBatch(const BatchLimits& limits, GpuCount gpus, double total_batch) {
  // A whole number of samples on each GPU comes first.
  BatchChoice choice = SplitBatch(limits, gpus, gpus * UpToWhole(total_batch / gpus));
  const double room = limits.most / (static_cast<double>(gpus) * (choice.accumulation + 1));
  choice.local_batch = std::min(choice.local_batch, static_cast<std::int64_t>(room));
  return choice;
}

std::vector<BatchChoice> BatchCandidates(const BatchLimits& limits, GpuCount gpus) {
  const double first = std::max(limits.initial, limits.least_local * gpus);
  const double ratio = std::log(limits.most / first);
  std::vector<BatchChoice> candidates;
  candidates.reserve(kCandidates);
  BatchChoice last;
  for (int i = 0; i < kCandidates; ++i) {
    const double total =
        i + 1 == kCandidates ? limits.most : first * std::exp(ratio * i / (kCandidates - 1));
    const BatchChoice choice = SplitBatch(limits, gpus, total);
    const bool known =
        choice.local_batch == last.local_batch && choice.accumulation == last.accumulation;
    last = choice;
    const auto local = static_cast<double>(choice.local_batch);
    if (known || local < limits.least_local || local > limits.most_local) continue;
    candidates.push_back(choice);
  }
  return candidates;
}

BatchChoice ChooseBatch(const StepTiming& timing, const BatchLimits& limits,
                        const std::vector<StatisticsPoint>& points, bool several_nodes,
                        GpuCount gpus) {
  BatchChoice best;
  for (BatchChoice& choice : BatchCandidates(limits, gpus)) {
    choice.rate = RateOf(timing, limits, points, several_nodes, gpus, choice);
    if (choice.rate > best.rate) best = choice;
  }
  return best;
}

BatchChoice FixedBatch(const StepTiming& timing, const BatchLimits& limits,
                       const std::vector<StatisticsPoint>& points, bool several_nodes,
                       GpuCount gpus, double total_batch) {
  BatchChoice choice = SplitFixedBatch(limits, gpus, total_batch);
  if (choice.local_batch > 0) {
    choice.rate = RateOf(timing, limits, points, several_nodes, gpus, choice);
  }
  return choice;
}

namespace {

struct TypeTiming {
  std::string gpu_type;
  StepTiming timing;
  BatchLimits limits;
};

// Gradients are alike until so much work is done.
struct Stage {
  double until = std::numeric_limits<double>::infinity();
  std::vector<StatisticsPoint> points;
};

class GoodputModel final : public ThroughputModel {
 public:
  GoodputModel(std::string name, std::vector<TypeTiming> types, std::vector<Stage> stages,
               double fixed_batch)
      : name_(std::move(name)),
        types_(std::move(types)),
        stages_(std::move(stages)),
        fixed_batch_(fixed_batch) {}

  const std::string& name() const override { return name_; }
  const std::vector<UnitKind>& kinds() const override { return kinds_; }
  bool varies() const override { return stages_.size() > 1; }
  double ConstantUntil(double done) const override { return StageAt(done).until; }

  double Rate(const RunShape& shape, const TrainingState& state) const override {
    const GpuCount gpus = shape.units().of(0);
    const TypeTiming* type = TypeNamed(shape.gpu_type);
    if (gpus <= 0 || type == nullptr) return 0;
    const bool several = shape.nodes.size() > 1;
    const auto rate_with = [&](const std::vector<StatisticsPoint>& points) {
      const StepTiming& timing = type->timing;
      const BatchLimits& limits = type->limits;
      return fixed_batch_ > 0 ? FixedBatch(timing, limits, points, several, gpus, fixed_batch_).rate
                              : ChooseBatch(timing, limits, points, several, gpus).rate;
    };
    if (!(state.noise_scale >= 0)) return rate_with(StageAt(state.done_work).points);
    const double initial = type->limits.initial;
    return rate_with({{initial, GradientStatistics::OfNoiseScale(state.noise_scale, initial)}});
  }

  // How many nodes matters only as one or several.
  std::vector<Span> SpansOn(std::string_view gpu_type) const override {
    if (TypeNamed(gpu_type) == nullptr) return {};
    return {{1, 1}, {2, Span::kAny}};
  }
  std::vector<std::string> gpu_types() const override {
    std::vector<std::string> names;
    if (SameOnAll()) return names;
    for (const TypeTiming& type : types_) names.push_back(type.gpu_type);
    return names;
  }

 private:
  bool SameOnAll() const {
    return types_.size() == 1 && types_.front().gpu_type == kUnnamedGpuType;
  }
  const TypeTiming* TypeNamed(std::string_view gpu_type) const {
    for (const TypeTiming& type : types_) {
      if (type.gpu_type == gpu_type) return &type;
    }
    const bool unnamed = gpu_type.empty() || gpu_type == kUnnamedGpuType;
    return unnamed || SameOnAll() ? &types_.front() : nullptr;
  }
  const Stage& StageAt(double done) const {
    const auto after =
        std::upper_bound(stages_.begin(), stages_.end(), done,
                         [](double work, const Stage& stage) { return work < stage.until; });
    return after == stages_.end() ? stages_.back() : *after;
  }

  std::string name_;
  std::vector<UnitKind> kinds_{{"gpu", {1, 0}}};
  std::vector<TypeTiming> types_;  // the first is the reference
  std::vector<Stage> stages_;      // the last has no end
  double fixed_batch_;             // 0: chosen
};

TypeTiming ReadTiming(const CatalogueRow& row) {
  TypeTiming type;
  type.gpu_type = row.Text("gpu_type");
  StepTiming& t = type.timing;
  for (const auto& [column, value] : {std::pair{"alpha_c", &t.alpha_c},
                                      {"beta_c", &t.beta_c},
                                      {"alpha_n", &t.alpha_n},
                                      {"beta_n", &t.beta_n},
                                      {"alpha_r", &t.alpha_r},
                                      {"beta_r", &t.beta_r},
                                      {"gamma", &t.gamma}}) {
    *value = row.Positive(column);
  }
  if (t.gamma < 1) {
    throw DataError("'gamma' must be at least 1, got {} ({})", t.gamma, row.place());
  }
  BatchLimits& limits = type.limits;
  limits.initial = row.Positive("initial_batch");
  limits.most = row.Positive("max_batch");
  limits.least_local = row.Positive("min_local_batch");
  limits.most_local = row.Positive("max_local_batch");
  if (limits.most < limits.initial || limits.most_local < limits.least_local) {
    throw DataError(
        "batch sizes must have room: 'initial_batch' {} up to 'max_batch' {}, 'min_local_batch' {} "
        "up to 'max_local_batch' {} ({})",
        limits.initial, limits.most, limits.least_local, limits.most_local, row.place());
  }
  return type;
}

// Estimates of squares and variances may be 0, and below.
double Finite(const CatalogueRow& row, const char* column) {
  const auto number = ParseNumber(row.Text(column));
  if (!number || !std::isfinite(*number)) {
    throw DataError("'{}' must be a finite number, got '{}' ({})", column, row.Text(column),
                    row.place());
  }
  return *number;
}

// Of a row without GPU type.
StatisticsPoint ReadStatistics(const CatalogueRow& row, double initial_batch) {
  const auto given = [&](const char* column) { return !row.Text(column).empty(); };
  StatisticsPoint point;
  point.batch = given("batch") ? row.Positive("batch") : initial_batch;
  if (given("noise_scale") == (given("grad_sqr") && given("grad_var"))) {
    throw DataError(
        "a row of gradients has 'noise_scale', or 'grad_sqr' and 'grad_var': got '{}', '{}', '{}' "
        "({})",
        row.Text("noise_scale"), row.Text("grad_sqr"), row.Text("grad_var"), row.place());
  }
  point.statistics =
      given("noise_scale")
          ? GradientStatistics::OfNoiseScale(row.Positive("noise_scale"), initial_batch)
          : GradientStatistics{Finite(row, "grad_sqr"), Finite(row, "grad_var")};
  return point;
}

void AddStatistics(const CatalogueRow& row, double initial_batch, std::vector<Stage>* stages) {
  const StatisticsPoint point = ReadStatistics(row, initial_batch);
  Stage stage;
  if (!row.Text("until").empty()) stage.until = row.Positive("until");
  if (stages->empty() || stage.until > stages->back().until) {
    stages->push_back(stage);
  } else if (stage.until < stages->back().until) {
    throw DataError("'until' must not fall, got {} after {} ({})", stage.until,
                    stages->back().until, row.place());
  }
  auto& points = stages->back().points;
  if (!points.empty() && point.batch <= points.back().batch) {
    throw DataError("'batch' must rise where 'until' is the same, got {} after {} ({})",
                    point.batch, points.back().batch, row.place());
  }
  points.push_back(point);
}

ModelPtr Make(const std::string& profile, std::span<const CatalogueRow> rows) {
  std::vector<TypeTiming> types;
  std::vector<Stage> stages;
  double fixed_batch = 0;
  for (const CatalogueRow& row : rows) {
    if (row.Text("gpu_type").empty()) {
      if (types.empty()) {
        throw DataError("rows of GPU types come before rows of gradients: profile '{}' ({})",
                        profile, row.place());
      }
      AddStatistics(row, types.front().limits.initial, &stages);
      continue;
    }
    TypeTiming type = ReadTiming(row);
    for (const TypeTiming& known : types) {
      if (known.gpu_type != type.gpu_type) continue;
      throw DataError("a GPU type has one row: '{}' of profile '{}' appears again ({})",
                      type.gpu_type, profile, row.place());
    }
    const double first = types.empty() ? type.limits.initial : types.front().limits.initial;
    if (type.limits.initial != first) {
      throw DataError(
          "work is iterations at 'initial_batch', the same on all types: {} after {} ({})",
          type.limits.initial, first, row.place());
    }
    if (!row.Text("fixed_batch").empty()) {
      fixed_batch = row.Positive("fixed_batch");
      if (fixed_batch > type.limits.most) {
        throw DataError("'fixed_batch' must be at most 'max_batch' {}, got {} ({})",
                        type.limits.most, fixed_batch, row.place());
      }
    }
    types.push_back(std::move(type));
  }
  if (types.empty() || stages.empty()) {
    throw DataError(
        "profile '{}' needs a row with a GPU type and a row of gradients, got {} and {} ({})",
        profile, types.size(), stages.size(), rows.front().place());
  }
  // What is beyond the last row is as the last row.
  stages.back().until = std::numeric_limits<double>::infinity();
  return std::make_shared<GoodputModel>(profile, std::move(types), std::move(stages), fixed_batch);
}

ALLOT_REGISTER(ThroughputModelInfo,
               (ThroughputModelInfo{
                   "goodput",
                   "iterations at the initial batch, with the best batch for the GPUs (Pollux)",
                   {"gpu_type", "alpha_c", "beta_c", "alpha_n", "beta_n", "alpha_r", "beta_r",
                    "gamma", "initial_batch", "max_batch", "min_local_batch", "max_local_batch"},
                   {"fixed_batch", "until", "batch", "noise_scale", "grad_sqr", "grad_var"},
                   Make}));

}  // namespace
}  // namespace allot
