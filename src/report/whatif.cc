#include "report/whatif.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/counted.h"
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

using Kind = WhatIfScene::Kind;

// The alternative of this kind with the smallest mean completion time.
const WhatIfScene* BestOf(const WhatIf& what_if, Kind kind) {
  const WhatIfScene* best = nullptr;
  for (const WhatIfScene& scene : what_if.scenes) {
    if (scene.kind != kind || scene.oracle || !std::isfinite(scene.avg_jct_s)) continue;
    if (best == nullptr || scene.avg_jct_s < best->avg_jct_s) best = &scene;
  }
  return best;
}

bool Alike(double a, double b) { return HumanDuration(a) == HumanDuration(b); }

bool ChangesNothing(const WhatIfScene& scene, const WhatIfScene& present) {
  return Alike(scene.avg_wait_s, present.avg_wait_s) && Alike(scene.avg_jct_s, present.avg_jct_s);
}

// "a mean wait of 2h 05m instead of 3h 10m", "the same mean wait (3h 10m)".
std::string Beside(const char* figure, double value, double present) {
  return Alike(value, present) ? fmt::format("the same {} ({})", figure, HumanDuration(value))
                               : fmt::format("a {} of {} instead of {}", figure,
                                             HumanDuration(value), HumanDuration(present));
}

std::string Change(const WhatIfScene& scene, const WhatIfScene& present) {
  std::string text =
      fmt::format("{}, {}, and {}", Beside("mean wait", scene.avg_wait_s, present.avg_wait_s),
                  Beside("longest wait", scene.max_wait_s, present.max_wait_s),
                  Beside("mean completion time", scene.avg_jct_s, present.avg_jct_s));
  // Jobs that a failing node stops are no fault of the policy.
  if (const double own = scene.preemptions_per_job - scene.node_stops_per_job; own > 0.005) {
    text += fmt::format(" (it stops jobs {} times per job on average, which then need checkpoints)",
                        HumanFixed(own, 2));
  }
  return text;
}

// " (without those that know true lengths: sjf, srtf)"; "" where none of this kind does.
std::string WithoutOracles(const WhatIf& what_if, Kind kind) {
  std::string names;
  for (const WhatIfScene& scene : what_if.scenes) {
    if (scene.kind != kind || !scene.oracle) continue;
    names += (names.empty() ? "" : ", ") + scene.name;
  }
  return names.empty() ? "" : fmt::format(" (without those that know true lengths: {})", names);
}

// What the simulation lacks of the record, as far as it is known; "" for nothing of weight.
std::string KnownCauses(const WhatIf& what_if) {
  constexpr double kOfWeight = 0.01;  // of all GPU time
  double lost = 0;
  for (const DropCount& drop : what_if.left_out) lost += drop.gpu_hours;
  const double all = lost + what_if.gpu_hours;
  if (!(lost > kOfWeight * all)) return "";
  return fmt::format(
      "First of all, {} of {} GPU-hours of the file are left out, most of them as \"{}\". ",
      HumanHours(lost), HumanHours(all), what_if.left_out.front().reason);
}

// What is said of jobs that do not fit the cluster, and whether they are so many that nothing else
// comes before it.
struct UnfitFinding {
  std::string sentence;
  bool many = false;
};

std::optional<UnfitFinding> UnfitJobs(const WhatIf& what_if) {
  constexpr double kMany = 0.05;  // of the jobs, or of the GPU time
  std::int64_t without_type = 0;
  double hours = what_if.without_room.gpu_hours + what_if.without_hosts.gpu_hours;
  for (const LackingType& type : what_if.lacking_types) {
    without_type += type.jobs;
    hours += type.gpu_hours;
  }
  const std::int64_t unfit = without_type + what_if.without_room.rows + what_if.without_hosts.rows;
  if (unfit == 0) return std::nullopt;
  UnfitFinding finding;
  finding.sentence =
      fmt::format("{} of {} jobs of the trace, with {} of {} GPU-hours, are not in these figures",
                  HumanCount(unfit), HumanCount(unfit + what_if.jobs), HumanHours(hours),
                  HumanHours(hours + what_if.gpu_hours));
  if (without_type > 0) {
    finding.sentence += fmt::format(
        ": this cluster lacks the GPU type that they ask for, {} (--type-map THEIRS=OURS gives "
        "types the names of the cluster's)",
        LackingTypesInWords(what_if.lacking_types));
  }
  const auto add = [&](const DropCount& jobs, const char* reason) {
    if (jobs.rows == 0) return;
    finding.sentence += fmt::format("{} {} {} {}", without_type > 0 ? ", and" : ":",
                                    HumanCount(jobs.rows), jobs.rows == 1 ? "asks" : "ask", reason);
    if (!jobs.example.empty()) finding.sentence += fmt::format(" (first: {})", jobs.example);
    without_type = 1;
  };
  add(what_if.without_room, "for more GPUs or GPU memory than this cluster has");
  add(what_if.without_hosts, "for more host memory or CPUs than the nodes of this cluster have");
  finding.sentence += '.';
  finding.many = static_cast<double>(unfit) > kMany * static_cast<double>(unfit + what_if.jobs) ||
                 hours > kMany * (hours + what_if.gpu_hours);
  return finding;
}

// "" where no type is asked for more than it has.
std::string OverloadedType(const WhatIf& what_if) {
  const TypeLoad* const most = MostLoaded(what_if.loads);
  if (most == nullptr || most->demand <= 1) return "";
  return fmt::format(
      "Jobs ask for {} times the GPU time that the {} GPUs of type {} have while jobs are "
      "submitted, "
      "so that their queue grows (by type: {}).",
      HumanFixed(most->demand, 2), most->gpus, most->type, LoadsInWords(what_if.loads));
}

std::string TargetInWords(const WhatIf& what_if) {
  const WhatIfTarget& target = *what_if.target;
  const std::string wanted = fmt::format("A mean wait of at most {}", HumanDuration(target.wait_s));
  if (!target.nodes) {
    return fmt::format("{} is not reached with {} more nodes ({}): it is then {}.", wanted,
                       HumanCount(target.most_tried), what_if.added_nodes,
                       HumanDuration(target.reached_wait_s));
  }
  if (*target.nodes == 0) {
    return fmt::format("{} needs no more nodes: it is {}.", wanted,
                       HumanDuration(target.reached_wait_s));
  }
  return fmt::format(
      "{} needs {} more node{} ({}): under the present policy it is then {}, with one "
      "node less {}.",
      wanted, HumanCount(*target.nodes), *target.nodes == 1 ? "" : "s", what_if.added_nodes,
      HumanDuration(target.reached_wait_s), HumanDuration(target.one_less_wait_s));
}

std::string Percent(double ratio) { return HumanShare(std::abs(1 - ratio)); }

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
  const auto is_shown = [&](std::size_t s) {
    return what_if.scenes[s].kind != Kind::kElasticShare;
  };
  for (std::size_t s = 0; s < what_if.scenes.size(); ++s) {
    if (is_shown(s)) columns.push_back({what_if.scenes[s].title});
  }
  TextTable table(std::move(columns));
  for (std::size_t g = 0; g < std::min(kMostGroups, groups.size()); ++g) {
    const WhatIfGroup& group = groups[g];
    std::vector<std::string> cells = {group.name.empty() ? "(none)" : group.name,
                                      HumanCount(group.jobs), HumanHours(group.gpu_hours)};
    for (std::size_t s = 0; s < group.avg_wait_s.size(); ++s) {
      if (is_shown(s)) cells.push_back(HumanDuration(group.avg_wait_s[s]));
    }
    table.AddRow(std::move(cells));
  }
  table.AddNote("Mean wait; those of most GPU time first.");
  if (groups.size() > kMostGroups) {
    table.AddNote(fmt::format("{} more: --json has all.",
                              HumanCount(static_cast<std::int64_t>(groups.size() - kMostGroups))));
  }
  return table;
}

TextTable ElasticFirstTable(const WhatIf& what_if) {
  TextTable table({{"elastic first", TextTable::Align::kLeft},
                   {"jobs"},
                   {"of the GPU time"},
                   {"mean completion, of all jobs"}});
  for (const ElasticUser& user : what_if.elastic_first) {
    const std::string saved = HumanDuration(std::abs(user.saved_s));
    table.AddRow({user.name, HumanCount(user.jobs), HumanShare(user.gpu_share),
                  saved + (user.saved_s < 0 ? " later" : " earlier")});
  }
  table.AddNote("If the jobs of this user become elastic beside those above, under index.");
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
  if (!what_if.elastic_first.empty()) text += "\n" + ElasticFirstTable(what_if).ToText();
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
    if (std::isfinite(scene.wait_error_s)) {
      scenes.back()["wait_rank_correlation"] = scene.wait_rank_correlation;
      scenes.back()["wait_error_s"] = scene.wait_error_s;
    }
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
  for (const ElasticUser& user : what_if.elastic_first) {
    json["elastic_first"].push_back({{"user", user.name},
                                     {"jobs", user.jobs},
                                     {"gpu_share", user.gpu_share},
                                     {"saved_s", user.saved_s}});
  }
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
  if (!what_if.elastic_first.empty()) {
    html += fmt::format(
        "<section aria-labelledby=\"what-if-elastic\">\n<h2 id=\"what-if-elastic\">Whose jobs to "
        "make elastic first</h2>\n{}</section>\n",
        ElasticFirstTable(what_if).ToHtml());
  }
  return html;
}

const WhatIfScene* SceneOf(const WhatIf& what_if, Kind kind) {
  const auto found = std::find_if(what_if.scenes.begin(), what_if.scenes.end(),
                                  [kind](const WhatIfScene& scene) { return scene.kind == kind; });
  return found == what_if.scenes.end() ? nullptr : &*found;
}

std::vector<std::string> WhatIfFindings(const WhatIf& what_if) {
  std::vector<std::string> findings;
  const WhatIfScene* const recorded = SceneOf(what_if, Kind::kRecorded);
  const WhatIfScene* const present = SceneOf(what_if, Kind::kPresent);
  const bool none_ended = what_if.jobs == what_if.running + what_if.pending;
  if (none_ended) {
    findings.emplace_back(
        "No job of the record has ended: no run time is known, so that no comparison with the "
        "record is possible, and completion times have no mean. How long jobs take is guessed from "
        "how long they have run and from their time limits. 'allot forecast' predicts when the "
        "pending jobs start.");
  } else if (recorded != nullptr) {
    const std::string half =
        recorded->p50_wait_s > 0
            ? fmt::format("half of them {} or less", HumanDuration(recorded->p50_wait_s))
            : std::string("half of them not at all");
    findings.push_back(fmt::format("Jobs waited {} on average, {}, one in twenty {} or more.",
                                   HumanDuration(recorded->avg_wait_s), half,
                                   HumanDuration(recorded->p95_wait_s)));
  }
  if (const auto unfit = UnfitJobs(what_if)) {
    findings.insert(unfit->many ? findings.begin() : findings.end(), unfit->sentence);
  }
  if (what_if.most_gpus_at_once > what_if.gpus) {
    findings.push_back(fmt::format("The record held {} GPUs at once, this cluster has {}.",
                                   what_if.most_gpus_at_once, what_if.gpus));
  }
  if (!what_if.node_events.empty()) findings.push_back(what_if.node_events);
  if (none_ended) {
    if (std::string overloaded = OverloadedType(what_if); !overloaded.empty()) {
      findings.push_back(std::move(overloaded));
    }
    return findings;
  }
  if (present == nullptr) return findings;
  if (recorded != nullptr) {
    const double ratio = present->avg_wait_s / recorded->avg_wait_s;
    std::string text =
        fmt::format("The present policy, simulated ({}), lets them wait {} on average",
                    present->name, HumanDuration(present->avg_wait_s));
    const double apart = std::abs(present->avg_wait_s - recorded->avg_wait_s);
    if (Alike(present->avg_wait_s, recorded->avg_wait_s) || apart <= 0.01 * recorded->avg_jct_s) {
      text += ", as in the record to a hundredth of the mean completion time.";
    } else if (ratio >= 0.75 && ratio <= 1.25) {
      text += fmt::format(", within {} of the record.", Percent(ratio));
    } else if (ratio >= 0.5 && ratio <= 2) {
      text += fmt::format(", {} times what the trace records.", HumanFixed(ratio, 2));
    } else if (ratio < 1) {
      text += fmt::format(
          ". That is far from the record. {}The trace does not tell all that the scheduler goes by "
          "(partitions, limits of users, reservations, priorities, nodes that were down, jobs that "
          "need CPUs only). Take the other rows as directions, not as minutes.",
          KnownCauses(what_if));
    } else {
      text +=
          ". That is far from the record: the jobs had more room in truth (nodes that this cluster "
          "does not have, GPUs that were shared, other types), or the scheduler chose better. Take "
          "the other rows as directions, not as minutes.";
    }
    if (std::isfinite(present->wait_rank_correlation)) {
      text += fmt::format(
          " Job by job, half of these waits are within {} of the recorded ones, and their order "
          "has "
          "a rank correlation of {} with theirs.",
          HumanDuration(present->wait_error_s), HumanFixed(present->wait_rank_correlation, 2));
    }
    findings.push_back(std::move(text));
  } else {
    findings.push_back(fmt::format(
        "The present policy, simulated ({}), lets jobs wait {} on "
        "average, one in twenty {} or more.",
        present->name, HumanDuration(present->avg_wait_s), HumanDuration(present->p95_wait_s)));
  }
  if (std::string overloaded = OverloadedType(what_if); !overloaded.empty()) {
    findings.push_back(std::move(overloaded));
  }
  if (what_if.target) findings.push_back(TargetInWords(what_if));
  if (const WhatIfScene* const best = BestOf(what_if, Kind::kPolicy)) {
    const std::string without = WithoutOracles(what_if, Kind::kPolicy);
    findings.push_back(
        best->avg_jct_s < present->avg_jct_s
            ? fmt::format("Of the other policies{} {} makes jobs end earliest: {}.", without,
                          best->title, Change(*best, *present))
            : fmt::format("None of the other policies{} makes jobs end earlier on average.",
                          without));
  }
  for (const Kind kind : {Kind::kNodes, Kind::kElastic}) {
    const auto first = SceneOf(what_if, kind);
    if (first == nullptr) continue;
    const WhatIfScene* const best = kind == Kind::kNodes ? first : BestOf(what_if, kind);
    if (best == nullptr) continue;
    std::string changed = best->title.substr(best->name.size() + 2);  // "easy, ..."
    if (kind == Kind::kNodes) changed += fmt::format(" ({})", what_if.added_nodes);
    const std::string policy = kind == Kind::kNodes ? "The present policy" : best->name;
    std::string finding =
        ChangesNothing(*best, *present)
            ? fmt::format("{} with {} changes nothing for these jobs.", policy, changed)
            : fmt::format("{} with {} gives {}.", policy, changed, Change(*best, *present));
    if (best->more_jobs > 0) {
      finding += fmt::format(
          " {} that the present cluster has no room for then {}: {} in the queue there, but in "
          "none "
          "of these means.",
          Counted(best->more_jobs, "job"), best->more_jobs == 1 ? "fits" : "fit",
          best->more_jobs == 1 ? "it is" : "they are");
    }
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace allot
