#include "wait_forecast/quote.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/calendar.h"
#include "core/error.h"
#include "core/index.h"
#include "core/strings.h"
#include "perf/accepted_types.h"
#include "perf/table_cache.h"

namespace allot {
namespace {

class QuoteMaker {
 public:
  QuoteMaker(const QuoteRequest& request, const QuoteBasis& basis)
      : request_(request),
        basis_(basis),
        types_(basis.cluster.type_specs()),
        accepted_(types_),
        tables_(Catalogue::Embedded(), types_) {
    if (request.gpus < 1) {
      throw UsageError("a quote is for at least 1 GPU, got {}", request.gpus);
    }
    if (request.limit && !(*request.limit > 0)) {
      throw UsageError("the time limit must be > 0 s, got {}", *request.limit);
    }
    if (types_.empty()) throw UsageError("a quote needs GPUs, and the cluster has none");
    if (request.type && accepted_.None(*request.type)) {
      throw UsageError("the GPU type must be one that the cluster has ({}), got '{}'",
                       Join(basis.cluster.types(), ", "), *request.type);
    }
    if (request.gpus > MostGpus(request.type)) {
      throw UsageError("a job must fit one GPU type: the largest{} has {} GPUs, got {}",
                       request.type ? fmt::format(" of '{}'", *request.type) : "",
                       MostGpus(request.type), request.gpus);
    }
    if (basis.rules != nullptr) rules_ = basis.rules->RulesFor(basis.account, basis.user);
  }

  Quote Make(const ForecastCalibration& calibration) {
    Quote quote;
    quote.jobs = Variants();
    std::vector<HypotheticalJob> jobs;
    for (const QuotedJob& job : quote.jobs) jobs.push_back(Hypothetical(job));
    const StartForecasts starts =
        basis_.forecaster.PredictStarts(basis_.moment, jobs, basis_.lengths, basis_.policy);
    if (basis_.rows_shown != nullptr) *basis_.rows_shown = starts.rows_shown;
    const Observation& o = basis_.moment.observation;
    quote.made = o.now;
    quote.ahead_for = starts.until - o.now;
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      if (!starts.jobs[j].known()) continue;
      ForecastTimes ahead = starts.jobs[j].start;
      for (Seconds& time : ahead) time -= o.now;
      quote.jobs[j].start = calibration.Shift(Predicted::kStart, ahead);
    }
    AddJobsInTheWay(starts.jobs.front(), &quote);
    const GpuCount given = (*jobs.front().table)[jobs.front().requested].demand.gpus;
    if (given != request_.gpus) {
      quote.notes.push_back(fmt::format("the operator's rules allow no {} GPUs: {} are quoted",
                                        request_.gpus, given));
    }
    if (request_.limit && !basis_.by_limits) {
      quote.notes.emplace_back(
          "the policy does not go by time limits, so the limit changes nothing");
    }
    const auto never = [](const StartForecast& start) { return !start.known(); };
    if (std::any_of(starts.jobs.begin(), starts.jobs.end(), never)) {
      quote.notes.emplace_back("?: such a job gets nothing even of an idle cluster");
    }
    AddMaintenance(&quote);
    return quote;
  }

 private:
  static std::string TypesOf(const std::optional<std::string>& type) { return type.value_or(""); }

  // Of the largest GPU type that is accepted.
  GpuCount MostGpus(const std::optional<std::string>& type) {
    GpuCount most = 0;
    const std::vector<bool>& accepted = accepted_.Of(TypesOf(type));
    for (std::size_t t = 0; t < types_.size(); ++t) {
      if (accepted[t]) most = std::max(most, types_[t].gpus);
    }
    return std::min(most, kMaxGpusPerJob);
  }

  // The job as asked for, then similar ones that the cluster can hold.
  std::vector<QuotedJob> Variants() {
    const QuotedJob asked = {.gpus = request_.gpus,
                             .max_gpus = request_.gpus,
                             .type = request_.type,
                             .limit = request_.limit};
    std::vector<QuotedJob> jobs = {asked};
    const auto add = [&](QuoteVariant variant, GpuCount gpus, GpuCount max_gpus) {
      QuotedJob& job = jobs.emplace_back(asked);
      job.variant = variant;
      job.gpus = gpus;
      job.max_gpus = max_gpus;
      return &job;
    };
    const GpuCount half = request_.gpus / 2;
    const GpuCount twice = 2 * request_.gpus;
    const GpuCount most = MostGpus(request_.type);
    if (half > 0) add(QuoteVariant::kHalf, half, half);
    if (twice <= most) add(QuoteVariant::kDouble, twice, twice);
    if (half > 0) add(QuoteVariant::kElastic, half, std::min(twice, most));
    if (request_.limit && basis_.by_limits) {
      add(QuoteVariant::kShorter, request_.gpus, request_.gpus)->limit = *request_.limit / 2;
    }
    if (types_.size() < 2) return jobs;
    const std::vector<bool> accepted = accepted_.Of(TypesOf(request_.type));
    for (std::size_t t = 0; t < types_.size(); ++t) {
      const bool other = !request_.type || !accepted[t];
      if (!other || types_[t].gpus < request_.gpus) continue;
      add(QuoteVariant::kOtherType, request_.gpus, request_.gpus)->type = types_[t].name;
    }
    return jobs;
  }

  // Nobody knows how fast it is at other sizes than the one that it asks for.
  HypotheticalJob Hypothetical(const QuotedJob& job) {
    Workload workload;
    Job asked;
    asked.id = "quote";
    asked.gpus = asked.min_gpus = job.gpus;
    asked.max_gpus = job.max_gpus;
    asked.duration = job.limit.value_or(1);
    if (job.type) asked.gpu_types = workload.gpu_types.Intern(*job.type);
    const TableCache::Offer offer = tables_.OfferFor(workload, asked, rules_.sizes);
    return {.table = offer.table,
            .requested = offer.requested,
            .estimated_work = basis_.by_limits && job.limit ? offer.work : kUnknown,
            .user = basis_.user,
            .tenant = basis_.account,
            .rules = rules_};
  }

  void AddJobsInTheWay(const StartForecast& start, Quote* quote) {
    const Observation& o = basis_.moment.observation;
    const std::vector<bool>& accepted = accepted_.Of(TypesOf(request_.type));
    for (std::size_t t = 0; t < types_.size(); ++t) {
      if (accepted[t]) quote->gpus += o.cluster->total_of(static_cast<GpuTypeIndex>(t)).gpus;
    }
    ByUser running(o), waiting(o);
    quote->free_gpus = quote->gpus;
    for (std::size_t r = 0; r < o.job.size(); ++r) {
      if (o.running[r] < 0) continue;
      const Configuration& held = (*o.table[r])[o.running[r]];
      if (!accepted[At(held.gpu_type)]) continue;
      running.Add(r, held.demand.gpus);
      quote->free_gpus -= held.demand.gpus;
    }
    for (const std::int32_t row : start.ahead) {
      waiting.Add(At(row), (*o.table[At(row)])[o.requested[At(row)]].demand.gpus);
    }
    quote->running = running.Sorted();
    quote->waiting = waiting.Sorted();
    const GpuCount away = basis_.cluster.total().gpus - o.cluster->total().gpus;
    if (away > 0) {
      quote->notes.push_back(
          fmt::format("{} of the cluster's {} GPUs cannot be allocated now: their nodes are away, "
                      "or the jobs on them may not be changed",
                      away, basis_.cluster.total().gpus));
    }
  }

  // Futures leave windows out.
  void AddMaintenance(Quote* quote) const {
    if (basis_.rules == nullptr) return;
    const Seconds now = basis_.moment.origin + basis_.moment.observation.now;
    for (const Maintenance& window : basis_.rules->maintenance()) {
      const auto end = ParseCalendar(window.to);
      if (end && static_cast<Seconds>(*end) < now) continue;
      quote->notes.push_back(fmt::format("maintenance of {} from {} to {} is not simulated",
                                         Join(window.nodes, ", "), window.from, window.to));
    }
  }

  class ByUser {
   public:
    explicit ByUser(const Observation& o) : observation_(o) {}
    void Add(std::size_t row, GpuCount gpus) {
      const std::int32_t user = observation_.user[row];
      const auto* const names = observation_.user_names;
      const bool named = user >= 0 && names != nullptr && At(user) < names->size();
      JobsInTheWay& jobs = of_[named ? (*names)[At(user)] : ""];
      ++jobs.jobs;
      jobs.gpus += gpus;
    }
    std::vector<JobsInTheWay> Sorted() const {
      std::vector<JobsInTheWay> sorted;
      for (const auto& [user, jobs] : of_) sorted.push_back({user, jobs.jobs, jobs.gpus});
      std::stable_sort(
          sorted.begin(), sorted.end(),
          [](const JobsInTheWay& a, const JobsInTheWay& b) { return a.gpus > b.gpus; });
      return sorted;
    }

   private:
    const Observation& observation_;
    std::map<std::string, JobsInTheWay> of_;
  };

  const QuoteRequest& request_;
  const QuoteBasis& basis_;
  std::vector<GpuTypeSpec> types_;
  AcceptedTypes accepted_;
  TableCache tables_;
  JobRules rules_;
};

}  // namespace

Quote MakeQuote(const QuoteRequest& request, const QuoteBasis& basis,
                const ForecastCalibration& calibration) {
  return QuoteMaker(request, basis).Make(calibration);
}

}  // namespace allot
