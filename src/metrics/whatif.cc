#include "metrics/whatif.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "metrics/evaluation_notes.h"
#include "metrics/html.h"
#include "metrics/humanise.h"

namespace allot {
namespace {

using Kind = WhatIfScene::Kind;

constexpr std::size_t kMostGroups = 15;

// "1h 10m (0.42 of now)": beside the present policy, or the record where there is none.
std::string Against(double value, double base) {
  if (!std::isfinite(value) || !std::isfinite(base) || base <= 0) return "-";
  return HumanFixed(value / base, 2);
}

// "easy: FIFO whose backfill ...; las: ...".
std::string PoliciesInWords(const WhatIf& what_if) {
  std::string text;
  for (const auto& [id, meaning] : what_if.policies) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", id, meaning);
  }
  return text + ".";
}

nlohmann::ordered_json ToJson(const WhatIfTarget& target) {
  nlohmann::ordered_json json = {{"wait_s", target.wait_s}, {"nodes", nullptr}};
  if (target.nodes) json["nodes"] = *target.nodes;
  json["reached_wait_s"] = target.reached_wait_s;
  json["one_less_wait_s"] = target.one_less_wait_s;
  return json;
}

}  // namespace

TextTable WhatIfTable(const WhatIf& what_if) {
  TextTable table({{"what", TextTable::Align::kLeft},
                   {"mean wait"},
                   {"median"},
                   {"p95"},
                   {"longest"},
                   {"mean completion"},
                   {"of now"},
                   {"GPU use"},
                   {"stops per job"}});
  const WhatIfScene* const present = SceneOf(what_if, Kind::kPresent);
  std::int64_t unfinished = 0;
  std::int64_t unknown = 0;
  for (const WhatIfScene& scene : what_if.scenes) {
    table.AddRow({scene.title + (scene.oracle ? " (oracle)" : ""), HumanDuration(scene.avg_wait_s),
                  HumanDuration(scene.p50_wait_s), HumanDuration(scene.p95_wait_s),
                  HumanDuration(scene.max_wait_s), HumanDuration(scene.avg_jct_s),
                  present == nullptr ? "-" : Against(scene.avg_jct_s, present->avg_jct_s),
                  HumanShare(scene.gpu_utilisation), HumanFixed(scene.preemptions_per_job, 2)},
                 scene.kind == Kind::kPresent ? '>' : ' ');
    unfinished += scene.unfinished;
    if (scene.kind == Kind::kRecorded) unknown = what_if.jobs - what_if.pending - scene.jobs;
  }
  table.AddNote("wait: time without GPUs, stops included; completion: from submission to the end;");
  table.AddNote("of now: mean completion time beside that of the present policy, simulated.");
  if (unknown > 0) {
    table.AddNote(fmt::format("The trace does not tell the wait of {} jobs.", HumanCount(unknown)));
  }
  if (unfinished > 0) {
    table.AddNote(fmt::format("{} runs of jobs did not end; figures are over those that did.",
                              HumanCount(unfinished)));
  }
  return table;
}

TextTable WhatIfGroupTable(const WhatIf& what_if, const std::vector<WhatIfGroup>& groups,
                           const std::string& what) {
  std::vector<TextTable::Column> columns = {
      {what, TextTable::Align::kLeft}, {"jobs"}, {"GPU hours"}};
  for (const WhatIfScene& scene : what_if.scenes) columns.push_back({scene.title});
  TextTable table(std::move(columns));
  for (std::size_t g = 0; g < std::min(kMostGroups, groups.size()); ++g) {
    const WhatIfGroup& group = groups[g];
    std::vector<std::string> cells = {group.name.empty() ? "(none)" : group.name,
                                      HumanCount(group.jobs), HumanHours(group.gpu_hours)};
    for (const double wait : group.avg_wait_s) cells.push_back(HumanDuration(wait));
    table.AddRow(std::move(cells));
  }
  table.AddNote("Mean wait; those of most GPU time first.");
  if (groups.size() > kMostGroups) {
    table.AddNote(fmt::format("{} more: --json has all.",
                              HumanCount(static_cast<std::int64_t>(groups.size() - kMostGroups))));
  }
  return table;
}

std::string WhatIfText(const WhatIf& what_if) {
  std::string text = WhatIfTable(what_if).ToText();
  if (!what_if.users.empty()) {
    text += "\n" + WhatIfGroupTable(what_if, what_if.users, "user").ToText();
  }
  if (!what_if.partitions.empty()) {
    text += "\n" + WhatIfGroupTable(what_if, what_if.partitions, "partition").ToText();
  }
  if (!what_if.types.empty()) {
    text += "\n" + WhatIfGroupTable(what_if, what_if.types, "GPU type").ToText();
  }
  text += "\n";
  for (const std::string& finding : WhatIfFindings(what_if)) text += finding + "\n";
  if (!what_if.policies.empty()) text += "note: " + PoliciesInWords(what_if) + "\n";
  for (const std::string& note : what_if.notes) text += "note: " + note + "\n";
  return text;
}

nlohmann::ordered_json ToJson(const WhatIf& what_if) {
  const auto groups = [](const std::vector<WhatIfGroup>& list) {
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    for (const WhatIfGroup& group : list) {
      json.push_back({{"name", group.name},
                      {"jobs", group.jobs},
                      {"gpu_hours", group.gpu_hours},
                      {"avg_wait_s", group.avg_wait_s},
                      {"avg_jct_s", group.avg_jct_s}});
    }
    return json;
  };
  nlohmann::ordered_json lacking = nlohmann::ordered_json::array();
  std::int64_t without_type = 0;
  for (const LackingType& type : what_if.lacking_types) {
    lacking.push_back({{"name", type.name}, {"jobs", type.jobs}, {"gpu_hours", type.gpu_hours}});
    without_type += type.jobs;
  }
  nlohmann::ordered_json scenes = nlohmann::ordered_json::array();
  for (const WhatIfScene& scene : what_if.scenes) {
    scenes.push_back({{"kind", kWhatIfKinds[static_cast<std::size_t>(scene.kind)]},
                      {"title", scene.title},
                      {"policy", scene.policy},
                      {"cluster", scene.cluster},
                      {"oracle", scene.oracle},
                      {"jobs", scene.jobs},
                      {"unfinished", scene.unfinished},
                      {"avg_wait_s", scene.avg_wait_s},
                      {"p50_wait_s", scene.p50_wait_s},
                      {"p95_wait_s", scene.p95_wait_s},
                      {"max_wait_s", scene.max_wait_s},
                      {"avg_jct_s", scene.avg_jct_s},
                      {"gpu_utilisation", scene.gpu_utilisation},
                      {"preemptions_per_job", scene.preemptions_per_job}});
    if (scene.node_stops_per_job > 0) {
      scenes.back()["node_stops_per_job"] = scene.node_stops_per_job;
    }
    if (scene.more_jobs > 0) scenes.back()["more_jobs"] = scene.more_jobs;
  }
  nlohmann::ordered_json demands = nlohmann::ordered_json::array();
  for (const TypeLoad& load : what_if.loads) {
    demands.push_back({{"type", load.type}, {"gpus", load.gpus}, {"demand", load.demand}});
  }
  nlohmann::ordered_json json = {
      {"workload", what_if.workload},
      {"origin", what_if.origin},
      {"jobs", what_if.jobs},
      {"running", what_if.running},
      {"pending", what_if.pending},
      {"gpu_hours", what_if.gpu_hours},
      {"most_gpus_at_once", what_if.most_gpus_at_once},
      {"jobs_without_type", without_type},
      {"lacking_types", lacking},
      {"jobs_without_room", what_if.without_room.rows},
      {"jobs_without_hosts", what_if.without_hosts.rows},
      {"span_s", what_if.span},
      {"cluster", what_if.cluster},
      {"gpus", what_if.gpus},
      {"load", what_if.load},
      {"demand_by_type", demands},
      {"target", what_if.target ? ToJson(*what_if.target) : nlohmann::ordered_json()},
      {"length_estimates", what_if.length_estimates},
      {"scenes", scenes},
      {"users", groups(what_if.users)},
      {"partitions", groups(what_if.partitions)},
      {"gpu_types", groups(what_if.types)},
      {"read", what_if.read},
      {"findings", WhatIfFindings(what_if)},
      {"notes", what_if.notes},
      {"command", what_if.command}};
  if (!what_if.cluster_read.is_null()) json["cluster_read"] = what_if.cluster_read;
  if (!what_if.node_events.empty()) json["node_events"] = what_if.node_events;
  return json;
}

std::string WhatIfHeadline(const WhatIf& what_if) {
  std::string html;
  for (const std::string& finding : WhatIfFindings(what_if)) {
    html += fmt::format("<p class=\"{}\">{}</p>\n", html.empty() ? "finding" : "verdict",
                        EscapeHtml(finding));
  }
  return html;
}

std::string WhatIfSections(const WhatIf& what_if) {
  std::string html =
      "<section aria-labelledby=\"what-if\">\n<h2 id=\"what-if\">What would change</h2>\n"
      "<dl class=\"facts\">\n";
  html += HtmlFact("Cluster", fmt::format("{} ({} GPUs)", what_if.cluster_in_words, what_if.gpus));
  html += HtmlFact("Jobs", HumanCount(what_if.jobs));
  if (what_if.most_gpus_at_once > 0) {
    html += HtmlFact("Most GPUs in use at once, by the record",
                     std::to_string(what_if.most_gpus_at_once));
  }
  if (!what_if.origin.empty()) html += HtmlFact("First submitted", what_if.origin);
  html += HtmlFact("Submitted within", HumanDuration(what_if.span));
  html += HtmlFact("Offered load", HumanFixed(what_if.load, 2));
  if (!what_if.loads.empty()) html += HtmlFact("Demand by type", LoadsInWords(what_if.loads));
  html +=
      HtmlFact("Run times that policies went by", LengthEstimatesInWords(what_if.length_estimates));
  html += "</dl>\n" + WhatIfTable(what_if).ToHtml();
  if (!what_if.policies.empty()) {
    html += "<p class=\"note\">" + EscapeHtml(PoliciesInWords(what_if)) + "</p>\n";
  }
  for (const std::string& note : what_if.notes) {
    html += "<p class=\"note\">" + EscapeHtml(note) + "</p>\n";
  }
  html += "</section>\n";
  const auto groups = [&](const std::vector<WhatIfGroup>& list, const char* what,
                          const char* title) {
    if (list.empty()) return;
    html += fmt::format(
        "<section aria-labelledby=\"what-if-{0}\">\n<h2 id=\"what-if-{0}\">{1}</h2>\n{2}"
        "</section>\n",
        what, title, WhatIfGroupTable(what_if, list, what).ToHtml());
  };
  groups(what_if.users, "user", "How long each user waits");
  groups(what_if.partitions, "partition", "How long jobs of each partition wait");
  groups(what_if.types, "type", "How long jobs of each GPU type wait");
  return html;
}

}  // namespace allot
