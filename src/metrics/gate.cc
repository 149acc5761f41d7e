#include "metrics/gate.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "metrics/comparison.h"
#include "metrics/json_field.h"
#include "metrics/table.h"

namespace allot {
namespace {

std::vector<double> Figures(const EvaluatedPolicy& policy, double RunSummary::*figure) {
  std::vector<double> figures;
  for (const RunSummary& run : policy.runs) {
    // A policy with unfinished jobs has no mean JCT to compare.
    figures.push_back(run.unfinished > 0 ? kUnknown : run.*figure);
  }
  return figures;
}

double MeanLog(const EvaluatedPolicy& policy) {
  double sum = 0;
  for (const double jct : Figures(policy, &RunSummary::avg_jct_s)) sum += std::log(jct);
  return sum / static_cast<double>(policy.runs.size());
}

std::string Text(const PairedRatio& ratio) {
  if (!ratio.has_interval()) return "not known";
  return fmt::format("{:.4f} ({:.4f} to {:.4f})", ratio.mean, ratio.low, ratio.high);
}

std::string ReasonOf(const GateVerdict& verdict) {
  std::string reason;
  for (const GateRival& rival : verdict.rivals) {
    if (!rival.incumbent && rival.id != verdict.best_heuristic) continue;
    reason += fmt::format(
        "{}{} {} {}: {}", reason.empty() ? "" : "; ", rival.beaten ? "beats" : "does not beat",
        rival.incumbent ? "the incumbent" : "the best heuristic", rival.id, Text(rival.jct));
  }
  return fmt::format("{}, to be below {}", reason, verdict.bar);
}

Json RatioJson(const PairedRatio& ratio) {
  if (!ratio.has_interval()) return {};
  return {{"mean", ratio.mean}, {"low", ratio.low}, {"high", ratio.high}};
}

}  // namespace

GateVerdict Judge(const Evaluation& evaluation, const std::string& candidate,
                  const std::string& incumbent, double bar) {
  if (evaluation.workloads.size() < 2) {
    throw UsageError("the gate needs at least 2 held-out workloads, got {}",
                     evaluation.workloads.size());
  }
  const auto own = std::find_if(evaluation.policies.begin(), evaluation.policies.end(),
                                [&](const EvaluatedPolicy& p) { return p.id == candidate; });
  GateVerdict verdict;
  verdict.bar = bar;
  const std::vector<std::int32_t> windows = WindowsOf(evaluation.workloads);
  double best = kNever;
  for (const EvaluatedPolicy& policy : evaluation.policies) {
    if (policy.id == candidate) continue;
    GateRival rival;
    rival.id = policy.id;
    rival.incumbent = policy.id == incumbent;
    rival.jct = ComparePaired(Figures(*own, &RunSummary::avg_jct_s),
                              Figures(policy, &RunSummary::avg_jct_s), windows);
    rival.p99 = ComparePaired(Figures(*own, &RunSummary::p99_jct_s),
                              Figures(policy, &RunSummary::p99_jct_s), windows);
    rival.beaten = rival.jct.below(bar);
    const double mean_log = MeanLog(policy);
    const bool told_more = policy.oracle && !own->oracle;
    if (!rival.incumbent && !told_more && mean_log < best) {
      best = mean_log;
      verdict.best_heuristic = policy.id;
    }
    verdict.rivals.push_back(std::move(rival));
  }
  if (verdict.best_heuristic.empty()) {
    throw UsageError(
        "the gate needs a heuristic that finishes all jobs and knows no more than the candidate");
  }
  verdict.accepted =
      std::all_of(verdict.rivals.begin(), verdict.rivals.end(), [&](const GateRival& rival) {
        return rival.beaten || (!rival.incumbent && rival.id != verdict.best_heuristic);
      });
  verdict.reason = ReasonOf(verdict);
  return verdict;
}

Json ToJson(const GateVerdict& verdict) {
  Json rivals = Json::array();
  for (const GateRival& rival : verdict.rivals) {
    rivals.push_back({{"policy", rival.id},
                      {"incumbent", rival.incumbent},
                      {"jct_ratio", RatioJson(rival.jct)},
                      {"p99_jct_ratio", RatioJson(rival.p99)},
                      {"beaten", rival.beaten}});
  }
  return {{"accepted", verdict.accepted},
          {"reason", verdict.reason},
          {"bar", verdict.bar},
          {"best_heuristic", verdict.best_heuristic},
          {"rivals", std::move(rivals)}};
}

std::string GateReport(const GateVerdict& verdict, const Evaluation& evaluation,
                       const std::string& name) {
  TextTable table({{"against", TextTable::Align::kLeft},
                   {"mean JCT, ratio (95 %)"},
                   {"p99 JCT, ratio (95 %)"},
                   {"must be beaten"},
                   {"beaten"}});
  for (const GateRival& rival : verdict.rivals) {
    const bool must = rival.incumbent || rival.id == verdict.best_heuristic;
    table.AddRow({rival.id, Text(rival.jct), Text(rival.p99), must ? "yes" : "",
                  rival.beaten ? "yes" : "no"});
  }
  return fmt::format(
      "# Gate: {} is {}\n\nThe candidate {}.\n\n{}\nRatios of the candidate to the other on the "
      "same workload, geometric means over {}; intervals: {}.\n\n- cluster: {}\n- length "
      "estimates: {}\n- restart cost: {} s, interval: {} s\n- measured by: `{}`\n",
      name, verdict.accepted ? "accepted" : "rejected", verdict.reason, table.ToMarkdown(),
      WorkloadsInWords(evaluation), IntervalInWords(WindowsOf(evaluation.workloads)),
      evaluation.cluster, evaluation.length_estimates, evaluation.restart_cost_s,
      evaluation.interval_s, evaluation.command);
}

}  // namespace allot
