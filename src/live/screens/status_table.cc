#include "live/screens/status_table.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>

#include "core/counted.h"
#include "core/strings.h"
#include "live/screens/status_cells.h"
#include "metrics/humanise.h"
#include "metrics/table.h"

namespace allot {
namespace {

// "4/4", or "2/4" while a resize is under way.
std::string GpusCell(const JobStatus& job) {
  return fmt::format("{}/{}", job.worker_gpus, job.allocated_gpus);
}

std::string NumberCell(std::optional<double> value, const char* format) {
  return value ? fmt::format(fmt::runtime(format), *value) : "";
}

std::string HeadLine(const DaemonStatus& status) {
  GpuCount gpus = 0, used = 0, foreign = 0;
  std::map<std::string, std::pair<GpuCount, GpuCount>> by_type;  // used, of so many
  std::string away;
  for (const NodeStatus& node : status.nodes) {
    foreign += node.foreign_gpus;
    auto& [type_used, type_gpus] = by_type[node.gpu_type];
    if (node.state == NodeState::kUp) {
      gpus += node.gpus;
      type_gpus += node.gpus;
      used += node.worker_gpus;
      type_used += node.worker_gpus;
      continue;
    }
    away += fmt::format(", {} {}", node.name, NodeStateCell(node.state));
    if (node.why) away += fmt::format(" ({})", *node.why);
    if (node.worker_gpus > 0) {
      away += fmt::format(" ({} still in use)", Counted(node.worker_gpus, "GPU"));
    }
  }
  std::string types;
  for (const auto& [type, count] : by_type) {
    if (by_type.size() < 2) break;
    types +=
        fmt::format("{}{} {} of {}", types.empty() ? " (" : ", ", type, count.first, count.second);
  }
  if (!types.empty()) types += ")";
  if (foreign > 0) types += fmt::format(", {} not allot's to give", foreign);
  std::string corrected;
  if (status.corrected > 0) {
    corrected = fmt::format(", {} of {} corrected for {}", status.corrected,
                            Counted(status.decisions, "decision"),
                            status.fair_shares ? "fair shares or guarantees" : "guarantees");
  }
  return fmt::format(
      "{:.0f} s, policy {}: {} of {}{}, {}{}, {} finished, {}{}{}{}{}\n", status.now, status.policy,
      used, Counted(gpus, "GPU"), types, Counted(std::ssize(status.jobs), "job"),
      MoreJobsText(status), status.finished, Counted(status.resizes, "resize"), corrected, away,
      status.paused ? ", PAUSED" : "", status.drained ? ", drained: no job begins" : "");
}

std::string ShadowLine(const ShadowStatus& shadow) {
  return fmt::format("shadow {}: {} decisions, {} failed, agrees on {}{}\n", shadow.policy,
                     shadow.decisions, shadow.failed,
                     shadow.agreement ? fmt::format("{:.0f} % of the GPUs", 100 * *shadow.agreement)
                                      : "nothing yet",
                     shadow.asked ? "" : ", asked no more");
}

}  // namespace

std::string StatusText(const DaemonStatus& status) {
  std::string text = HeadLine(status);
  if (status.shadow) text += ShadowLine(*status.shadow);
  text += TroubleLines(status);
  using Align = TextTable::Align;
  TextTable table({{"job", Align::kLeft},
                   {"stage", Align::kLeft},
                   {"GPUs"},
                   {"min-max"},
                   {"type", Align::kLeft},
                   {"nodes", Align::kLeft},
                   {"step"},
                   {"work", Align::kLeft},
                   {"rate /s"},
                   {"loss"},
                   {"age s"}});
  for (const JobStatus& job : status.jobs) {
    table.AddRow({job.name, std::string(NameOf(job.stage)), GpusCell(job),
                  fmt::format("{}-{}", job.min_gpus, job.max_gpus),
                  job.gpu_type.value_or(job.accepted_types.value_or("")), NodesCell(job),
                  std::to_string(job.step), DoneCell(job.done()), NumberCell(job.rate, "{:.0f}"),
                  NumberCell(job.loss, "{:.3g}"), NumberCell(job.age, "{:.0f}")});
  }
  if (!status.jobs.empty()) text += table.ToText();
  for (const JobStatus& job : status.jobs) {
    // Names and reasons may contain what a user has written.
    if (job.reason) text += Printable(fmt::format("{}: {}", job.name, *job.reason)) + "\n";
  }
  return text;
}

std::string ForecastText(const DaemonStatus& status) {
  if (status.jobs.empty()) return "no job waits or runs\n";
  using Align = TextTable::Align;
  TextTable table({{"job", Align::kLeft},
                   {"user", Align::kLeft},
                   {"GPUs"},
                   {"age"},
                   {"start 10 %"},
                   {"50 %"},
                   {"90 %"},
                   {"end 10 %"},
                   {"50 %"},
                   {"90 %"}});
  int not_yet = 0, none = 0, unknown = 0;
  std::string made;
  for (const JobStatus& job : status.jobs) {
    if (!job.forecast) {
      const bool in_none = job.stage == JobStage::kHeld || job.stage == JobStage::kFitsNowhere;
      ++(in_none ? none : not_yet);
      continue;
    }
    const ForecastStatus& forecast = *job.forecast;
    made = fmt::format("made {} ago, looking {} ahead: 'later' is after that\n",
                       HumanDuration(std::max(0.0, status.now - forecast.made)),
                       HumanDuration(forecast.until - forecast.made));
    unknown += forecast.end ? 0 : 1;
    const auto start = TimeCells(forecast, forecast.start, status.now);
    const auto end = TimeCells(forecast, forecast.end, status.now);
    table.AddRow({job.name, job.user, GpusCell(job), HumanDuration(job.age), start[0], start[1],
                  start[2], end[0], end[1], end[2]});
  }
  std::string text = "from now, with 10, 50 and 90 % probability before:\n" + table.ToText() + made;
  if (unknown > 0) {
    text += fmt::format("'?': {} nothing of free GPUs, and {} for other nodes or a change\n",
                        unknown == 1 ? "1 job gets" : fmt::format("{} jobs get", unknown),
                        unknown == 1 ? "waits" : "wait");
  }
  if (none > 0) {
    text += fmt::format("{} {} held or fit nowhere, and {} none\n", Counted(none, "job"),
                        none == 1 ? "is" : "are", none == 1 ? "has" : "have");
  }
  if (not_yet > 0) {
    text += fmt::format("{} {} no forecast yet\n", Counted(not_yet, "job"),
                        not_yet == 1 ? "has" : "have");
  }
  return text;
}

void StatusScreen::Draw(const DaemonStatus& status) {
  const std::string text = StatusText(status);
  if (::isatty(STDOUT_FILENO) != 0) {
    if (lines_ > 0) std::printf("\033[%dA\033[J", lines_);
    std::fputs(text.c_str(), stdout);
    lines_ = static_cast<int>(std::count(text.begin(), text.end(), '\n'));
    std::fflush(stdout);
    return;
  }
  std::string line;
  for (const JobStatus& job : status.jobs) {
    line += fmt::format("  {} {} {}", job.name, NameOf(job.stage), GpusCell(job));
  }
  if (line == last_) return;
  last_ = line;
  std::printf("%6.1f s%s\n", status.now, line.empty() ? "  no jobs" : line.c_str());
  std::fflush(stdout);
}

}  // namespace allot
