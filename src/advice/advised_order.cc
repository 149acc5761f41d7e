#include "advice/advised_order.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "core/index.h"
#include "experiment/whatif/recorded_moment.h"
#include "length_model/length_model.h"
#include "metrics/humanise.h"
#include "sim/scenario.h"
#include "wait_forecast/wait_forecaster.h"

namespace allot {
namespace {

// Jobs keep their sizes and places, as Slurm's do, and its shares among users are not replaced.
constexpr const char* kRules = "moves = false\nfair_share = false\n";
constexpr const char* kOwnScheduler = "easy:ordering=priority";
constexpr int kMostTasks = 32;                  // of an array, that are simulated
constexpr std::int64_t kMostRows = 20'000'000;  // shown to a policy in a simulation: some seconds
constexpr Seconds kHorizon = 366 * 86400.0;
constexpr double kStep = 0.02;            // decisions far ahead need not be exact
constexpr Seconds kWithoutLimit = 86400;  // stands for the run time of a job without a limit

// Whether so many GPUs of the type are on this cluster at all.
bool Fits(const ClusterSpec& cluster, GpuCount gpus, const std::string& type) {
  for (std::size_t t = 0; t < cluster.types().size(); ++t) {
    if (!type.empty() && cluster.types()[t] != type) continue;
    if (gpus <= cluster.total_of(static_cast<GpuTypeIndex>(t)).gpus) return true;
  }
  return false;
}

bool IsSimulated(const AdvisedQueue& queue, const QueuedJob& job) {
  return job.competes && job.gpus > 0 && Fits(queue.cluster, job.gpus, job.gpu_type);
}

// A simulation of the queue.
class QueueForecast {
 public:
  QueueForecast(const AdvisedQueue& queue, Seconds now, const Workload& past);

  // By waiting job: when it starts, the mean of an array's tasks; NaN: it is not simulated, or
  // starts later than the simulated time. `rank`: by waiting job, its priority, the smallest first.
  std::vector<Seconds> Starts(Policy& policy, std::span<const double> rank);

 private:
  void AddPast(const Workload& past, Seconds now);
  void AddRunning(const QueuedJob& job, Seconds now);
  void AddWaiting(const QueuedJob& job, std::size_t index);
  Job Named(const QueuedJob& job);

  Seconds origin_;
  Seconds now_;
  std::size_t waiting_;
  Workload workload_;
  std::optional<Scenario> scenario_;
  std::optional<RecordedMoment> moment_;
  LengthModel lengths_;
};

Seconds FirstSubmit(const AdvisedQueue& queue, Seconds now) {
  for (const auto* jobs : {&queue.waiting, &queue.running}) {
    for (const QueuedJob& job : *jobs) now = std::min(now, job.submit);
  }
  return now;
}

Job QueueForecast::Named(const QueuedJob& job) {
  Job named;
  named.id = std::to_string(workload_.jobs.size());
  named.submit = job.submit - origin_;
  named.gpus = job.gpus;
  named.user = workload_.users.Intern(job.user);
  named.tenant = workload_.tenants.Intern(job.account);
  named.group = workload_.groups.Intern(job.name);
  named.gpu_types = workload_.gpu_types.Intern(job.gpu_type);
  named.user_estimate = job.limit;
  named.duration = job.limit > 0 ? job.limit : kWithoutLimit;
  return named;
}

void QueueForecast::AddRunning(const QueuedJob& job, Seconds now) {
  Job running = Named(job);
  running.outcome = Outcome::kRunning;
  running.recorded_wait = std::max(0.0, job.start - job.submit);
  running.duration = std::max(running.duration, now - job.start + 1);
  workload_.jobs.push_back(std::move(running));
}

void QueueForecast::AddWaiting(const QueuedJob& job, std::size_t index) {
  for (int task = 0; task < std::min(job.tasks, kMostTasks); ++task) {
    Job waiting = Named(job);
    waiting.outcome = Outcome::kPending;
    waiting.line = static_cast<std::int32_t>(index) + 1;
    workload_.jobs.push_back(std::move(waiting));
  }
}

// The past is moved so that it ends now: clocks and zones may differ.
void QueueForecast::AddPast(const Workload& past, Seconds now) {
  Seconds last = 0;
  const auto end_of = [](const Job& job) {
    return job.submit + std::max(0.0, job.recorded_wait) + job.duration;
  };
  for (const Job& job : past.jobs) last = std::max(last, job.ended() ? end_of(job) : 0.0);
  origin_ = std::min(origin_, now - last);
  for (const Job& job : past.jobs) {
    if (!job.ended()) continue;
    Job ended = job;
    ended.id = std::to_string(workload_.jobs.size());
    ended.line = 0;
    ended.submit = now - last + job.submit - origin_;
    ended.user = workload_.users.Intern(past.users[job.user]);
    ended.group = workload_.groups.Intern(past.groups[job.group]);
    ended.tenant = workload_.tenants.Intern(past.tenants[job.tenant]);
    ended.gpu_types = ended.duration_type = -1;
    ended.model = -1;
    workload_.jobs.push_back(std::move(ended));
  }
}

QueueForecast::QueueForecast(const AdvisedQueue& queue, Seconds now, const Workload& past)
    : origin_(FirstSubmit(queue, now)), now_(now), waiting_(queue.waiting.size()) {
  AddPast(past, now);
  std::erase_if(workload_.jobs, [&](const Job& job) { return !Fits(queue.cluster, job.gpus, ""); });
  for (const QueuedJob& job : queue.running) {
    if (Fits(queue.cluster, job.gpus, job.gpu_type)) AddRunning(job, now);
  }
  for (std::size_t j = 0; j < waiting_; ++j) {
    if (IsSimulated(queue, queue.waiting[j])) AddWaiting(queue.waiting[j], j);
  }
  if (workload_.jobs.empty()) return;
  for (std::size_t j = 0; j < workload_.jobs.size(); ++j) {
    workload_.jobs[j].id = std::to_string(j);
  }
  workload_.name = queue.name;
  workload_.Finish();
  SimOptions options;
  options.decide_on_events = true;
  options.restart_cost = 0;
  options.lengths = LengthEstimates::Parse("user");
  options.rules = std::make_shared<const OperatorRules>(OperatorRules::Parse(kRules, "advice"));
  scenario_.emplace(workload_, queue.cluster, options);
  moment_.emplace(MomentOfRecord(*scenario_, now - origin_));
  Observation& o = moment_->observation;
  lengths_.OnEpisodeStart();
  lengths_.Observe(o);
  for (std::int32_t row = 0; row < o.rows(); ++row) {
    const std::size_t r = At(row);
    const double expected =
        o.done_work[r] + lengths_.Remaining(o, row, 0.5) * o.table[r]->reference_rate();
    const bool has_limit = o.done_work[r] < o.estimated_work[r];
    o.estimated_work[r] = has_limit ? std::min(expected, o.estimated_work[r]) : expected;
  }
}

std::vector<Seconds> QueueForecast::Starts(Policy& policy, std::span<const double> rank) {
  std::vector<Seconds> starts(waiting_, kUnknown);
  if (!scenario_) return starts;
  Observation& o = moment_->observation;
  const auto waiting_of = [&](std::size_t row) {
    return At(scenario_->workload().jobs[At(o.job[row])].line) - 1;
  };
  for (std::size_t r = 0; r < o.job.size(); ++r) {
    if (o.running[r] < 0) o.priority[r] = -rank[waiting_of(r)];
  }
  WaitForecastOptions options;
  options.as_estimated = true;
  options.horizon = kHorizon;
  options.settle = 0;
  options.step = kStep;
  options.most_rows = kMostRows;
  const WaitForecaster forecaster(scenario_->options(), options, nullptr);
  const WaitForecast forecast = forecaster.Predict(
      {o, static_cast<Seconds>(origin_), &scenario_->workload().tenants.names()}, lengths_, policy);
  std::vector<int> tasks(waiting_, 0);
  for (std::size_t r = 0; r < forecast.jobs.size(); ++r) {
    if (!forecast.jobs[r].waits) continue;
    const std::size_t j = waiting_of(r);
    const Seconds start = origin_ + forecast.jobs[r].start[1];
    starts[j] = tasks[j] == 0 ? start : starts[j] + start;
    ++tasks[j];
  }
  for (std::size_t j = 0; j < waiting_; ++j) {
    starts[j] = tasks[j] > 0 && starts[j] < kNever ? starts[j] / tasks[j] : kUnknown;
  }
  return starts;
}

// The scheduler's order of these jobs without the Nice of advice.
std::vector<std::size_t> OwnOrder(const AdvisedQueue& queue, std::vector<std::size_t> jobs) {
  std::sort(jobs.begin(), jobs.end(), [&](std::size_t a, std::size_t b) {
    const QueuedJob& one = queue.waiting[a];
    const QueuedJob& other = queue.waiting[b];
    const auto base = [](const QueuedJob& job) {
      return job.priority + (job.left_alone.empty() ? job.nice : 0);
    };
    const std::int64_t of_one = base(one);
    const std::int64_t of_other = base(other);
    return of_one != of_other ? of_one > of_other : one.number < other.number;
  });
  return jobs;
}

std::vector<double> RanksOf(std::span<const std::size_t> order, std::size_t jobs) {
  std::vector<double> rank(jobs, static_cast<double>(jobs));
  for (std::size_t place = 0; place < order.size(); ++place) {
    rank[order[place]] = static_cast<double>(place);
  }
  return rank;
}

void CompareWaits(const AdvisedQueue& queue, std::span<const Seconds> own,
                  std::span<const Seconds> advised, AdvisedOrder* order) {
  order->by_user.clear();
  order->all = {};
  for (std::size_t j = 0; j < queue.waiting.size(); ++j) {
    if (std::isnan(own[j]) || std::isnan(advised[j])) continue;
    const QueuedJob& job = queue.waiting[j];
    for (MeanWait* mean : {&order->by_user[job.user], &order->all}) {
      ++mean->jobs;
      mean->own += (own[j] - job.submit - mean->own) / mean->jobs;
      mean->advised += (advised[j] - job.submit - mean->advised) / mean->jobs;
    }
  }
}

}  // namespace

std::vector<std::size_t> ExchangeWithinUsers(const AdvisedQueue& queue,
                                             std::span<const std::size_t> own,
                                             std::span<const double> rank) {
  std::map<std::string, std::vector<std::size_t>> places;
  for (std::size_t place = 0; place < own.size(); ++place) {
    places[queue.waiting[own[place]].user].push_back(place);
  }
  std::vector<std::size_t> order(own.begin(), own.end());
  for (const auto& [user, of_user] : places) {
    std::vector<std::size_t> jobs;
    jobs.reserve(of_user.size());
    for (const std::size_t place : of_user) jobs.push_back(own[place]);
    std::stable_sort(jobs.begin(), jobs.end(),
                     [&](std::size_t a, std::size_t b) { return rank[a] < rank[b]; });
    for (std::size_t i = 0; i < jobs.size(); ++i) order[of_user[i]] = jobs[i];
  }
  return order;
}

AdvisedOrder OrderQueue(const AdvisedQueue& queue, Seconds now, const Workload& past,
                        Policy& policy) {
  std::vector<std::size_t> competing;
  std::vector<std::size_t> may_be_advised;
  for (std::size_t j = 0; j < queue.waiting.size(); ++j) {
    if (!IsSimulated(queue, queue.waiting[j])) continue;
    competing.push_back(j);
    if (queue.waiting[j].left_alone.empty()) may_be_advised.push_back(j);
  }
  AdvisedOrder order;
  order.own = order.advised = OwnOrder(queue, may_be_advised);
  if (competing.empty()) return order;
  competing = OwnOrder(queue, competing);
  QueueForecast forecast(queue, now, past);
  const std::size_t jobs = queue.waiting.size();
  std::vector<double> rank = forecast.Starts(policy, RanksOf(competing, jobs));
  std::replace_if(
      rank.begin(), rank.end(), [](double start) { return std::isnan(start); }, kNever);
  order.advised = ExchangeWithinUsers(queue, order.own, rank);

  const auto scheduler = MakePolicy(kOwnScheduler);
  const std::vector<Seconds> own = forecast.Starts(*scheduler, RanksOf(competing, jobs));
  std::vector<std::size_t> exchanged = competing;  // jobs that are left alone keep their places
  std::size_t next = 0;
  for (std::size_t& job : exchanged) {
    if (queue.waiting[job].left_alone.empty()) job = order.advised[next++];
  }
  CompareWaits(queue, own, forecast.Starts(*scheduler, RanksOf(exchanged, jobs)), &order);
  for (const auto& [user, mean] : order.by_user) {
    if (mean.advised <= kLongestWait * mean.own) continue;
    order.refused = fmt::format(
        "the mean wait of user {} must be at most {} times that in the scheduler's own order, {}, "
        "got {}",
        user, kLongestWait, HumanDuration(mean.own), HumanDuration(mean.advised));
    order.advised = order.own;
    CompareWaits(queue, own, own, &order);
    break;
  }
  return order;
}

}  // namespace allot
