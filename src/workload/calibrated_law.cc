#include "workload/calibrated_law.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <queue>

#include "core/interrupt.h"
#include "core/rng.h"

namespace allot {
namespace {

constexpr const char* kMonday = "2024-01-01 00:00:00";
constexpr Seconds kHour = 3600;

double NormalShare(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

// Jobs of the batch at this place of the distribution of sizes, u in [0, 1).
double BatchSize(const CalibratedLaw& law, double u) {
  const auto& points = law.batch_sizes;
  std::size_t at = 0;
  while (at + 1 < points.size() && u >= points[at].first) ++at;
  if (at == 0) return points[0].second;
  const auto& [below, small] = points[at - 1];
  const auto& [above, large] = points[at];
  const double part = (u - below) / (above - below);
  return std::ceil(std::exp(std::lerp(std::log(small), std::log(large), part)));
}

double MeanBatch(const CalibratedLaw& law) {
  constexpr int kSteps = 100'000;
  double sum = 0;
  for (int i = 0; i < kSteps; ++i) sum += BatchSize(law, (i + 0.5) / kSteps);
  return sum / kSteps;
}

// The value at u when each has a share; shares sum to about 1.
template <typename Value>
const Value& Pick(const std::vector<std::pair<Value, double>>& shares, double u) {
  for (const auto& [value, share] : shares) {
    if (u < share) return value;
    u -= share;
  }
  return shares.front().first;  // what rounding left over goes to the first
}

// Submit times of batches: a Poisson process whose rate follows hour and weekday, by thinning.
class BatchTimes {
 public:
  BatchTimes(const CalibratedLaw& law, double batches_per_hour, std::uint64_t seed)
      : law_(law), rng_(seed, "law-batches") {
    highest_ = *std::max_element(law.hour_of_day.begin(), law.hour_of_day.end()) *
               *std::max_element(law.day_of_week.begin(), law.day_of_week.end());
    mean_gap_ = kHour / (batches_per_hour * highest_);
  }

  Seconds Next() {
    do {
      now_ += rng_.Exponential(mean_gap_);
    } while (rng_.Uniform() * highest_ >= Factor());
    return now_;
  }

 private:
  double Factor() const {
    const auto hour = static_cast<std::int64_t>(now_ / kHour);
    return law_.hour_of_day[static_cast<std::size_t>(hour % 24)] *
           law_.day_of_week[static_cast<std::size_t>(hour / 24 % 7)];
  }

  const CalibratedLaw& law_;
  Rng rng_;
  double highest_ = 0;
  Seconds mean_gap_ = 0;
  Seconds now_ = 0;
};

std::vector<Job> MakeBatch(const CalibratedLaw& law, Seconds begin, std::uint64_t seed,
                           std::uint64_t number, NameTable* tenants) {
  Rng rng(seed, "law-batch", number);
  const auto size = static_cast<std::size_t>(BatchSize(law, rng.Uniform()));
  const GpuCount gpus = Pick(law.gpus, rng.Uniform());
  const std::int32_t tenant =
      law.tenants.empty() ? -1 : tenants->Intern(Pick(law.tenants, rng.Uniform()));
  const double common = std::sqrt(law.run_time_correlation) * rng.Normal();
  const double own = std::sqrt(1 - law.run_time_correlation);
  std::vector<Job> jobs(size);
  Seconds time = begin;
  for (Job& job : jobs) {
    job.submit = std::floor(time);
    job.tenant = tenant;
    job.gpus = rng.Uniform() < law.same_gpus ? gpus : Pick(law.gpus, rng.Uniform());
    const auto times =
        std::find_if(law.run_times.begin(), law.run_times.end(),
                     [&](const CalibratedLaw::RunTimes& each) { return job.gpus <= each.up_to; });
    job.duration = RunTimeAt(*times, law.longest, NormalShare(common + own * rng.Normal()));
    time += rng.Exponential(law.mean_gap);
  }
  return jobs;
}

}  // namespace

CalibratedLaw ParseCalibratedLaw(std::string_view text) {
  const nlohmann::json json = nlohmann::json::parse(text);
  const auto& batches = json.at("batches");
  CalibratedLaw law;
  law.jobs_per_hour = json.at("jobs_per_hour");
  law.hour_of_day = json.at("hour_of_day");
  law.day_of_week = json.at("day_of_week");
  law.batch_sizes = batches.at("sizes");
  law.mean_batch = MeanBatch(law);
  law.mean_gap = batches.at("mean_gap_s");
  law.same_gpus = batches.at("same_gpus");
  law.run_time_correlation = batches.at("run_time_correlation");
  law.gpus = json.at("gpus");
  for (const auto& entry : json.at("run_times")) {
    law.run_times.push_back(
        {entry.at("up_to_gpus"), entry.at("lognormal"), entry.at("at_longest")});
  }
  law.longest = json.at("longest_s");
  if (json.contains("tenants")) law.tenants = json.at("tenants");
  return law;
}

Seconds RunTimeAt(const CalibratedLaw::RunTimes& times, Seconds longest, double u) {
  if (u >= 1 - times.at_longest) return longest;
  u /= 1 - times.at_longest;
  double low = 0, high = std::log(longest);  // of ln s
  while (high - low > 1e-6) {
    const double middle = 0.5 * (low + high);
    double share = 0;
    for (const auto& [weight, mean, deviation] : times.parts) {
      share += weight * NormalShare((middle - mean) / deviation);
    }
    (share < u ? low : high) = middle;
  }
  return std::clamp(std::round(std::exp(high)), 1.0, longest);
}

Workload GenerateCalibrated(const CalibratedLaw& law, std::string_view name, double rate,
                            std::uint64_t seed, const LawLength& length) {
  // Batches overlap: a job is settled when no later batch can come before it.
  struct Pending {
    Job job;
    std::uint64_t order;
  };
  const auto later = [](const Pending& a, const Pending& b) {
    return std::pair(a.job.submit, a.order) > std::pair(b.job.submit, b.order);
  };
  std::priority_queue<Pending, std::vector<Pending>, decltype(later)> pending(later);
  BatchTimes times(law, rate / law.mean_batch, seed);
  Workload workload;
  workload.name = fmt::format("{}-rate{}-seed{}", name, rate, seed);
  workload.origin = kMonday;
  Seconds end = kNever;
  std::uint64_t order = 0;
  for (std::uint64_t number = 0;; ++number) {
    ThrowIfInterrupted();
    const Seconds begin = times.Next();
    while (!pending.empty() && pending.top().job.submit < std::floor(begin)) {
      Job job = pending.top().job;
      pending.pop();
      if (job.submit > end) break;
      job.id = std::to_string(workload.jobs.size());
      workload.jobs.push_back(std::move(job));
      if (workload.jobs.size() == static_cast<std::size_t>(length.jobs)) {
        end = workload.jobs.back().submit + length.tail;
        if (length.tail <= 0) break;  // jobs of that second beyond the number stay out
      }
    }
    if (begin > end) break;
    for (Job& job : MakeBatch(law, begin, seed, number, &workload.tenants)) {
      pending.push({std::move(job), order++});
    }
  }
  workload.Finish();
  return workload;
}

}  // namespace allot
