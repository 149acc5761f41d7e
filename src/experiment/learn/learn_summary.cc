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

std::string Shorter(double ratio) {
  return ratio <= 1 ? fmt::format("{:.1f} % lower", 100 * (1 - ratio))
                    : fmt::format("{:.1f} % higher", 100 * (ratio - 1));
}

// The fastest of those that know no more than a cluster does.
std::string StrongestKnown(const Evaluation& evaluation) {
  for (const PolicyRow& row : CompareToReference(evaluation)) {
    if (!row.oracle && !row.reference) return row.name;
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
  if (last != nullptr) {
    findings.push_back(
        fmt::format("On unseen jobs the accepted policy has a {} {} than the default rule.",
                    Shorter(last->unseen_of_default.mean), s.objective));
  }
  if (network != nullptr && network->kept) {
    findings.push_back(fmt::format("The network alone: {} than its rule.",
                                   Shorter(network->unseen_of_before.mean)));
  } else {
    findings.push_back(fmt::format(
        "No network was better than the rule on validation with its whole interval: the accepted "
        "policy is the rule {}.",
        s.rule));
  }
  if (s.known_lengths) {
    findings.push_back(fmt::format(
        "A rule that knew the length of every job would be {}: forecasts of lengths can give no "
        "more than that.",
        Shorter(s.known_lengths->mean)));
    if (s.rigid && s.known_lengths->mean > 1 - kWorthwhile) {
      findings.push_back(fmt::format(
          "The jobs keep their sizes and knowing their lengths gives less than 1 %: there is "
          "nothing to learn here, order by {}.",
          StrongestKnown(s.evaluation)));
    } else if (s.rigid && s.lengths == "none") {
      findings.push_back(
          "The jobs keep their sizes and their lengths are not known: what is left to gain is in "
          "time limits or better forecasts of lengths, or in jobs that can change their size.");
    }
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
  return text + ", on validation workloads";
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
  Json networks = Json::array();
  for (const LearnedNetwork& network : summary.networks) {
    networks.push_back({{"method", network.method},
                        {"iterations", network.iterations},
                        {"checkpoint", network.checkpoint},
                        {"validation_of_rule", RatioJson(network.validation)}});
  }
  return {{"objective", summary.objective},
          {"periods", summary.periods},
          {"rule", summary.rule},
          {"parts", parts},
          {"networks", networks},
          {"known_lengths_of_accepted",
           summary.known_lengths ? RatioJson(*summary.known_lengths) : Json()},
          {"rigid", summary.rigid},
          {"length_estimates", summary.lengths},
          {"findings", Findings(summary)},
          {"interrupted", summary.interrupted},
          {"repeat", summary.repeat}};
}

}  // namespace allot
