#include "wait_forecast/wait_forecaster.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "core/error.h"
#include "core/index.h"
#include "sim/lookahead_simulation.h"
#include "wait_forecast/future.h"

namespace allot {
namespace {

constexpr int kMostSamples = 10'000;
constexpr Seconds kLeastRemaining = 1e-3;  // of an unfinished job

// Most futures end long before the horizon, so arrivals are first made for this part of it only,
// and for a part kNextPart times as long if that is not enough.
constexpr Seconds kLeastPart = 86400;
constexpr double kSettlesInPart = 1.25;
constexpr double kNextPart = 2;
constexpr Seconds kStartsInPart = 4 * 3600;  // of futures that end at a start
// Such futures have decisions at steps of this part of the time ahead, at least: with more of them,
// starts are the same and quotes take longer.
constexpr double kStep = 0.02;

constexpr Seconds kHypotheticalSeconds = 3600;

// The positions of Hazen: sample i of n stands for the level (i + 0.5) / n.
Seconds QuantileOf(std::span<const Seconds> sorted, double level) {
  const auto n = static_cast<double>(sorted.size());
  const double position = std::clamp(level * n - 0.5, 0.0, n - 1);
  const auto below = static_cast<std::size_t>(position);
  const double part = position - static_cast<double>(below);
  if (part == 0 || sorted[below] == kNever) return sorted[below];
  return sorted[below] + part * (sorted[below + 1] - sorted[below]);
}

// If some futures end before the time is known, those that go beyond `until` count as kNever too:
// otherwise only the late times of the other futures would count.
TimeQuantiles QuantilesOf(std::span<Seconds> times, Seconds until) {
  TimeQuantiles quantiles;
  quantiles.fill(kUnknown);
  const auto unknown = [](Seconds time) { return std::isnan(time); };
  if (std::any_of(times.begin(), times.end(), unknown)) return quantiles;
  std::sort(times.begin(), times.end());
  if (times.back() == kNever) {
    std::fill(std::upper_bound(times.begin(), times.end(), until), times.end(), kNever);
  }
  for (std::size_t l = 0; l < quantiles.size(); ++l) {
    quantiles[l] = QuantileOf(times, kForecastLevels[l]);
  }
  return quantiles;
}

}  // namespace

int SamplesFor(std::int32_t jobs) { return std::clamp(16'000 / std::max(jobs, 1), 8, 64); }

// Users, groups and tenants of the moment and of the past in one numbering.
struct WaitForecaster::Names {
  NameTable users;
  NameTable groups;
  NameTable tenants;
  std::vector<std::int32_t> past_users;
  std::vector<std::int32_t> past_groups;
  std::vector<std::int32_t> past_tenants;

  static std::int32_t NumberOf(const std::vector<std::int32_t>& numbers, std::int32_t index) {
    return index < 0 || At(index) >= numbers.size() ? -1 : numbers[At(index)];
  }
};

namespace {

void Renumber(const std::vector<std::string>* names, NameTable* table,
              std::vector<std::int32_t>* column) {
  std::vector<std::int32_t> numbers;
  if (names != nullptr) {
    numbers.reserve(names->size());
    for (const std::string& name : *names) numbers.push_back(table->Intern(name));
  }
  for (std::int32_t& index : *column) {
    index = index < 0 || At(index) >= numbers.size() ? -1 : numbers[At(index)];
  }
}

std::vector<std::int32_t> Numbers(const NameTable& names, bool known_only, NameTable* table) {
  std::vector<std::int32_t> numbers;
  numbers.reserve(names.size());
  for (const std::string& name : names.names()) {
    numbers.push_back(known_only ? table->Find(name) : table->Intern(name));
  }
  return numbers;
}

// [future][job]: the total work of a job. If `limited`, estimates are time limits at which a job
// ends at the latest; a job beyond its limit has none.
std::vector<double> DrawWork(const Observation& o, const std::vector<std::size_t>& row_of,
                             const LengthModel& lengths, const WaitForecastOptions& options,
                             int futures, bool limited) {
  const std::size_t samples = At(futures);
  const auto levels = LengthLevels(o, futures, options.correlations, options.seed);
  std::vector<double> work(row_of.size() * samples);
  for (std::size_t i = 0; i < row_of.size(); ++i) {
    const std::size_t r = row_of[i];
    const double rate = o.table[r]->reference_rate();
    const bool has_limit = limited && o.done_work[r] < o.estimated_work[r];
    const double most = has_limit ? o.estimated_work[r] : kNever;
    for (std::size_t s = 0; s < samples; ++s) {
      if (options.as_estimated && o.done_work[r] < o.estimated_work[r]) {
        work[s * row_of.size() + i] = o.estimated_work[r];
        continue;
      }
      const double level = levels[r * samples + s];
      const Seconds left = lengths.Remaining(o, static_cast<std::int32_t>(r), level);
      work[s * row_of.size() + i] =
          std::min(o.done_work[r] + std::max(left, kLeastRemaining) * rate, most);
    }
  }
  return work;
}

// Whose a job of this user is, by the jobs that the rules know; a user without any is nobody's yet.
Submitter SubmitterOf(const RulesPast& past, std::int32_t user) {
  std::int32_t accounts = 0;
  for (const RulesPast::KnownJob& job : past.jobs) {
    if (user >= 0 && job.submitter.user == user) return job.submitter;
    accounts = std::max(accounts, job.submitter.account + 1);
  }
  return {accounts, user};
}

}  // namespace

int WaitForecaster::SamplesOf(const Observation& o) const {
  if (options_.as_estimated) return 1;
  return options_.samples > 0 ? options_.samples : SamplesFor(o.rows());
}

bool WaitForecaster::limited() const { return rules_.lengths.kind == LengthEstimates::Kind::kUser; }

WaitForecaster::WaitForecaster(SimOptions rules, const WaitForecastOptions& options,
                               std::shared_ptr<const PastArrivals> past)
    : rules_(std::move(rules)), options_(options), past_(std::move(past)) {
  if (options.samples < 0 || options.samples > kMostSamples) {
    throw UsageError("samples must be from 0 (chosen by the number of jobs) to {}, got {}",
                     kMostSamples, options.samples);
  }
  if (!(options.horizon > 0 && options.horizon < kNever)) {
    throw UsageError("the horizon must be finite and > 0 s, got {}", options.horizon);
  }
  for (const auto& [name, value] :
       {std::pair("alike", options.correlations.alike), {"common", options.correlations.common}}) {
    if (value >= 0 && value <= 1) continue;
    throw UsageError("{} must be a correlation from 0 to 1, got {}", name, value);
  }
  if (!(options.settle >= 0)) throw UsageError("settle must be >= 0 s, got {}", options.settle);
  if (!(options.step >= 0)) throw UsageError("step must be >= 0, got {}", options.step);
  if (options.most_rows < 0) {
    throw UsageError("most_rows must be >= 0 (0: any number), got {}", options.most_rows);
  }
  // A forecast must not know future faults, and does not simulate the other ones.
  rules_.node_events.clear();
  if (rules_.rules != nullptr) {
    rules_.rules = std::make_shared<const OperatorRules>(rules_.rules->WithoutMaintenance());
  }
  rules_.failures = {};
  rules_.services = {};
  rules_.autoscale.clear();
  rules_.beliefs.clear();
  rules_.progress.clear();
  rules_.training.stepped = false;
  rules_.speedup = 1;
}

Scenario WaitForecaster::MakeWorld(const Observation& start, const Names& names,
                                   const std::vector<PastArrivals::Arrival>& arrivals,
                                   std::span<const double> work, Seconds part) const {
  SimOptions rules = rules_;
  rules.interval = start.interval;
  if (!start.job.empty()) rules.restart_cost = start.restart_cost.front();
  Workload workload;
  workload.name = "outlook";
  if (rules.rules != nullptr) {  // they apply to jobs by name
    workload.users = names.users;
    workload.tenants = names.tenants;
  }
  std::vector<Scenario::JobFacts> facts;
  const std::size_t most = At(start.rows()) + arrivals.size() + 1;
  workload.jobs.reserve(most);
  facts.reserve(most);
  const auto add = [&](Job job, Scenario::JobFacts known) {
    job.duration = known.work / (*known.table)[known.requested].rate;
    workload.jobs.push_back(std::move(job));
    facts.push_back(std::move(known));
  };
  for (std::int32_t row = 0; row < start.rows(); ++row) {
    const std::size_t r = At(row);
    Scenario::JobFacts known;
    // The observation's tables outlive the simulation.
    known.table =
        std::shared_ptr<const ConfigurationTable>(std::shared_ptr<const void>(), start.table[r]);
    known.requested = start.requested[r];
    known.work = work[r];
    known.estimate = start.estimated_work[r];
    Job job;
    job.submit = start.submit[r];
    job.priority = start.priority[r];
    if (rules.rules != nullptr) {
      job.user = start.user[r];
      job.tenant = At(start.tenant[r]) < names.tenants.size() ? start.tenant[r] : -1;
    }
    add(std::move(job), std::move(known));
  }
  for (const PastArrivals::Arrival& arrival : arrivals) {
    if (arrival.after > part) break;
    const Scenario::JobFacts& from = past_->past().facts(arrival.job);
    Scenario::JobFacts known;
    known.table = from.table;
    known.requested = from.requested;
    known.work = past_->WorkOf(arrival.job);
    known.estimate = from.estimate;
    Job job = past_->past().workload().jobs[At(arrival.job)];
    if (job.deadline != kNever) job.deadline += start.now + arrival.after - job.submit;
    job.submit = start.now + arrival.after;
    job.user = Names::NumberOf(names.past_users, job.user);
    job.group = Names::NumberOf(names.past_groups, job.group);
    job.tenant = Names::NumberOf(names.past_tenants, job.tenant);
    add(std::move(job), std::move(known));
  }
  // A last job arrives at the end, so that there always is a next event. It is of a user who is
  // there: nobody shares with a user who is alone.
  Job last = workload.jobs.front();
  last.submit = start.now + part;
  Scenario::JobFacts of_last = facts.front();
  add(std::move(last), std::move(of_last));
  return Scenario(std::move(workload), *start.cluster, std::move(rules), std::move(facts));
}

// What all futures of a moment begin with. Stays where it was made: `start` points into it.
struct WaitForecaster::Beginning {
  Beginning(const Moment& now, const PastArrivals* past_arrivals) {
    const Observation& from = now.observation;
    row_of.resize(from.job.size());
    std::iota(row_of.begin(), row_of.end(), std::size_t{0});
    std::sort(row_of.begin(), row_of.end(),
              [&](std::size_t a, std::size_t b) { return from.job[a] < from.job[b]; });
    start = NumberedByJob(from);
    Renumber(from.user_names, &names.users, &start.user);
    Renumber(from.group_names, &names.groups, &start.group);
    if (now.tenants != nullptr) {
      for (const std::string& name : *now.tenants) names.tenants.Intern(name);
    }
    if (past_arrivals != nullptr) {
      const Workload& history = past_arrivals->past().workload();
      names.past_users = Numbers(history.users, false, &names.users);
      names.past_groups = Numbers(history.groups, false, &names.groups);
      names.past_tenants = Numbers(history.tenants, true, &names.tenants);
    }
    start.user_names = &names.users.names();
    start.group_names = &names.groups.names();
    past = now.past;
    for (std::size_t i = 0; i < past.jobs.size(); ++i) past.jobs[i] = now.past.jobs[row_of[i]];
  }
  Beginning(const Beginning&) = delete;
  Beginning& operator=(const Beginning&) = delete;

  std::vector<std::size_t> row_of;  // the simulation orders rows by job
  Observation start;
  Names names;
  RulesPast past;
};

// Simulates futures one after the other within the limits that they share.
class WaitForecaster::Simulations {
 public:
  Simulations(const WaitForecaster& forecaster, const Moment& now, Policy& policy,
              const WaitForecastOptions& options, const std::function<void()>& pause, int count,
              Seconds part)
      : forecaster_(forecaster),
        options_(options),
        now_(now),
        policy_(policy),
        pause_(pause),
        left_(count),
        horizon_(options_.horizon),
        part_(std::min(horizon_, part)) {}

  // Future number `sample` of the jobs of `start`, whose true work is `work`. `read` gets it when
  // it is complete.
  void Simulate(int sample, const Beginning& beginning, const Observation& start,
                const RulesPast& past, std::span<const double> work, std::optional<JobIndex> only,
                const std::function<void(const Future&)>& read) {
    while (true) {
      FutureLimits limits{.horizon = horizon_,
                          .settle = options_.settle,
                          .part = part_,
                          .step = options_.step,
                          .only = only};
      if (options_.most_rows > 0) {
        limits.rows = std::max<std::int64_t>(0, options_.most_rows - rows_shown_) / left_;
      }
      const Scenario world =
          forecaster_.MakeWorld(start, beginning.names, Arrivals(sample), work, part_);
      Future future(world, start, past, limits);
      const Future::End end = future.Simulate(
          policy_, {.seed = options_.seed, .cluster = &world.cluster(), .tenants = now_.tenants},
          pause_);
      rows_shown_ += future.rows_shown();
      if (end == Future::End::kBeyondPart) {
        part_ = std::min(horizon_, kNextPart * part_);
        continue;
      }
      if (end == Future::End::kBudgetSpent) horizon_ = future.ahead();
      part_ = std::min(part_, horizon_);
      --left_;
      read(future);
      return;
    }
  }

  Seconds until() const { return now_.observation.now + horizon_; }
  std::int64_t rows_shown() const { return rows_shown_; }

 private:
  // Kept while only the jobs of the moment differ.
  const std::vector<PastArrivals::Arrival>& Arrivals(int sample) {
    if (forecaster_.past_ == nullptr || (sample == drawn_ && part_ <= drawn_part_)) {
      return arrivals_;
    }
    Rng rng(options_.seed, "outlook-arrivals", static_cast<std::uint64_t>(sample));
    arrivals_ =
        forecaster_.past_->Draw(rng, now_.origin + now_.observation.now, options_.horizon, part_);
    drawn_ = sample;
    drawn_part_ = part_;
    return arrivals_;
  }

  const WaitForecaster& forecaster_;
  const WaitForecastOptions& options_;
  const Moment& now_;
  Policy& policy_;
  const std::function<void()>& pause_;
  int left_;  // futures
  Seconds horizon_;
  Seconds part_;
  std::int64_t rows_shown_ = 0;
  std::vector<PastArrivals::Arrival> arrivals_;
  int drawn_ = -1;
  Seconds drawn_part_ = 0;
};

WaitForecast WaitForecaster::Predict(const Moment& now, const LengthModel& lengths, Policy& policy,
                                     const std::function<void()>& pause) const {
  const Observation& from = now.observation;
  WaitForecast forecast;
  if (from.rows() == 0) return forecast;
  const std::size_t jobs = from.job.size();
  const int samples = SamplesOf(from);
  const Beginning beginning(now, past_.get());
  const Observation& start = beginning.start;
  const auto work = DrawWork(from, beginning.row_of, lengths, options_, samples, limited());
  std::vector<Seconds> starts(jobs * At(samples));  // [job][future]
  std::vector<Seconds> ends(starts.size());
  Simulations simulations(*this, now, policy, options_, pause, samples,
                          std::max(kLeastPart, kSettlesInPart * options_.settle));
  for (int s = 0; s < samples; ++s) {
    simulations.Simulate(s, beginning, start, beginning.past,
                         std::span(work).subspan(At(s) * jobs, jobs), {},
                         [&](const Future& future) {
                           for (std::size_t i = 0; i < jobs; ++i) {
                             starts[i * At(samples) + At(s)] = future.StartOf(start.job[i]);
                             ends[i * At(samples) + At(s)] = future.EndOf(start.job[i]);
                           }
                         });
  }
  forecast.rows_shown = simulations.rows_shown();
  forecast.until = simulations.until();
  forecast.jobs.resize(jobs);
  for (std::size_t i = 0; i < jobs; ++i) {
    JobForecast& job = forecast.jobs[beginning.row_of[i]];
    job.job = from.job[beginning.row_of[i]];
    job.waits = start.running[i] < 0;
    job.start.fill(kUnknown);
    const auto of_job = [&](std::vector<Seconds>& times) {
      return std::span(times).subspan(i * At(samples), At(samples));
    };
    if (job.waits) job.start = QuantilesOf(of_job(starts), forecast.until);
    job.end = QuantilesOf(of_job(ends), forecast.until);
  }
  return forecast;
}

StartForecasts WaitForecaster::PredictStarts(const Moment& now,
                                             std::span<const HypotheticalJob> jobs,
                                             const LengthModel& lengths, Policy& policy,
                                             const std::function<void()>& pause) const {
  const Observation& from = now.observation;
  const std::size_t known = from.job.size();
  const int samples = SamplesOf(from);
  Beginning beginning(now, past_.get());
  // Each job's own copy of the moment, in which it is the last row.
  std::vector<Observation> starts_with;
  std::vector<RulesPast> pasts;
  for (const HypotheticalJob& job : jobs) {
    const std::int32_t user = beginning.names.users.Intern(job.user);
    const std::int32_t tenant = beginning.names.tenants.Find(job.tenant);
    RulesPast& past = pasts.emplace_back(beginning.past);
    if (!past.jobs.empty()) past.jobs.push_back({SubmitterOf(past, user), job.rules});
    starts_with.push_back(beginning.start);
    starts_with.back().Append(
        {.job = static_cast<JobIndex>(known),
         .submit = from.now,
         .table = job.table.get(),
         .requested = job.requested,
         .estimated_work = job.estimated_work,
         .restart_cost = known > 0 ? from.restart_cost.front() : rules_.restart_cost,
         .waiting_since = from.now,
         .tenant = tenant,
         .user = user});
  }
  const auto drawn = DrawWork(from, beginning.row_of, lengths, options_, samples, limited());
  std::vector<double> work(known + 1);
  std::vector<Seconds> starts(jobs.size() * At(samples));  // [job][future]
  std::vector<std::int32_t> ahead(jobs.size() * known);    // [job][row by job]: futures
  StartForecasts forecasts;
  forecasts.jobs.resize(jobs.size());
  WaitForecastOptions options = options_;
  options.step = std::max(options.step, kStep);
  Simulations simulations(*this, now, policy, options, pause,
                          samples * static_cast<int>(jobs.size()), kStartsInPart);
  for (int s = 0; s < samples; ++s) {
    std::copy_n(drawn.begin() + static_cast<std::ptrdiff_t>(At(s) * known), known, work.begin());
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      // A future ends with its start, so that its length does not matter.
      work.back() = kHypotheticalSeconds * (*jobs[j].table)[jobs[j].requested].rate;
      const auto index = static_cast<JobIndex>(known);
      simulations.Simulate(s, beginning, starts_with[j], pasts[j], work, index,
                           [&](const Future& future) {
                             const Seconds start = future.StartOf(index);
                             starts[j * At(samples) + At(s)] = start;
                             for (std::size_t i = 0; i < known; ++i) {
                               const Seconds other = future.StartOf(static_cast<JobIndex>(i));
                               const bool first = other != kNever && other <= start;
                               ahead[j * known + i] += first ? 1 : 0;
                             }
                           });
    }
  }
  forecasts.rows_shown = simulations.rows_shown();
  forecasts.until = simulations.until();
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    StartForecast& forecast = forecasts.jobs[j];
    forecast.start =
        QuantilesOf(std::span(starts).subspan(j * At(samples), At(samples)), forecasts.until);
    for (std::size_t i = 0; i < known; ++i) {
      if (2 * ahead[j * known + i] < samples) continue;
      forecast.ahead.push_back(static_cast<std::int32_t>(beginning.row_of[i]));
    }
  }
  return forecasts;
}

}  // namespace allot
