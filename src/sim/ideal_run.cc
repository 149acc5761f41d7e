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
  if (!scenario.node_events().empty() || scenario.lending() != nullptr)
    refuse("nodes that come and go");
  if (scenario.start_plan() != nullptr) refuse("starts that fail");
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
      return Status::Refused("a time share must be > 0 and at most 1, got {} (job {})", share.share,
                             o.job[At(share.row)]);
    }
    const Configuration& c = (*o.table[At(share.row)])[share.configuration];
    gpus[At(c.gpu_type)] += share.share * c.demand.gpus;
    time[At(share.row)] += share.share;
    if (paired) time[At(share.partner_row)] += share.share;
  }
  for (std::size_t r = 0; r < time.size(); ++r) {
    if (time[r] <= 1 + kSharesRounding) continue;
    return Status::Refused("a job's time shares add up to at most 1, got {} (job {})", time[r],
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
