#include "experiment/node_events_text.h"

#include <fmt/format.h>

#include <vector>

#include "core/counted.h"
#include "metrics/humanise.h"

namespace allot {

namespace {

std::string StartFaultsInWords(const FaultLaw& law, const SimOptions& options) {
  const FailureRule rule = options.rules == nullptr ? FailureRule{} : options.rules->failures();
  const char* const then = rule.then == SuspectAction::kTell    ? "named"
                           : rule.then == SuspectAction::kAvoid ? "avoided"
                                                                : "drained";
  return fmt::format(
      "Nodes turn bad by --failures {} (each once in {} on average, for {}) and fail the jobs that "
      "start there. Failed jobs are tried on other nodes, and given up, unfinished, after six "
      "failures in a row; suspect nodes are {}.",
      options.failures, HumanDuration(1 / law.rate()), HumanDuration(law.starts()->repair), then);
}

}  // namespace

std::string NodeEventsInWords(const SimOptions& options) {
  std::vector<std::string> causes;
  if (!options.node_events.empty()) {
    causes.push_back(
        fmt::format("by --node-events ({})", Counted(std::ssize(options.node_events), "event")));
  }
  const auto law = MakeFaultLaw(options.failures);
  std::string starts = law != nullptr && law->starts() ? StartFaultsInWords(*law, options) : "";
  if (law != nullptr && law->rate() > 0 && starts.empty()) {
    std::string recalls;
    if (law->notice()) {
      recalls = fmt::format("called back {} before, ", HumanDuration(*law->notice()));
    }
    causes.push_back(fmt::format("by --failures {} ({}each once in {} on average)",
                                 options.failures, recalls, HumanDuration(1 / law->rate())));
  }
  const std::size_t windows = options.rules == nullptr ? 0 : options.rules->maintenance().size();
  if (windows > 0) {
    causes.push_back(fmt::format("for maintenance by --rules ({})",
                                 Counted(static_cast<std::int64_t>(windows), "window")));
  }
  if (causes.empty()) return starts;
  const bool only_planned = causes.size() == 1 && windows > 0;
  const std::string work =
      options.checkpoints != "continuous" && !only_planned
          ? fmt::format("lose their work since the last checkpoint (--checkpoints {})",
                        options.checkpoints)
          : std::string("keep their work");
  const std::string down =
      fmt::format("{}{}Nodes go down {}: ", starts, starts.empty() ? "" : " ", Enumerate(causes));
  if (options.node_loss == NodeLoss::kRequeue || only_planned) {
    return fmt::format(
        "{}their jobs are stopped, {}, and wait for GPUs. Such stops count among the stops and "
        "restarts of every policy.",
        down, work);
  }
  const bool hot = options.node_loss == NodeLoss::kHot;
  return fmt::format(
      "{}their jobs {}, and go on with the GPUs that are left after a restart; those that cannot "
      "are stopped, {}, and wait for GPUs. Both count among the restarts of every policy.",
      down, hot ? "keep their work" : work, work);
}

std::string LendingInWords(const SimOptions& options, std::span<const LendingFigures> runs) {
  if (runs.empty()) return "";
  LendingFigures mean;
  double missing = 0;
  for (const LendingFigures& run : runs) {
    mean.demand += run.demand / static_cast<double>(runs.size());
    mean.lent += run.lent / static_cast<double>(runs.size());
    missing += run.shortage * run.demand;
  }
  const double demanded = mean.demand * static_cast<double>(runs.size());
  const double shortage = demanded > 0 ? missing / demanded : 0;
  return fmt::format(
      "Services ({}) need {:.0f} GPUs on average and lend {:.0f} (--lend {}); {:.3f} % of their "
      "demand is not served. Jobs know of a recall {} before: they write a checkpoint if that "
      "suffices, and {}.",
      options.services, mean.demand, mean.lent, options.lend, 100 * shortage,
      HumanDuration(options.recall_notice),
      options.node_loss == NodeLoss::kRequeue
          ? "wait for GPUs"
          : "go on with the GPUs that are left, or wait where they cannot");
}

}  // namespace allot
