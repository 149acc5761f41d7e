#include "live/screens/live_status.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "core/counted.h"
#include "core/error.h"
#include "core/strings.h"
#include "live/screens/status_cells.h"
#include "live/state/live_job.h"
#include "metrics/humanise.h"
#include "metrics/table.h"

namespace allot {
namespace {

using Json = nlohmann::ordered_json;

// "4/4", or "2/4" while a resize is under way.
std::string GpusText(const Json& job) {
  return fmt::format("{}/{}", job["held"].get<int>(), job["gpus"].get<int>());
}

// That of its GPUs; while it waits, those that it accepts.
std::string TypeText(const Json& job) {
  const Json& held = job["type"];
  return (held == "" ? job["types"] : held).get<std::string>();
}

std::string NumberText(const Json& value, const char* format) {
  return value.is_null() ? "" : fmt::format(fmt::runtime(format), value.get<double>());
}

}  // namespace

std::filesystem::path StateFolder(const std::string& given) {
  if (!given.empty()) return given;
  if (const char* state = std::getenv("XDG_STATE_HOME"); state != nullptr && *state != '\0') {
    return std::filesystem::path(state) / "allot";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
    return std::filesystem::path(home) / ".local/state/allot";
  }
  throw UsageError("no HOME to keep state in: give --state FOLDER");
}

std::string StatusText(const Json& status) {
  int gpus = 0, held = 0, taken = 0;
  std::map<std::string, std::pair<int, int>> of_type;  // held, of so many
  std::string away;
  for (const Json& node : status["nodes"]) {
    const int node_held = node["held"].get<int>();
    taken += node["taken"].get<int>();
    const bool maintained = node.value("maintenance", false);  // daemons of before do not say it
    auto& [type_held, type_gpus] = of_type[node["type"].get<std::string>()];
    if (node["up"] && !node["drained"] && !maintained) {
      gpus += node["gpus"].get<int>();
      type_gpus += node["gpus"].get<int>();
      held += node_held;
      type_held += node_held;
      continue;
    }
    away += fmt::format(", {} {}", node["node"].get<std::string>(),
                        node["drained"].get<bool>() ? "drained"
                        : maintained                ? "in maintenance"
                                                    : "down");
    if (node_held > 0) away += fmt::format(" ({} still held)", Counted(node_held, "GPU"));
  }
  std::string types;  // where there are several
  for (const auto& [type, count] : of_type) {
    if (of_type.size() < 2) break;
    types +=
        fmt::format("{}{} {} of {}", types.empty() ? " (" : ", ", type, count.first, count.second);
  }
  if (!types.empty()) types += ")";
  if (taken > 0) types += fmt::format(", {} not allot's to give", taken);
  std::string text =
      fmt::format("{:.0f} s, policy {}: {} of {}{}, {}, {} finished, {}{}{}{}\n",
                  status["now"].get<double>(), status["policy"].get<std::string>(), held,
                  Counted(gpus, "GPU"), types, Counted(std::ssize(status["jobs"]), "job"),
                  status["finished"].get<int>(), Counted(status["resizes"].get<int>(), "resize"),
                  away, status["paused"].get<bool>() ? ", PAUSED" : "",
                  status["drained"].get<bool>() ? ", drained: no job begins" : "");
  if (const auto shadow = status.find("shadow"); shadow != status.end()) {
    const Json& agreement = (*shadow)["agreement"];
    text += fmt::format(
        "shadow {}: {} decisions, {} failed, agrees on {}{}\n",
        (*shadow)["policy"].get<std::string>(), (*shadow)["decisions"].get<std::int64_t>(),
        (*shadow)["failed"].get<std::int64_t>(),
        agreement.is_null() ? "nothing yet"
                            : fmt::format("{:.0f} % of the GPUs", 100 * agreement.get<double>()),
        (*shadow)["asked"].get<bool>() ? "" : ", asked no more");
  }
  if (const std::string trouble = status.value("trouble", ""); !trouble.empty()) {
    text += fmt::format("nothing is changed until the cluster can be asked again: {}\n", trouble);
  }
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
  for (const Json& job : status["jobs"]) {
    table.AddRow({NameCell(job), job["stage"].get<std::string>(), GpusText(job),
                  fmt::format("{}-{}", job["min"].get<int>(), job["max"].get<int>()), TypeText(job),
                  NodesCell(job), std::to_string(job["step"].get<std::int64_t>()),
                  DoneCell(DoneShare(job)), NumberText(job["rate"], "{:.0f}"),
                  NumberText(job["loss"], "{:.3g}"), NumberText(job["age"], "{:.0f}")});
  }
  if (!status["jobs"].empty()) text += table.ToText();
  for (const Json& job : status["jobs"]) {
    if (job["reason"] == "") continue;
    // Both may say what a user has written.
    text +=
        Printable(fmt::format("{}: {}", NameCell(job), job["reason"].get<std::string>())) + "\n";
  }
  return text;
}

std::string EtaText(const Json& status) {
  if (status["jobs"].empty()) return "no job waits or runs\n";
  const double now = status["now"].get<double>();
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
  int unknown = 0;
  int none = 0;
  int untold = 0;
  std::string made;
  for (const Json& job : status["jobs"]) {
    if (!job.contains("eta")) {
      const auto stage = job["stage"].get<std::string>();
      ++(stage == LiveJob::kHeldStage || stage == LiveJob::kUnfitStage ? none : unknown);
      continue;
    }
    const Json& eta = job["eta"];
    const double at = eta["made"].get<double>();
    if (eta.contains("until"))
      made = fmt::format("made {} ago, looking {} ahead: 'later' is after that\n",
                         HumanDuration(std::max(0.0, now - at)),
                         HumanDuration(eta["until"].get<double>() - at));
    untold += eta["end"].is_null() ? 1 : 0;
    const auto text = [&](const char* what, const char* level) {
      return EtaCell(eta, what, level, now);
    };
    table.AddRow({NameCell(job), job["user"].get<std::string>(), GpusText(job),
                  HumanDuration(job["age"].get<double>()), text("start", "0.1"),
                  text("start", "0.5"), text("start", "0.9"), text("end", "0.1"),
                  text("end", "0.5"), text("end", "0.9")});
  }
  std::string said = "from now, with 10, 50 and 90 % probability before:\n" + table.ToText();
  said += made;
  if (untold > 0) {
    said += fmt::format("'?': {} nothing of free GPUs, and {} for other nodes or a change\n",
                        untold == 1 ? "1 job gets" : fmt::format("{} jobs get", untold),
                        untold == 1 ? "waits" : "wait");
  }
  if (none > 0) {
    said += fmt::format("{} {} held or fit nowhere, and {} none\n", Counted(none, "job"),
                        none == 1 ? "is" : "are", none == 1 ? "has" : "have");
  }
  if (unknown > 0) {
    said += fmt::format("{} {} no forecast yet\n", Counted(unknown, "job"),
                        unknown == 1 ? "has" : "have");
  }
  return said;
}

void StatusScreen::Draw(const Json& status) {
  const std::string text = StatusText(status);
  if (::isatty(STDOUT_FILENO) != 0) {
    if (lines_ > 0) std::printf("\033[%dA\033[J", lines_);
    std::fputs(text.c_str(), stdout);
    lines_ = static_cast<int>(std::count(text.begin(), text.end(), '\n'));
    std::fflush(stdout);
    return;
  }
  // A line whenever somebody's size changed.
  std::string line;
  for (const Json& job : status["jobs"]) {
    line +=
        fmt::format("  {} {} {}", NameCell(job), job["stage"].get<std::string>(), GpusText(job));
  }
  if (line == last_) return;
  last_ = line;
  std::printf("%6.1f s%s\n", status["now"].get<double>(),
              line.empty() ? "  no jobs" : line.c_str());
  std::fflush(stdout);
}

}  // namespace allot
