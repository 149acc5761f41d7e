#include "workload/sample.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/rng.h"
#include "workload/calendar.h"
#include "workload/job_rules.h"

namespace allot {
namespace {

constexpr Seconds kDaySeconds = 86400;

double GpuSecondsUntil(const Job& job, Seconds end) {
  return job.gpus * std::min(job.duration, end - job.submit);
}

std::string WindowText(const Workload& workload, const SampleOptions& options) {
  return fmt::format("window [{}, {}) s of '{}'", options.from, options.to, workload.name);
}

void CheckOptions(const Workload& workload, const SampleOptions& options, Seconds end) {
  if (!(end > options.from && std::abs(options.from) <= kLongestTime)) {
    throw UsageError(
        "a window must begin at a finite time and end later, got {} (the last job is submitted at "
        "{})",
        WindowText(workload, options), workload.jobs.empty() ? 0 : workload.jobs.back().submit);
  }
  if (!(options.load >= 0) || (options.load > 0 && !(options.gpus_capacity > 0))) {
    throw UsageError("a load must be >= 0 and refer to more than 0 GPUs, got {} of {} GPUs",
                     options.load, options.gpus_capacity);
  }
  if (options.part < 0) throw UsageError("a part must be >= 0, got {}", options.part);
}

// "philly@2017-11-13+7d-s1": where the window begins, how long it is, and which draw this is.
std::string NameOfSample(const Workload& workload, const SampleOptions& options,
                         const std::string& origin, Seconds end) {
  std::string begin = fmt::format("{:.6g}d", options.from / kDaySeconds);
  if (!origin.empty()) {
    begin = origin.substr(0, origin.find(" 00:00:00"));  // a midnight is named by its date
    std::replace(begin.begin(), begin.end(), ' ', 'T');
  }
  const Seconds span = end - options.from;
  constexpr Seconds kShort = 100;  // of which days have too many digits
  std::string name =
      workload.name + "@" + begin +
      (span < kShort ? fmt::format("+{:.6g}s", span) : fmt::format("+{:.6g}d", span / kDaySeconds));
  if (options.load > 0) name += fmt::format("-s{}", options.seed);
  if (options.part > 0) name += fmt::format("-p{}", options.part);
  return name;
}

// What is left of a job of before the window, as it is when the window begins.
Job CarriedOver(const Job& job, Seconds from) {
  Job carried = job;
  const Seconds ran = job.outcome == Outcome::kRunning ? from - job.recorded_start() : 0;
  carried.submit = from;
  if (ran <= 0) {
    if (job.outcome == Outcome::kRunning) carried.recorded_wait = -ran;
    return carried;
  }
  carried.recorded_wait = 0;
  carried.duration = job.duration - ran;
  carried.user_estimate = std::max(0.0, job.user_estimate - ran);
  return carried;
}

std::vector<Job> JobsCarriedOver(std::span<const Job> before, Seconds from) {
  std::vector<Job> running;
  std::vector<Job> waiting;
  for (const Job& job : before) {
    if (job.ended()) continue;
    const bool ran = job.recorded_start() < from;
    Job carried = CarriedOver(job, from);
    if (carried.duration > 0) (ran ? running : waiting).push_back(std::move(carried));
  }
  running.insert(running.end(), waiting.begin(), waiting.end());
  return running;
}

// What a sample is, before its jobs are.
struct SampleChoice {
  Workload sample;                 // without jobs
  std::vector<Job> carried;        // of before the window
  std::vector<const Job*> chosen;  // of these, then of the workload's, in its order
};

SampleChoice ChooseSample(const Workload& workload, const SampleOptions& options,
                          SampleReport* report) {
  const auto& jobs = workload.jobs;
  const bool to_the_end = options.to == kNever;
  const Seconds end = to_the_end && !jobs.empty() ? jobs.back().submit : options.to;
  CheckOptions(workload, options, end);

  const auto before = [](const Job& job, Seconds time) { return job.submit < time; };
  const auto first = std::lower_bound(jobs.begin(), jobs.end(), options.from, before);
  const auto last =
      to_the_end ? jobs.end() : std::lower_bound(first, jobs.end(), options.to, before);

  SampleChoice choice;
  const std::vector<Job>& carried = choice.carried =
      JobsCarriedOver({jobs.begin(), first}, options.from);
  const auto for_each = [&](const auto& visit) {
    for (const Job& job : carried) visit(job);
    for (auto job = first; job != last; ++job) visit(*job);
  };
  SampleReport counts;
  counts.in_window = static_cast<std::int64_t>(carried.size()) + (last - first);
  const auto fits = [&](const Job& job) {
    return options.max_gpus <= 0 || job.gpus <= options.max_gpus;
  };
  double offered = 0;
  for_each([&](const Job& job) {
    if (fits(job)) {
      offered += GpuSecondsUntil(job, end);
    } else {
      ++counts.too_large;
    }
  });
  const double capacity =
      options.gpus_capacity > 0 ? options.gpus_capacity * (end - options.from) : kUnknown;
  counts.window_load = offered / capacity;
  if (options.load > 0) {
    counts.keep_probability = options.load / counts.window_load;
    const double needed = options.load * (options.part + 1);
    if (!(needed <= counts.window_load)) {
      const std::string parts =
          options.part == 0 ? ""
                            : fmt::format(" ({} for each of {})", options.load, options.part + 1);
      throw DataError("{} must offer a load of {}{} to {} GPUs, got {:.4g} from all {} jobs",
                      WindowText(workload, options), needed, parts, options.gpus_capacity,
                      counts.window_load, counts.in_window - counts.too_large);
    }
  }

  Workload& sample = choice.sample;
  if (const auto origin = ParseCalendar(workload.origin)) {
    sample.origin = FormatCalendar(*origin + static_cast<std::int64_t>(std::floor(options.from)));
  }
  sample.name = NameOfSample(workload, options, sample.origin, end);
  sample.source = workload.source;
  sample.models = workload.models;
  sample.tenants = workload.tenants;
  sample.users = workload.users;
  sample.groups = workload.groups;
  sample.accounts = workload.accounts;
  sample.qos = workload.qos;
  sample.gpu_types = workload.gpu_types;
  if (workload.recorded_until) sample.recorded_until = *workload.recorded_until - options.from;
  const double low = options.load > 0 ? options.part * counts.keep_probability : 0;
  const double high = options.load > 0 ? low + counts.keep_probability : 1;
  double kept = 0;
  for_each([&](const Job& job) {
    if (!fits(job)) return;
    if (options.load > 0) {
      const double u = Rng(options.seed, "sample", StableHash(job.id)).Uniform();
      if (u < low || u >= high) return;
    }
    kept += GpuSecondsUntil(job, end);
    choice.chosen.push_back(&job);
  });
  counts.kept = static_cast<std::int64_t>(choice.chosen.size());
  counts.offered_load = kept / capacity;
  if (report != nullptr) *report = counts;
  if (choice.chosen.empty()) {
    throw DataError(
        "a sample must hold at least 1 job, got 0 of {} in {} ({} of them over {} GPUs)",
        counts.in_window, WindowText(workload, options), counts.too_large, options.max_gpus);
  }
  return choice;
}

void ShiftBy(Seconds from, Job* job) {
  job->submit -= from;
  job->deadline -= from;
}

}  // namespace

Workload Sample(const Workload& workload, const SampleOptions& options, SampleReport* report) {
  SampleChoice choice = ChooseSample(workload, options, report);
  std::vector<Job>& jobs = choice.sample.jobs;
  jobs.reserve(choice.chosen.size());
  for (const Job* const job : choice.chosen) {
    jobs.push_back(*job);
    ShiftBy(options.from, &jobs.back());
  }
  return std::move(choice.sample);
}

Workload Sample(Workload&& workload, const SampleOptions& options, SampleReport* report) {
  SampleChoice choice = ChooseSample(workload, options, report);
  // Jobs that are carried over come before those of the window, where there may be no room.
  if (!choice.carried.empty()) return Sample(std::as_const(workload), options, report);
  std::vector<Job>& jobs = choice.sample.jobs;
  jobs = std::move(workload.jobs);
  std::size_t kept = 0;
  for (const Job* const chosen : choice.chosen) {
    Job& job = jobs[kept++];
    if (&job != chosen) job = std::move(jobs[static_cast<std::size_t>(chosen - jobs.data())]);
    ShiftBy(options.from, &job);
  }
  jobs.resize(kept);
  return std::move(choice.sample);
}

double OfferedLoad(const Workload& workload, double gpus) {
  if (!(workload.Span() > 0)) return kUnknown;
  const Seconds end = workload.jobs.back().submit;
  double offered = 0;
  for (const Job& job : workload.jobs) offered += GpuSecondsUntil(job, end);
  return offered / (gpus * workload.Span());
}

}  // namespace allot
