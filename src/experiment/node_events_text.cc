#include "experiment/node_events_text.h"

#include <fmt/format.h>

#include <vector>

#include "core/counted.h"
#include "metrics/humanise.h"

namespace allot {

std::string NodeEventsInWords(const SimOptions& options) {
  std::vector<std::string> causes;
  const NodeFailures& failures = options.failures;
  if (!options.node_events.empty()) {
    causes.push_back(
        fmt::format("by --node-events ({})", Counted(std::ssize(options.node_events), "event")));
  }
  if (failures.mean_between != kNever) {
    causes.push_back(fmt::format("by --failures (each {} on average, for {})",
                                 HumanDuration(failures.mean_between),
                                 HumanDuration(failures.mean_repair)));
  }
  const std::size_t windows = options.rules == nullptr ? 0 : options.rules->maintenance().size();
  if (windows > 0) {
    causes.push_back(fmt::format("for maintenance by --rules ({})",
                                 Counted(static_cast<std::int64_t>(windows), "window")));
  }
  if (causes.empty()) return "";
  const bool only_planned = causes.size() == 1 && windows > 0;
  const std::string work =
      failures.checkpoint_every > 0 && !only_planned
          ? fmt::format("lose their work since the last checkpoint (one every {})",
                        HumanDuration(failures.checkpoint_every))
          : std::string("keep their work");
  return fmt::format(
      "Nodes go down {}: their jobs are stopped, {}, and wait for GPUs. Such stops count among the "
      "stops and restarts of every policy.",
      Enumerate(causes), work);
}

}  // namespace allot
