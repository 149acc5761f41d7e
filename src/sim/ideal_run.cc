#include "sim/ideal_run.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/error.h"
#include "core/index.h"
#include "core/interrupt.h"

namespace allot {
namespace {

constexpr double kSharesRounding = 1e-6;

}  // namespace

Scenario WithoutMechanism(const Scenario& scenario) {
  const auto refuse = [](const char* what) {
    throw UsageError("shares without a mechanism (ideal=true) are of constant rates, got {}", what);
  };
  if (!scenario.node_events().empty()) refuse("nodes that come and go");
  if (scenario.has_processes()) refuse("rates that vary");
  if (scenario.has_binding_rules()) refuse("rules of an operator that bind policies");
  if (scenario.options().beliefs != "exact") refuse("beliefs about rates");
  std::vector<Scenario::JobFacts> facts;
  const std::size_t jobs = scenario.workload().jobs.size();
  facts.reserve(jobs);
  for (std::size_t i = 0; i < jobs; ++i) {
    facts.push_back(scenario.facts(static_cast<JobIndex>(i)));
    if (facts.back().application() != nullptr) refuse("applications that choose their batch");
  }
  SimOptions options = scenario.options();
  options.decide_on_events = true;
  options.charge_whole_intervals = options.whole_rounds = options.busy_gaps = false;
  options.restart_cost = options.launch_cost = 0;
  return Scenario(scenario.workload(), scenario.cluster(), std::move(options), std::move(facts));
}

Status ValidateShares(const Observation& o, std::span<const TimeShare> shares) {
  const std::size_t types = o.cluster->types().size();
  std::vector<double> time(At(o.rows()), 0.0);
  std::vector<double> gpus(types, 0.0);
  const auto known = [&o](std::int32_t row, std::int32_t configuration) {
    return row >= 0 && row < o.rows() && configuration >= 0 &&
           configuration < o.table[At(row)]->size();
  };
  for (const TimeShare& share : shares) {
    const bool paired = share.partner_row >= 0;
    if (!known(share.row, share.configuration) ||
        (paired && !known(share.partner_row, share.partner_configuration))) {
      return Status::Refused("a share is of a row and a configuration of its table, got {}, {}",
                             share.row, share.configuration);
    }
    if (!(share.share > 0 && share.share <= 1 + kSharesRounding)) {
      return Status::Refused("a share of time must be > 0 and at most 1, got {} (job {})",
                             share.share, o.job[At(share.row)]);
    }
    const Configuration& c = (*o.table[At(share.row)])[share.configuration];
    gpus[At(c.gpu_type)] += share.share * c.demand.gpus;
    time[At(share.row)] += share.share;
    if (paired) time[At(share.partner_row)] += share.share;
  }
  for (std::size_t r = 0; r < time.size(); ++r) {
    if (time[r] <= 1 + kSharesRounding) continue;
    return Status::Refused("a job's shares of time are at most 1, got {} (job {})", time[r],
                           o.job[r]);
  }
  for (std::size_t t = 0; t < types; ++t) {
    const GpuCount most = o.cluster->total_of(static_cast<GpuTypeIndex>(t)).gpus;
    if (gpus[t] <= most * (1 + kSharesRounding)) continue;
    return Status::Refused("shares of a GPU type are of at most its {} GPUs, got {} (type '{}')",
                           most, gpus[t], o.cluster->types()[t]);
  }
  return {};
}

ApplyReport SimulatedCluster::ApplyShares(std::span<const TimeShare> shares) {
  Observation& o = observation_;
  ApplyReport report;
  report.refused = ValidateShares(o, shares);
  if (!report.refused.ok()) return report;
  std::vector<double> rate(o.job.size(), 0.0);
  std::vector<double> gpus(o.job.size(), 0.0);
  const auto add = [&](std::int32_t row, std::int32_t configuration, double share, double part) {
    const Configuration& c = (*scenario_.facts(o.job[At(row)]).table)[configuration];
    rate[At(row)] += share * c.rate * scenario_.options().speedup;
    gpus[At(row)] += share * part * c.demand.gpus;
  };
  for (const TimeShare& share : shares) {
    const bool paired = share.partner_row >= 0;
    add(share.row, share.configuration, share.share, paired ? 0.5 : 1);
    if (paired) add(share.partner_row, share.partner_configuration, share.share, 0.5);
  }
  applied_decision_ = o.decision;
  o.events.Clear();
  running_rows_.clear();
  runs_.clear();
  gpus_used_ = 0;
  for (std::size_t r = 0; r < rate.size(); ++r) {
    if (!(rate[r] > 0)) continue;
    JobRecord& record = records_[At(o.job[r])];
    if (o.attained_seconds[r] == 0) record.first_start = o.now;
    Run run;
    run.work = scenario_.facts(o.job[r]).work;
    run.ready = o.now;
    run.rate = rate[r];
    run.finish = o.now + std::max(0.0, run.work - o.done_work[r]) / run.rate;
    run.gpus = gpus[r];
    running_rows_.push_back(static_cast<std::int32_t>(r));
    runs_.push_back(run);
    gpus_used_ += run.gpus;
  }
  FindFirstFinish();
  NotePoint({o.now, o.rows(), static_cast<std::int32_t>(running_rows_.size()), GpusUsed()});
  last_decision_ = o.now;
  return report;
}

DriveResult DriveShares(SimulatedCluster& cluster, Policy& policy, const EpisodeContext& context,
                        const DriveOptions& options) {
  using Clock = std::chrono::steady_clock;
  SharesTime& sharer = *policy.ideal_shares();
  policy.OnEpisodeStart(context);
  DriveResult result;
  std::vector<TimeShare> shares;
  while (true) {
    const Observation& o = cluster.Observe();
    const auto start = Clock::now();
    sharer.ShareTime(o, &shares);
    const std::chrono::duration<float, std::micro> took = Clock::now() - start;
    if (options.time_decisions) result.decision_us.push_back(took.count());
    if (const Status refused = cluster.ApplyShares(shares).refused; !refused.ok()) {
      throw RunError("policy '{}', decision {} at {} s: {}", policy.info().id, o.decision, o.now,
                     refused.message());
    }
    ++result.decisions;
    ThrowIfInterrupted();
    if (!cluster.WaitForChange(kNever)) break;
    if (options.enough && options.enough()) break;
  }
  return result;
}

}  // namespace allot
