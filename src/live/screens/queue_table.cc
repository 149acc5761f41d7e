#include "live/screens/queue_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "core/counted.h"
#include "core/strings.h"
#include "core/types.h"
#include "live/screens/status_cells.h"
#include "metrics/humanise.h"
#include "metrics/table.h"

namespace allot {
namespace {

constexpr std::size_t kLongestWhy = 60;  // letters in the table

using Json = nlohmann::ordered_json;

struct FreeNode {
  std::string type;
  GpuCount free = 0;
};

// GPUs that a decision may give: whoever was given some may not hold them yet.
std::vector<FreeNode> FreeNodes(const Json& status) {
  std::map<std::string, GpuCount> given;
  for (const Json& job : status.at("jobs")) {
    for (const auto& [node, gpus] : job.at("nodes").items()) given[node] += gpus.get<GpuCount>();
  }
  std::vector<FreeNode> nodes;
  for (const Json& node : status.at("nodes")) {
    const auto name = node.at("node").get<std::string>();
    const bool away = !node.at("up").get<bool>() || node.at("drained").get<bool>() ||
                      node.value("maintenance", false);
    const GpuCount used = std::max(node.at("held").get<GpuCount>(), given[name]);
    const GpuCount free = node.at("gpus").get<GpuCount>() - node.at("taken").get<GpuCount>() - used;
    nodes.push_back({node.at("type").get<std::string>(), away ? 0 : std::max(0, free)});
  }
  return nodes;
}

// Of one type, as a job runs on one at a time.
GpuCount FreeFor(const Json& job, const std::vector<FreeNode>& nodes) {
  const auto types = job.at("types").get<std::string>();
  const std::vector<std::string_view> accepted = Split(types, '|');
  std::map<std::string, GpuCount> of_type;
  for (const FreeNode& node : nodes) {
    const bool suits =
        types.empty() || std::find(accepted.begin(), accepted.end(), node.type) != accepted.end();
    if (suits) of_type[node.type] += node.free;
  }
  GpuCount most = 0;
  for (const auto& [type, free] : of_type) most = std::max(most, free);
  return most;
}

std::string GpusText(GpuCount gpus) { return Counted(gpus, "GPU"); }

// The daemon's word, else what the status tells.
std::string WhyText(const Json& job, const Json& status, const std::vector<FreeNode>& nodes) {
  auto reason = job.at("reason").get<std::string>();
  if (!reason.empty() || job.at("stage") != "waiting") return reason;
  if (status.at("paused").get<bool>()) return "allot is paused";
  if (status.at("drained").get<bool>()) return "drained: no job begins";
  const auto least = job.at("min").get<GpuCount>();
  const GpuCount free = FreeFor(job, nodes);
  if (free < least) return fmt::format("needs {}, {} free", GpusText(least), free);
  const std::string limits = job.value("limits", "");
  return limits.empty() ? fmt::format("{} free, none given by the policy", GpusText(free))
                        : fmt::format("{} free, not all for {}", GpusText(free), limits);
}

// "2 (1-4)": asked for, and what may be given.
std::string AskedCell(const Json& job) {
  const auto least = job.at("min").get<GpuCount>();
  const auto most = job.at("max").get<GpuCount>();
  const auto asked = job.value("asked", least);  // daemons of before do not say it
  return least == most ? std::to_string(most) : fmt::format("{} ({}-{})", asked, least, most);
}

std::string StartCell(const Json& job, Seconds now) {
  return job.contains("eta") ? EtaCell(job.at("eta"), "start", "0.5", now) : "";
}

// Its name, where that is not what it is called by anyway.
std::string TitleCell(const Json& job) {
  const std::string title = job.value("title", "");
  return NameCell(job).ends_with(title) ? "" : title;
}

std::string HeadText(const Json& status, std::size_t waiting, const std::vector<FreeNode>& nodes) {
  GpuCount free = 0;
  GpuCount gpus = 0;
  for (const FreeNode& node : nodes) free += node.free;
  for (const Json& node : status.at("nodes")) gpus += node.at("gpus").get<GpuCount>();
  std::string text = fmt::format("{} of {} {}, {} of {} free, policy {}{}{}\n", waiting,
                                 Counted(std::ssize(status.at("jobs")), "job"),
                                 waiting == 1 || status.at("jobs").size() == 1 ? "waits" : "wait",
                                 free, Counted(gpus, "GPU"), status.at("policy").get<std::string>(),
                                 status.at("paused").get<bool>() ? ", PAUSED" : "",
                                 status.at("drained").get<bool>() ? ", drained" : "");
  if (const std::string trouble = status.value("trouble", ""); !trouble.empty()) {
    text += fmt::format("nothing is changed until the cluster can be asked again: {}\n", trouble);
  }
  return text;
}

}  // namespace

nlohmann::ordered_json WaitingJobs(const nlohmann::ordered_json& status) {
  Json waiting = Json::array();
  for (const Json& job : status.at("jobs")) {
    if (job.at("gpus") == 0) waiting.push_back(job);
  }
  return waiting;
}

std::string QueueText(const nlohmann::ordered_json& status) {
  const Json waiting = WaitingJobs(status);
  const std::vector<FreeNode> nodes = FreeNodes(status);
  std::string head = HeadText(status, waiting.size(), nodes);
  if (waiting.empty()) return head;
  const auto now = status.at("now").get<Seconds>();
  using Align = TextTable::Align;
  TextTable table({{"job", Align::kLeft},
                   {"user", Align::kLeft},
                   {"name", Align::kLeft},
                   {"stage", Align::kLeft},
                   {"GPUs", Align::kLeft},
                   {"type", Align::kLeft},
                   {"age"},
                   {"waits"},
                   {"starts in"},
                   {"why", Align::kLeft}});
  std::string below;
  for (const Json& job : waiting) {
    const std::string why = WhyText(job, status, nodes);
    const bool fits = DisplayWidth(Printable(why)) <= kLongestWhy;
    const Json waits = job.value("waits", job.at("age"));
    table.AddRow({NameCell(job), job.at("user").get<std::string>(), TitleCell(job),
                  job.at("stage").get<std::string>(), AskedCell(job),
                  job.at("types").get<std::string>(), HumanDuration(job.at("age").get<Seconds>()),
                  waits.is_null() ? "" : HumanDuration(waits.get<Seconds>()), StartCell(job, now),
                  fits ? why : "see below"});
    if (!fits) below += Printable(fmt::format("{}: {}", NameCell(job), why)) + "\n";
  }
  return head + table.ToText() + below;
}

}  // namespace allot
