#include "live/screens/top.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/counted.h"
#include "live/screens/status_cells.h"
#include "metrics/humanise.h"
#include "metrics/table.h"

namespace allot {
namespace {

// Counts letters, not bytes, because names may contain any.
std::string Cut(const std::string& text, int columns) {
  std::string line;
  int letters = 0;
  for (const char c : text) {
    letters += (c & 0xC0) != 0x80;
    if (letters > columns) break;
    line += c;
  }
  return line;
}

std::string NodeCell(const TopNode& node, std::size_t name_width) {
  std::string cell(NodeStateCell(node.state));
  if (node.state == NodeState::kUp) {
    const double share = node.gpus > 0 ? 1.0 * node.used / node.gpus : 0;
    cell = fmt::format("[{}] {:>2}/{:<2}", ShareBar(share, std::min<int>(node.gpus, 8)), node.used,
                       node.gpus);
  }
  return fmt::format("{:<{}} {:<16}", node.name, name_width, cell);
}

// As many nodes beside each other as have room, in at most `most` lines.
std::vector<std::string> NodeLines(const TopView& view, int columns, std::size_t most) {
  std::size_t name_width = 4;
  for (const TopNode& node : view.nodes) name_width = std::max(name_width, node.name.size());
  const std::size_t width = name_width + 19;
  const std::size_t across = std::max<std::size_t>(1, static_cast<std::size_t>(columns) / width);
  std::vector<std::string> lines;
  std::size_t shown = 0;
  while (shown < view.nodes.size() && lines.size() < most) {
    std::string line;
    for (std::size_t k = 0; k < across && shown < view.nodes.size(); ++k, ++shown) {
      line += NodeCell(view.nodes[shown], name_width) + "  ";
    }
    lines.push_back(std::move(line));
  }
  if (shown < view.nodes.size()) {
    lines.push_back(
        fmt::format("... and {} more {}", view.nodes.size() - shown,
                    NounFor(std::ssize(view.nodes) - static_cast<std::ptrdiff_t>(shown), "node")));
  }
  return lines;
}

std::vector<std::string> JobLines(const TopView& view, std::size_t most) {
  std::vector<const TopJob*> jobs;
  jobs.reserve(view.jobs.size());
  for (const TopJob& job : view.jobs) jobs.push_back(&job);
  std::stable_sort(jobs.begin(), jobs.end(), [](const TopJob* a, const TopJob* b) {
    return a->gpus != b->gpus ? a->gpus > b->gpus : a->age > b->age;
  });
  using Align = TextTable::Align;
  TextTable table({{"job", Align::kLeft},
                   {"user", Align::kLeft},
                   {"stage", Align::kLeft},
                   {"GPUs"},
                   {"asks for"},
                   {"done", Align::kLeft},
                   {"age"},
                   {"nodes", Align::kLeft}});
  const std::size_t shown = std::min(jobs.size(), most);
  for (std::size_t j = 0; j < shown; ++j) {
    const TopJob& job = *jobs[j];
    table.AddRow({job.name, job.user, job.stage, job.gpus > 0 ? std::to_string(job.gpus) : "-",
                  job.asked, DoneCell(job.done), HumanDuration(job.age), job.nodes});
  }
  std::vector<std::string> lines;
  std::string line;
  for (const char c : table.ToText()) {
    if (c != '\n') {
      line += c;
      continue;
    }
    lines.push_back(std::move(line));
    line.clear();
  }
  if (shown < jobs.size())
    lines.push_back(
        fmt::format("... and {} more {}", jobs.size() - shown,
                    NounFor(std::ssize(jobs) - static_cast<std::ptrdiff_t>(shown), "job")));
  return lines;
}

std::string JobEvent(const TopJob& before, const TopJob& now) {
  if (before.gpus == 0 && now.gpus > 0)
    return fmt::format("begins on {}", Counted(now.gpus, "GPU"));
  if (before.gpus > 0 && now.gpus == 0) return "is stopped and waits";
  if (now.gpus > before.gpus)
    return fmt::format("grows from {} to {}", before.gpus, Counted(now.gpus, "GPU"));
  if (now.gpus < before.gpus)
    return fmt::format("shrinks from {} to {}", before.gpus, Counted(now.gpus, "GPU"));
  return before.nodes != now.nodes ? fmt::format("moves to {}", now.nodes) : "";
}

}  // namespace

TopView TopViewOf(const DaemonStatus& status) {
  TopView view;
  view.title = fmt::format("policy {} on {}{}{}", status.policy, status.runtime,
                           status.paused ? ", PAUSED" : "", status.drained ? ", drained" : "");
  view.now = status.now;
  view.finished = status.finished;
  for (const NodeStatus& node : status.nodes) {
    view.nodes.push_back({node.name, node.gpu_type, node.gpus, node.worker_gpus, node.state});
  }
  for (const JobStatus& job : status.jobs) {
    const std::string asked = job.min_gpus == job.max_gpus
                                  ? std::to_string(job.max_gpus)
                                  : fmt::format("{}-{}", job.min_gpus, job.max_gpus);
    view.jobs.push_back({job.name, job.user, std::string(NameOf(job.stage)), job.allocated_gpus,
                         asked, NodesCell(job), job.done(), job.age});
  }
  return view;
}

std::vector<std::string> EventsBetween(const TopView& before, const TopView& now) {
  std::vector<std::string> events;
  const auto add = [&](const std::string& what, const std::string& name, const std::string& event) {
    if (!event.empty()) {
      events.push_back(fmt::format("{:>8}  {} {} {}", HumanDuration(now.now), what, name, event));
    }
  };
  std::map<std::string, const TopNode*> nodes;
  for (const TopNode& node : before.nodes) nodes[node.name] = &node;
  for (const TopNode& node : now.nodes) {
    const auto old = nodes.find(node.name);
    if (old == nodes.end()) add("node", node.name, "has come");
    if (old != nodes.end() && old->second->state != node.state) {
      const bool back = node.state == NodeState::kUp;
      add("node", node.name, back ? "is back" : fmt::format("is {}", NodeStateCell(node.state)));
    }
  }
  std::map<std::string, const TopJob*> jobs;
  for (const TopJob& job : before.jobs) jobs[job.name] = &job;
  for (const TopJob& job : now.jobs) {
    const auto old = jobs.find(job.name);
    if (old == jobs.end()) {
      add("job", job.name,
          job.gpus > 0 ? fmt::format("comes and begins on {}", Counted(job.gpus, "GPU"))
                       : fmt::format("comes and asks for {}", job.asked));
      continue;
    }
    add("job", job.name, JobEvent(*old->second, job));
    jobs.erase(old);
  }
  for (const auto& [name, job] : jobs) add("job", name, "has ended");
  return events;
}

std::string DrawTop(const TopView& view, const std::deque<std::string>& events, int rows,
                    int columns) {
  GpuCount gpus = 0;
  GpuCount used = 0;
  for (const TopNode& node : view.nodes) {
    used += node.used;
    if (node.state == NodeState::kUp) gpus += node.gpus;
  }
  const auto running = std::count_if(view.jobs.begin(), view.jobs.end(),
                                     [](const TopJob& job) { return job.gpus > 0; });
  const double share = gpus > 0 ? 1.0 * used / gpus : 0;
  std::vector<std::string> lines = {
      fmt::format("allot top  {}  {}  running {}, waiting {}, finished {}", view.title,
                  HumanDuration(view.now), running,
                  static_cast<std::int64_t>(view.jobs.size()) - running, view.finished),
      fmt::format("GPUs [{}] {} of {} in use, {}", ShareBar(share, 40), used, gpus,
                  HumanShare(share)),
      ""};
  const auto room = static_cast<std::size_t>(std::max(12, rows));
  const std::size_t shown = std::min<std::size_t>(events.size(), room / 5);
  for (std::string& line : NodeLines(view, columns, room / 4)) lines.push_back(std::move(line));
  lines.emplace_back();
  // Below the jobs: a line that counts others, an empty one, the events, the keys.
  const std::size_t taken = lines.size() + 2 + shown + 3;
  for (std::string& line : JobLines(view, room > taken ? room - taken : 1)) {
    lines.push_back(std::move(line));
  }
  lines.emplace_back();
  for (std::size_t e = events.size() - shown; e < events.size(); ++e) lines.push_back(events[e]);
  if (!view.keys.empty()) lines.push_back(view.keys);
  if (lines.size() > room) lines.resize(room);
  std::string screen;
  for (const std::string& line : lines) screen += Cut(line, columns) + "\n";
  return screen;
}

}  // namespace allot
