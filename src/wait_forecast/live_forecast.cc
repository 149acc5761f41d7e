#include "wait_forecast/live_forecast.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/cpu_time.h"
#include "core/error.h"
#include "core/index.h"
#include "core/interrupt.h"
#include "core/metric_text.h"
#include "perf/table_cache.h"
#include "workload/calendar.h"
#include "workload/past_lengths.h"

namespace allot {
namespace {

constexpr double kCoreFraction = 0.01;
constexpr Seconds kCpuPerForecast = 6;     // takes 10 minutes with this fraction
constexpr Seconds kFirstCpuPerRow = 1e-6;  // before it is measured
// The smallest budget: with fewer rows the other costs of a forecast dominate.
constexpr std::int64_t kFewestRows = 500'000;

double SteadySeconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

// Jobs may still run on a node that was just drained or went down. A forecast begins with all
// allocated GPUs, so these must count as present.
void IncludeAllocatedGpus(const Observation& o, ClusterSpec* cluster) {
  std::vector<std::uint64_t> allocated(cluster->nodes().size(), 0);
  for (const NodeShare& share : o.shares) allocated[At(share.node)] |= share.gpus;
  for (std::size_t n = 0; n < allocated.size(); ++n) {
    Resources capacity = cluster->nodes()[n].capacity;
    const auto gpus = static_cast<GpuCount>(std::bit_width(allocated[n]));
    if (gpus <= capacity.gpus) continue;
    capacity.gpus = gpus;
    cluster->SetCapacity(static_cast<NodeIndex>(n), capacity);
  }
}

}  // namespace

LiveForecast::LiveForecast(Settings settings, std::unique_ptr<Policy> policy)
    : settings_(std::move(settings)),
      policy_(std::move(policy)),
      budget_(kCoreFraction),
      cpu_per_row_(kFirstCpuPerRow) {
  if (settings_.history != nullptr) {
    const History& history = *settings_.history;
    lengths_.Learn(KnownPast(history.trace, history.until, settings_.forecast.seed), kNever);
  }
  lengths_.OnEpisodeStart();
  thread_ = std::thread([this] { Run(); });
}

LiveForecast::~LiveForecast() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

// The fingerprint is compared because a new table can have the address of a deleted one.
std::shared_ptr<const ConfigurationTable> LiveForecast::Copy(const ConfigurationTable* table) {
  auto& copy = tables_[table];
  if (copy == nullptr || copy->fingerprint() != table->fingerprint()) {
    copy = std::make_shared<const ConfigurationTable>(*table);
  }
  return copy;
}

void LiveForecast::OnDecision(const Observation& o, const Allocation&) {
  ended_.insert(ended_.end(), o.events.ended.begin(), o.events.ended.end());
  {
    const std::lock_guard lock(mutex_);
    if (busy_ || next_ != nullptr || SteadySeconds() < pause_until_) return;
  }
  auto moment = std::make_shared<LiveMoment>();
  moment->observation = o;
  Observation& copy = moment->observation;
  moment->cluster = *o.cluster;
  IncludeAllocatedGpus(o, &moment->cluster);
  copy.cluster = &moment->cluster;
  if (o.user_names != nullptr) moment->users = *o.user_names;
  if (o.group_names != nullptr) moment->groups = *o.group_names;
  copy.user_names = &moment->users;
  copy.group_names = &moment->groups;
  if (tables_.size() > 4 * o.job.size() + 64) tables_.clear();  // most belong to ended jobs
  moment->tables.reserve(o.job.size());
  moment->names.reserve(o.job.size());
  moment->rules_of_jobs.reserve(o.job.size());
  for (std::size_t r = 0; r < o.job.size(); ++r) {
    moment->tables.push_back(Copy(o.table[r]));
    copy.table[r] = moment->tables.back().get();
    KnownJob job = settings_.job_of(o.job[r]);
    moment->names.push_back(std::move(job.name));
    moment->rules_of_jobs.push_back(std::move(job.rules));
  }
  if (settings_.rules_in_force) moment->rules = settings_.rules_in_force();
  moment->nominal = settings_.nominal ? settings_.nominal() : *o.cluster;
  copy.events.ended = std::move(ended_);
  copy.events.number = ++moments_;
  ended_.clear();
  {
    const std::lock_guard lock(mutex_);
    next_ = std::move(moment);
  }
  changed_.notify_all();
}

void LiveForecast::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stop_ || next_ != nullptr; });
    if (stop_) return;
    const std::shared_ptr<const LiveMoment> moment = std::move(next_);
    busy_ = true;
    lock.unlock();
    try {
      Forecast(moment);
      lock.lock();
    } catch (const std::exception& error) {
      lock.lock();
      if (stop_ || Interrupted()) return;
      if (++made_.failed == 1) {
        spdlog::warn("wait forecast failed, the status shows the last one: {}", error.what());
      }
    }
    pause_until_ = SteadySeconds() + settings_.every;
    busy_ = false;
    changed_.notify_all();
  }
}

std::shared_ptr<const PastArrivals> LiveForecast::ArrivalsOn(const ClusterSpec& cluster) const {
  if (settings_.history == nullptr) return nullptr;
  const Workload& trace = settings_.history->trace;
  TableCache tables(*settings_.catalogue, cluster.type_specs());
  Workload past = trace;
  past.jobs.clear();
  std::vector<Scenario::JobFacts> facts;
  for (const Job& job : trace.jobs) {
    try {
      TableCache::Offer offer = tables.OfferFor(trace, job);
      Scenario::JobFacts known;
      known.table = std::move(offer.table);
      known.requested = offer.requested;
      known.work = offer.work;
      known.estimate = kUnknown;
      facts.push_back(std::move(known));
      past.jobs.push_back(job);
    } catch (const Error&) {
      continue;  // users would not submit a job that does not fit on this cluster
    }
  }
  const Seconds until = settings_.history->until;
  if (past.jobs.empty() || past.jobs.front().submit >= until) return nullptr;
  const auto scenario =
      std::make_shared<const Scenario>(std::move(past), cluster, settings_.rules, std::move(facts));
  return std::make_shared<const PastArrivals>(scenario, until, 86400.0);
}

void LiveForecast::PauseIfDue() {
  const std::chrono::duration<double> pause(budget_.PauseAfter(ThreadCpuSeconds()));
  if (pause.count() == 0) return;
  std::unique_lock lock(mutex_);
  if (changed_.wait_for(lock, pause, [this] { return stop_; })) throw RunError("the daemon ends");
}

void LiveForecast::Forecast(const std::shared_ptr<const LiveMoment>& from) {
  const LiveMoment& moment = *from;
  const double begin = ThreadCpuSeconds();
  const Observation& o = moment.observation;
  lengths_.Observe(o);
  if (!knows_arrivals_) {
    arrivals_ = ArrivalsOn(moment.cluster);
    knows_arrivals_ = true;
  }
  if (settings_.quotes != nullptr) {
    settings_.quotes->SetKnown({from, std::make_shared<const LengthModel>(lengths_), arrivals_});
  }
  WaitForecastOptions options = settings_.forecast;
  options.step = kLiveStep;
  options.most_rows =
      std::max(kFewestRows, static_cast<std::int64_t>(kCpuPerForecast / cpu_per_row_));
  SimOptions rules = settings_.rules;
  rules.rules = moment.rules.rules;
  const WaitForecaster forecaster(std::move(rules), options, arrivals_);
  WaitForecast forecast = forecaster.Predict({o, settings_.origin, nullptr, moment.Past()},
                                             lengths_, *policy_, [this] { PauseIfDue(); });
  const double cpu_seconds = ThreadCpuSeconds() - begin;
  if (forecast.rows_shown > 0) {
    cpu_per_row_ = cpu_seconds / static_cast<double>(forecast.rows_shown);
  }
  settings_.calibration.Apply(o.now, &forecast.jobs);
  std::vector<Row> rows;
  rows.reserve(forecast.jobs.size());
  for (std::size_t r = 0; r < forecast.jobs.size(); ++r) {
    rows.push_back({moment.names[r], forecast.jobs[r]});
  }
  std::vector<std::int32_t> by_name(rows.size());
  std::iota(by_name.begin(), by_name.end(), 0);
  std::sort(by_name.begin(), by_name.end(), [&rows](std::int32_t a, std::int32_t b) {
    return rows[At(a)].name < rows[At(b)].name;
  });
  const std::lock_guard lock(mutex_);
  made_.at = o.now;
  made_.until = forecast.until;
  made_.by_name = std::move(by_name);
  made_.rows = std::move(rows);
  ++made_.count;
  made_.cpu_seconds = cpu_seconds;
}

void LiveForecast::Finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return next_ == nullptr && !busy_; });
}

void LiveForecast::AddTo(JobStatus* job) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::lower_bound(
      made_.by_name.begin(), made_.by_name.end(), job->id,
      [this](std::int32_t row, const std::string& id) { return made_.rows[At(row)].name < id; });
  if (found == made_.by_name.end() || made_.rows[At(*found)].name != job->id) return;
  const JobForecast& forecast = made_.rows[At(*found)].forecast;
  ForecastStatus& status = job->forecast.emplace(ForecastStatus{made_.at, made_.until});
  if (!forecast.known()) return;
  if (forecast.waits) status.start = forecast.start;
  status.end = forecast.end;
}

std::string LiveForecast::MetricsText() const {
  const std::lock_guard lock(mutex_);
  const std::size_t shown = std::min(made_.rows.size(), kMostJobs);
  MetricText text;
  const auto add = [&](const Row& row, const TimeQuantiles& times) {
    for (std::size_t l = 0; l < times.size(); ++l) {
      text.Value(times[l] == kNever ? kNever : std::max(0.0, times[l] - made_.at),
                 {{"job", row.name}, {"level", fmt::format("{}", kForecastLevels[l])}});
    }
  };
  text.Gauge("allot_job_start_seconds",
             "seconds from the last forecast to the start of a waiting job, by probability level");
  for (std::size_t r = 0; r < shown; ++r) {
    const JobForecast& forecast = made_.rows[r].forecast;
    if (forecast.waits && forecast.known()) add(made_.rows[r], forecast.start);
  }
  text.Gauge("allot_job_end_seconds",
             "seconds from the last forecast to the end of a job, by probability level");
  for (std::size_t r = 0; r < shown; ++r) {
    if (made_.rows[r].forecast.known()) add(made_.rows[r], made_.rows[r].forecast.end);
  }
  return text
      .Gauge("allot_jobs_not_forecast", "jobs beyond the first 200, which have no forecast metrics")
      .Value(static_cast<double>(made_.rows.size() - shown))
      .Counter("allot_forecasts_total", "wait forecasts made; each is of all jobs")
      .Value(static_cast<double>(made_.count))
      .Counter("allot_forecasts_failed_total", "wait forecasts that failed")
      .Value(static_cast<double>(made_.failed))
      .Gauge("allot_forecast_horizon_seconds", "time that the last wait forecast covers")
      .Value(std::isfinite(made_.until) ? made_.until - made_.at : 0)
      .Gauge("allot_forecast_cpu_seconds", "CPU time of the last wait forecast")
      .Value(made_.cpu_seconds)
      .text();
}

}  // namespace allot
