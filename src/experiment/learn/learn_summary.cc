#include "experiment/learn/learn_summary.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/calendar.h"
#include "core/counted.h"
#include "metrics/comparison.h"
#include "metrics/evaluation_text.h"
#include "metrics/humanise.h"
#include "workload/calendar.h"

namespace allot {
namespace {

using Json = nlohmann::ordered_json;

// Differences below this are not worth a change of a cluster.
constexpr double kWorthwhile = 0.01;

Json RatioJson(const PairedRatio& ratio) {
  if (std::isnan(ratio.mean)) return nullptr;
  Json json = {{"mean", ratio.mean}};
  if (ratio.has_interval()) json["interval"] = {ratio.low, ratio.high};
  return json;
}

Json PeriodsJson(const LearningPeriods& periods) {
  return {{"from_s", periods.begin},
          {"validation_from_s", periods.validation},
          {"test_from_s", periods.test},
          {"to_s", periods.end}};
}

std::string Shorter(double ratio) {
  return ratio <= 1 ? fmt::format("{:.1f} % lower", 100 * (1 - ratio))
                    : fmt::format("{:.1f} % higher", 100 * (ratio - 1));
}

std::string PercentLower(const PairedRatio& ratio) {
  std::string text = fmt::format("{:.1f} %", 100 * (1 - ratio.mean));
  if (ratio.has_interval()) {
    text += fmt::format(" [{:.1f}, {:.1f}]", 100 * (1 - ratio.high), 100 * (1 - ratio.low));
  }
  return text;
}

// What people run: policies that are neither the index rule nor made of its sizing.
bool IsPublished(const Evaluation& evaluation, const PolicyRow& row) {
  const std::string& spec = evaluation.policies[row.policy].named_spec();
  return !row.reference && !spec.starts_with("index") && !spec.ends_with("sizing=hull");
}

// Those that the intervals do not tell apart are in the headline of the table.
std::vector<std::string> LowerThanPublished(const Evaluation& evaluation) {
  std::vector<std::string> parts;
  for (const PolicyRow& row : CompareToReference(evaluation)) {
    if (!IsPublished(evaluation, row) || row.ratio.side() != PairedRatio::Side::kBelow) continue;
    parts.push_back(fmt::format("{} than {}", PercentLower(row.ratio), row.name));
  }
  return parts;
}

// The fastest of those that know no more than a cluster does.
std::string StrongestPublished(const Evaluation& evaluation) {
  for (const PolicyRow& row : CompareToReference(evaluation)) {
    if (!row.oracle && IsPublished(evaluation, row)) return row.name;
  }
  return "";
}

std::vector<std::string> Findings(const LearnSummary& s) {
  std::vector<std::string> findings;
  const LearnedPart* network = nullptr;
  const LearnedPart* last = nullptr;
  for (const LearnedPart& part : s.parts) {
    if (part.name == "+ network") network = &part;
    if (part.kept) last = &part;
  }
  if (const std::vector<std::string> parts = LowerThanPublished(s.evaluation); !parts.empty()) {
    findings.push_back(
        fmt::format("Average JCT of the accepted policy on unseen jobs, lower by (95 % interval): "
                    "{}.",
                    Enumerate(parts)));
  }
  std::vector<std::string> parts;
  if (last != nullptr && last != &s.parts.front()) {
    parts.push_back(PercentLower(last->unseen_of_default) + " than the default rule");
  }
  if (last != nullptr && last->name.starts_with("+ ")) {
    parts.push_back(PercentLower(s.unseen_of_rule) + " than the rule without what was learned");
  }
  if (!parts.empty()) {
    findings.push_back(fmt::format("By the objective '{}' it is lower there by {}.", s.objective,
                                   Enumerate(parts)));
  }
  for (const LearnedPart& part : s.parts) {
    if (!part.kept || !part.name.starts_with("+ ")) continue;
    findings.push_back(
        fmt::format("The {} alone: {}.", part.name.substr(2), PercentLower(part.unseen_of_before)));
  }
  if (s.divided && !s.divided->divided()) {
    findings.push_back(fmt::format(
        "The trace is too small to learn from: the accepted policy is the default rule {}.",
        s.rule));
  } else if (network == nullptr || !network->kept) {
    findings.push_back(fmt::format(
        "No network was better than the rule on validation with its whole interval: the accepted "
        "policy is the rule {}.",
        s.rule));
  }
  if (s.known_lengths) {
    findings.push_back(fmt::format(
        "A rule that knew the length of every job would be lower by {}: forecasts of lengths can "
        "give no more than that.",
        PercentLower(*s.known_lengths)));
    if (s.rigid && (s.known_lengths->mean > 1 - kWorthwhile ||
                    s.known_lengths->side() != PairedRatio::Side::kBelow)) {
      findings.push_back(fmt::format(
          "The jobs keep their sizes, and knowing their lengths gives less than 1 %, or less than "
          "these jobs can tell: there is nothing to learn here, order by {}.",
          StrongestPublished(s.evaluation)));
    } else if (s.rigid && s.lengths == "none") {
      findings.push_back(
          "The jobs keep their sizes and their lengths are not known: what is left to gain is in "
          "time limits or better forecasts of lengths, or in jobs that can change their size.");
    }
  }
  if (s.learned_speeds) {
    findings.push_back(
        fmt::format("With speeds learned from what earlier jobs measured (--beliefs learned) it "
                    "would be {}.",
                    Shorter(s.learned_speeds->mean)));
  }
  if (s.interrupted) findings.push_back("The training was stopped: --resume continues it.");
  return findings;
}

}  // namespace

std::string PeriodsInWords(const Workload& trace, const LearningPeriods& p) {
  const auto count = [&](Seconds from, Seconds to) {
    return std::count_if(trace.jobs.begin(), trace.jobs.end(),
                         [&](const Job& job) { return job.submit >= from && job.submit < to; });
  };
  if (!p.divided()) {
    return fmt::format(
        "{}: {} cannot be divided in time to learn from ({} at different times are the fewest), so "
        "all of them test the default rule",
        trace.name, Counted(count(p.begin, p.end), "job"), kFewestToLearn);
  }
  return fmt::format(
      "{}: {} to learn from, then {} to choose by, then {} for the test, in the order of their "
      "submission",
      trace.name, Counted(count(p.begin, p.validation), "job"), count(p.validation, p.test),
      count(p.test, p.end));
}

std::string PartsInWords(const LearnSummary& summary) {
  std::string text;
  for (const LearnedPart& part : summary.parts) {
    if (std::isnan(part.validation.mean)) continue;
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {} of the part before{}", part.name, HumanRatio(part.validation),
                        part.kept ? "" : " (not kept)");
  }
  return text.empty() ? "nothing was learned" : text + ", on validation workloads";
}

TextTable PartsTable(const LearnSummary& summary) {
  using Align = TextTable::Align;
  TextTable table({{"part", Align::kLeft},
                   {"validation / before", Align::kRight},
                   {"unseen / before", Align::kRight},
                   {"unseen / default", Align::kRight},
                   {"kept", Align::kLeft},
                   {"policy", Align::kLeft}});
  const auto cell = [](const PairedRatio& ratio) {
    return std::isnan(ratio.mean) ? std::string("-") : HumanRatio(ratio);
  };
  for (const LearnedPart& part : summary.parts) {
    const bool first = &part == &summary.parts.front();
    table.AddRow(
        {part.name, first ? "-" : cell(part.validation), first ? "-" : cell(part.unseen_of_before),
         first ? "1" : cell(part.unseen_of_default), part.kept ? "yes" : "no", part.policy});
  }
  if (summary.known_lengths) {
    table.AddRow({"all lengths known (oracle)", "-", cell(*summary.known_lengths), "-", "-",
                  "what forecasts of lengths could give at most"});
  }
  if (summary.learned_speeds) {
    table.AddRow({"beliefs 'learned'", "-", cell(*summary.learned_speeds), "-", "-",
                  "what speeds that earlier jobs measured would give"});
  }
  return table;
}

std::string SummaryText(const LearnSummary& summary) {
  std::string text = PartsTable(summary).ToText() + "\n" + EvaluationText(summary.evaluation);
  for (const std::string& finding : Findings(summary)) text += finding + "\n";
  return text + "repeat: " + summary.repeat + "\n";
}

Json ToJson(const LearnSummary& summary) {
  Json parts = Json::array();
  for (const LearnedPart& part : summary.parts) {
    parts.push_back({{"name", part.name},
                     {"policy", part.policy},
                     {"kept", part.kept},
                     {"validation_of_before", RatioJson(part.validation)},
                     {"unseen_of_before", RatioJson(part.unseen_of_before)},
                     {"unseen_of_default", RatioJson(part.unseen_of_default)}});
  }
  return {{"objective", summary.objective},
          {"periods", summary.periods},
          {"divided", summary.divided ? PeriodsJson(*summary.divided) : Json()},
          {"rule", summary.rule},
          {"parts", parts},
          {"unseen_of_rule", RatioJson(summary.unseen_of_rule)},
          {"known_lengths_of_accepted",
           summary.known_lengths ? RatioJson(*summary.known_lengths) : Json()},
          {"learned_speeds_of_accepted",
           summary.learned_speeds ? RatioJson(*summary.learned_speeds) : Json()},
          {"rigid", summary.rigid},
          {"length_estimates", summary.lengths},
          {"findings", Findings(summary)},
          {"interrupted", summary.interrupted},
          {"repeat", summary.repeat}};
}

}  // namespace allot
