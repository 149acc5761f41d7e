#include "advice/advised_order.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "advice/nice_plan.h"
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

  // By waiting job: when it starts, the mean of an array's tasks, or the end of the simulated time
  // where it starts later; NaN: it is not simulated. `rank`: by waiting job, its priority, the
  // smallest first.
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
  // A job of the record may wait in the simulation, but only jobs of the queue have a place.
  const auto is_of_queue = [&](std::size_t row) {
    return scenario_->workload().jobs[At(o.job[row])].line > 0;
  };
  for (std::size_t r = 0; r < o.job.size(); ++r) {
    if (o.running[r] < 0 && is_of_queue(r)) o.priority[r] = -rank[waiting_of(r)];
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
    if (!forecast.jobs[r].waits || !is_of_queue(r)) continue;
    const std::size_t j = waiting_of(r);
    const Seconds start = origin_ + std::min(forecast.jobs[r].start[1], forecast.until);
    starts[j] = tasks[j] == 0 ? start : starts[j] + start;
    ++tasks[j];
  }
  for (std::size_t j = 0; j < waiting_; ++j) {
    starts[j] = tasks[j] > 0 && starts[j] < kNever ? starts[j] / tasks[j] : kUnknown;
  }
  return starts;
}

// Without the Nice of advice.
std::int64_t BasePriority(const QueuedJob& job) {
  return job.priority + (job.left_alone.empty() ? job.nice : 0);
}

std::vector<std::size_t> SortedBy(const AdvisedQueue& queue, std::vector<std::size_t> jobs,
                                  const std::function<std::int64_t(std::size_t)>& priority) {
  std::sort(jobs.begin(), jobs.end(), [&](std::size_t a, std::size_t b) {
    const std::int64_t of_one = priority(a);
    const std::int64_t of_other = priority(b);
    if (of_one != of_other) return of_one > of_other;
    return queue.waiting[a].number < queue.waiting[b].number;
  });
  return jobs;
}

// The Nice of each job, by index of the queue, that gives this order as far as it can.
std::vector<int> NiceFor(const AdvisedQueue& queue, std::span<const std::size_t> order, int most) {
  std::vector<int> nice;
  nice.reserve(queue.waiting.size());
  for (const QueuedJob& job : queue.waiting) nice.push_back(job.nice);
  std::vector<NicedJob> wanted;
  wanted.reserve(order.size());
  for (const std::size_t j : order) {
    const QueuedJob& job = queue.waiting[j];
    wanted.push_back({job.priority, job.number, job.nice, !job.left_alone.empty()});
  }
  const std::vector<int> planned = PlanNice(wanted, most);
  for (std::size_t place = 0; place < order.size(); ++place) nice[order[place]] = planned[place];
  return nice;
}

// Of the jobs that may be advised.
std::vector<std::size_t> Advised(const AdvisedQueue& queue, std::span<const std::size_t> order) {
  std::vector<std::size_t> advised;
  std::copy_if(order.begin(), order.end(), std::back_inserter(advised),
               [&](std::size_t j) { return queue.waiting[j].left_alone.empty(); });
  return advised;
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
  order->waits.assign(queue.waiting.size(), {});
  for (std::size_t j = 0; j < queue.waiting.size(); ++j) {
    if (std::isnan(own[j]) || std::isnan(advised[j])) continue;
    const QueuedJob& job = queue.waiting[j];
    const JobWait wait{own[j] - job.submit, advised[j] - job.submit};
    order->waits[j] = wait;
    for (MeanWait* mean : {&order->by_user[job.user], &order->all}) {
      ++mean->jobs;
      mean->own += (wait.own - mean->own) / mean->jobs;
      mean->advised += (wait.advised - mean->advised) / mean->jobs;
    }
  }
}

}  // namespace

std::vector<std::size_t> ExchangeWithinUsers(const AdvisedQueue& queue,
                                             std::span<const std::size_t> own,
                                             std::span<const double> rank, int most) {
  std::vector<std::size_t> order(own.begin(), own.end());
  std::map<std::string, std::vector<std::size_t>> places;  // of a stretch in which all may pass all
  const auto exchange = [&] {
    for (const auto& [user, of_user] : places) {
      std::vector<std::size_t> jobs;
      jobs.reserve(of_user.size());
      for (const std::size_t place : of_user) jobs.push_back(own[place]);
      std::stable_sort(jobs.begin(), jobs.end(),
                       [&](std::size_t a, std::size_t b) { return rank[a] < rank[b]; });
      for (std::size_t i = 0; i < jobs.size(); ++i) order[of_user[i]] = jobs[i];
    }
    places.clear();
  };
  std::size_t begin = 0;
  for (std::size_t place = 0; place < own.size(); ++place) {
    const QueuedJob& job = queue.waiting[own[place]];
    const auto behind = static_cast<std::int64_t>(place - begin);
    // Whoever goes behind a job needs a priority below it, and jobs of one priority need several.
    const bool reaches =
        BasePriority(queue.waiting[own[begin]]) - BasePriority(job) + behind <= most;
    if (!job.left_alone.empty() || !reaches) {
      exchange();
      begin = job.left_alone.empty() ? place : place + 1;
    }
    if (job.left_alone.empty()) places[job.user].push_back(place);
  }
  exchange();
  return order;
}

AdvisedOrder OrderQueue(const AdvisedQueue& queue, Seconds now, const Workload& past,
                        Policy& policy, int most) {
  std::vector<std::size_t> competing;
  for (std::size_t j = 0; j < queue.waiting.size(); ++j) {
    if (IsSimulated(queue, queue.waiting[j])) competing.push_back(j);
  }
  competing = SortedBy(queue, std::move(competing),
                       [&](std::size_t j) { return BasePriority(queue.waiting[j]); });
  AdvisedOrder order;
  order.own = order.advised = Advised(queue, competing);
  order.waits.resize(queue.waiting.size());
  order.nice = NiceFor(queue, competing, most);
  if (competing.empty()) return order;
  QueueForecast forecast(queue, now, past);
  const std::size_t jobs = queue.waiting.size();
  std::vector<double> rank = forecast.Starts(policy, RanksOf(competing, jobs));
  std::replace_if(
      rank.begin(), rank.end(), [](double start) { return std::isnan(start); }, kNever);
  const std::vector<int> nice =
      NiceFor(queue, ExchangeWithinUsers(queue, competing, rank, most), most);
  const std::vector<std::size_t> reached = SortedBy(queue, competing, [&](std::size_t j) {
    return queue.waiting[j].priority + queue.waiting[j].nice - nice[j];
  });

  const auto scheduler = MakePolicy(queue.scheduler);
  const std::vector<Seconds> own = forecast.Starts(*scheduler, RanksOf(competing, jobs));
  CompareWaits(queue, own, forecast.Starts(*scheduler, RanksOf(reached, jobs)), &order);
  const auto refuse = [&](const std::string& whose, const MeanWait& mean, double longest) {
    order.refused = fmt::format(
        "the mean wait of {} must be at most {} times that in the scheduler's own "
        "order, {}, got {}",
        whose, longest, HumanDuration(mean.own), HumanDuration(mean.advised));
  };
  if (order.all.advised > order.all.own) refuse("all jobs", order.all, 1);
  for (const auto& [user, mean] : order.by_user) {
    if (mean.advised > kLongestWait * mean.own) refuse("user " + user, mean, kLongestWait);
  }
  if (!order.refused.empty()) {
    CompareWaits(queue, own, own, &order);
    return order;
  }
  order.advised = Advised(queue, reached);
  order.nice = nice;
  return order;
}

}  // namespace allot
