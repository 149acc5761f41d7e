#include "sim/seasonal_lender.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/error.h"

namespace allot {
namespace {

constexpr std::size_t kWeek = ServiceLoad::kStepsPerWeek;
constexpr std::ptrdiff_t kWeekSteps = kWeek;
constexpr std::array<std::size_t, 10> kHorizons = {1, 2, 3, 6, 12, 24, 48, 96, 192, 288};  // steps
constexpr std::size_t kSmoothing = 3;  // steps before and after that count as the same time of week

// The mean of steps that are nearly at the same time of the week.
std::vector<double> Smoothed(const std::vector<double>& week) {
  std::vector<double> smooth(kWeek, 0.0);
  constexpr std::size_t kWidth = 2 * kSmoothing + 1;
  for (std::size_t step = 0; step < kWeek; ++step) {
    for (std::size_t k = 0; k < kWidth; ++k) {
      smooth[step] += week[(step + kWeek + k - kSmoothing) % kWeek] / kWidth;
    }
  }
  return smooth;
}

double LogOf(double gpus) { return std::log(std::max(1.0, gpus)); }

std::size_t StepOfWeek(Seconds time) {
  const auto step = static_cast<std::int64_t>(std::floor(time / ServiceLoad::kStep));
  constexpr auto kSteps = static_cast<std::int64_t>(kWeek);
  return static_cast<std::size_t>((step % kSteps + kSteps) % kSteps);
}

double QuantileOf(const Params& params, std::string_view name) {
  const double quantile = params.Number(name);
  if (quantile > 0 && quantile < 1) return quantile;
  throw UsageError("a lender's '{}' must lie between 0 and 1, got {}", name, quantile);
}

}  // namespace

SeasonalLender::SeasonalLender(const Params& params, const ServiceLoad& load, Deviation deviation)
    : load_(load) {
  const std::vector<double> history = load.History();
  const std::size_t weeks = history.size() / kWeek;
  if (weeks < 2) {
    throw UsageError(
        "lenders that predict must know two weeks of the load before the workload, got {:.1f} days",
        load.history() / 86400);
  }
  const std::size_t unused = history.size() - weeks * kWeek;
  std::vector<double> log(weeks * kWeek);
  for (std::size_t t = 0; t < log.size(); ++t) log[t] = LogOf(history[unused + t]);
  std::vector<std::vector<double>> of_weeks;
  of_weeks.reserve(weeks);
  season_.assign(kWeek, 0.0);
  for (auto week = log.cbegin(); week != log.cend(); week += kWeekSteps) {
    of_weeks.push_back(Smoothed({week, week + kWeekSteps}));
    for (std::size_t s = 0; s < kWeek; ++s) {
      season_[s] += of_weeks.back()[s] / static_cast<double>(weeks);
    }
  }
  std::vector<double> deviations(log.size());
  for (std::size_t t = 0; t < log.size(); ++t) {
    const std::size_t s = t % kWeek;
    const double others = season_[s] * static_cast<double>(weeks) - of_weeks[t / kWeek][s];
    deviations[t] = log[t] - others / static_cast<double>(weeks - 1);
  }
  Learn(deviations, deviation);
  lend_ = MarginsOf(QuantileOf(params, "quantile"));
  cover_ = MarginsOf(QuantileOf(params, "cover"));
}

void SeasonalLender::Learn(const std::vector<double>& deviations, Deviation deviation) {
  horizons_.reserve(kHorizons.size());
  for (const std::size_t steps : kHorizons) {
    Horizon& horizon = horizons_.emplace_back();
    horizon.steps = steps;
    double square = 0;
    double product = 0;
    for (std::size_t t = 0; t + steps < deviations.size(); ++t) {
      square += deviations[t] * deviations[t];
      product += deviations[t] * deviations[t + steps];
    }
    if (deviation == Deviation::kDecays && square > 0) horizon.kept = product / square;
    horizon.errors.reserve(deviations.size() - steps);
    for (std::size_t t = 0; t + steps < deviations.size(); ++t) {
      horizon.errors.push_back(deviations[t + steps] - horizon.kept * deviations[t]);
    }
    std::sort(horizon.errors.begin(), horizon.errors.end());
  }
}

std::vector<ParamSpec> SeasonalLender::Parameters() {
  return {{"quantile", "0.99", "of the demand as predicted: GPUs beyond it are lent", 0, 1},
          {"cover", "0.95", "of the demand as predicted: GPUs beyond it are guaranteed", 0, 1}};
}

SeasonalLender::Margins SeasonalLender::MarginsOf(double quantile) const {
  Margins margins;
  margins.reserve(horizons_.size());
  for (const Horizon& horizon : horizons_) {
    const auto last = static_cast<double>(horizon.errors.size() - 1);
    margins.push_back(horizon.errors[static_cast<std::size_t>(std::ceil(quantile * last))]);
  }
  return margins;
}

double SeasonalLender::Season(Seconds time) const { return season_[StepOfWeek(time)]; }

double SeasonalLender::Need(Seconds now, Seconds ahead, const Margins& margins) const {
  // The first horizon that reaches as far; the last one for all beyond.
  std::size_t h = 0;
  while (h + 1 < horizons_.size() &&
         static_cast<double>(horizons_[h].steps) * ServiceLoad::kStep < ahead) {
    ++h;
  }
  const double deviation = LogOf(load_.At(now)) - Season(now);
  return std::exp(Season(now + ahead) + horizons_[h].kept * deviation + margins[h]);
}

}  // namespace allot
