#include "workload/arrival_law.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "core/error.h"
#include "core/interrupt.h"
#include "core/rng.h"
#include "workload/calibrated_law.h"

namespace allot {
namespace {

constexpr int kMostLawJobs = 10'000'000;
constexpr double kLowestRate = 1e-3;
constexpr double kHighestRate = 1e9;
// Gaps are whole seconds, rounded up. If they were shorter on average than this, that would make
// the rate lower than the one that was asked for: then they are not rounded.
constexpr Seconds kShortestWholeGap = 60;

// The next job of one stream, and the one after it.
class StreamDraw {
 public:
  StreamDraw(const ArrivalStream& stream, double rate, std::uint64_t seed, std::uint64_t number)
      : stream_(stream),
        per_hour_(stream.rate_factor * rate),
        arrivals_(seed, "law-arrivals", number),
        durations_(seed, "law-durations", number),
        gpus_(seed, "law-gpus", number),
        models_(seed, "law-models", number),
        priorities_(seed, "law-priorities", number),
        deadlines_(seed, "law-deadlines", number),
        tenants_(seed, "law-tenants", number),
        present_(stream.present) {
    for (const DurationPart& part : stream.durations) {
      log_bounds_.emplace_back(std::log(part.low), std::log(part.high));
    }
    Advance();
  }

  Seconds next() const { return next_; }

  Job Take(Workload* names) {
    Job job;
    job.submit = next_;
    job.duration = Duration();
    job.gpus = Gpus();
    if (!stream_.models.empty()) job.model = names->models.Intern(Model(job.gpus));
    if (!stream_.measured_on.empty()) {
      job.duration_type = names->gpu_types.InternSmall(stream_.measured_on);
    }
    if (!stream_.priorities.empty()) job.priority = Drawn(stream_.priorities, &priorities_);
    if (stream_.tenants > 0) {
      const auto tenant = tenants_.Below(static_cast<std::uint64_t>(stream_.tenants)) + 1;
      job.tenant = names->tenants.Intern(fmt::format("t{}", tenant));
    }
    if (!stream_.slack.empty()) {
      job.deadline = job.submit + Drawn(stream_.slack, &deadlines_) * job.duration;
    }
    present_ -= std::min(present_, job.gpus);
    Advance();
    return job;
  }

 private:
  void Advance() {
    if (stream_.together || present_ > 0) return;
    if (stream_.batch_every > 0) {
      const double size = std::floor(per_hour_);
      if (size < 1) {
        next_ = kNever;
      } else if (taken_of_batch_ == 0 || taken_of_batch_ >= size) {
        next_ += stream_.batch_every;
        taken_of_batch_ = 0;
      }
      ++taken_of_batch_;
      return;
    }
    const Seconds mean = 3600 / per_hour_;
    do {
      const Seconds gap = arrivals_.Exponential(mean);
      next_ += mean >= kShortestWholeGap ? std::ceil(gap) : gap;
    } while (!Open(next_));
  }

  // Leaving out the arrivals of a Poisson process outside a set of times leaves one that is Poisson
  // inside.
  bool Open(Seconds time) const {
    if (!(stream_.opens_every > 0)) return true;
    const Seconds opened = std::floor(time / stream_.opens_every) * stream_.opens_every;
    const Seconds shut = std::floor(time / stream_.shuts_every) * stream_.shuts_every;
    return opened > shut;
  }

  Seconds Duration() {
    double u = durations_.Uniform();
    std::size_t drawn = 0;
    while (drawn + 1 < stream_.durations.size() && !(u < stream_.durations[drawn].share)) {
      u -= stream_.durations[drawn++].share;
    }
    const DurationPart& part = stream_.durations[drawn];
    if (!part.logarithmic) return durations_.Uniform(part.low, part.high);
    const auto& [low, high] = log_bounds_[drawn];
    return std::exp(durations_.Uniform(low, high));
  }

  GpuCount Gpus() { return Drawn(stream_.gpus, &gpus_); }

  const std::string& Model(GpuCount gpus) {
    std::vector<const LawModel*> fitting;
    for (const LawModel& model : stream_.models) {
      if (model.most_gpus >= gpus) fitting.push_back(&model);
    }
    ALLOT_CHECK(!fitting.empty());
    return fitting[models_.Below(fitting.size())]->name;
  }

  // One of the values, by their shares.
  template <typename Value>
  static Value Drawn(const std::vector<std::pair<Value, double>>& shares, Rng* rng) {
    if (shares.size() == 1) return shares.front().first;
    double u = rng->Uniform();
    for (const auto& [value, share] : shares) {
      if (u < share) return value;
      u -= share;
    }
    return shares.back().first;
  }

  const ArrivalStream& stream_;
  double per_hour_;
  Rng arrivals_;
  Rng durations_;
  Rng gpus_;
  Rng models_;
  Rng priorities_;
  Rng deadlines_;
  Rng tenants_;
  GpuCount present_;  // GPUs that jobs at time 0 still have to ask for
  std::vector<std::pair<double, double>> log_bounds_;  // of the parts of the mixture
  Seconds next_ = 0;
  double taken_of_batch_ = 0;
};

}  // namespace

std::string_view LawName(std::string_view workload) {
  constexpr std::string_view kPrefix = "law:";
  return workload.starts_with(kPrefix) ? workload.substr(kPrefix.size()) : std::string_view();
}

WorkloadLaw LawFrom(std::string_view spec) {
  const NamedParams named = ParseNamedParams(spec);
  WorkloadLaw law = Registry<WorkloadLaw>::Global().Get("law", named.name);
  const Params params(fmt::format("law '{}'", law.id), law.params, named.given);
  if (law.of_params) law.streams = law.of_params(params);
  if (!named.given.empty()) law.id = spec;
  return law;
}

double RateOf(const WorkloadLaw& law, std::optional<double> asked) {
  if (asked) return *asked;
  if (law.calibrated) return law.calibrated().jobs_per_hour;
  if (law.together()) return 1;  // of no meaning
  throw UsageError("law '{}' needs --rate (jobs per hour), got none", law.id);
}

Workload Generate(const WorkloadLaw& law, double rate, std::uint64_t seed,
                  const LawLength& length) {
  if (!(rate >= kLowestRate && rate <= kHighestRate)) {
    throw UsageError("the rate of a law must be {}..{} jobs per hour, got {}", kLowestRate,
                     kHighestRate, rate);
  }
  if (length.jobs < 1 || length.jobs > kMostLawJobs) {
    throw UsageError("a law makes 1..{} jobs, got {}", kMostLawJobs, length.jobs);
  }
  if (law.calibrated) return GenerateCalibrated(law.calibrated(), law.id, rate, seed, length);
  ALLOT_CHECK(!law.streams.empty());
  std::vector<StreamDraw> draws;
  for (const ArrivalStream& stream : law.streams) {
    draws.emplace_back(stream, rate, seed, draws.size());
  }
  Workload workload;
  workload.name = fmt::format("{}-rate{}-seed{}", law.id, rate, seed);
  Seconds end = kNever;
  while (true) {
    auto earliest = std::min_element(
        draws.begin(), draws.end(),
        [](const StreamDraw& a, const StreamDraw& b) { return a.next() < b.next(); });
    if (earliest->next() > end) break;
    ThrowIfInterrupted();
    Job job = earliest->Take(&workload);
    job.id = std::to_string(workload.jobs.size());
    workload.jobs.push_back(std::move(job));
    if (workload.jobs.size() == static_cast<std::size_t>(length.jobs)) {
      if (law.together()) break;
      end = workload.jobs.back().submit + length.tail;
    }
    if (workload.jobs.size() >= kMostLawJobs) {
      throw UsageError("law '{}' at {} jobs per hour makes more than {} jobs in {} s", law.id, rate,
                       kMostLawJobs, length.tail);
    }
  }
  workload.Finish();
  return workload;
}

}  // namespace allot
