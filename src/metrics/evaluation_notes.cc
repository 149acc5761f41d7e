#include "metrics/evaluation_notes.h"

#include <fmt/format.h>

#include <algorithm>

#include "metrics/humanise.h"
#include "metrics/json_field.h"
#include "perf/elastic.h"

namespace allot {
namespace {

std::int64_t SumOver(const Evaluation& evaluation, std::int64_t EvaluatedWorkload::*count) {
  std::int64_t sum = 0;
  for (const EvaluatedWorkload& workload : evaluation.workloads) sum += workload.*count;
  return sum;
}

// Which lengths the policies got that use some; "" where none does.
std::string LengthsNote(const Evaluation& evaluation) {
  std::vector<std::string> policies;
  for (const EvaluatedPolicy& policy : evaluation.policies) {
    if (policy.uses_lengths) policies.push_back(policy.label);
  }
  if (policies.empty() || evaluation.length_estimates.empty()) return "";
  const bool all = policies.size() == evaluation.policies.size() && policies.size() > 1;
  std::string note =
      fmt::format("Job lengths that {} {}: {}", all ? "policies" : Enumerate(policies),
                  all || policies.size() > 1 ? "get" : "gets",
                  LengthEstimatesInWords(evaluation.length_estimates));
  const std::int64_t limited = SumOver(evaluation, &EvaluatedWorkload::limited);
  if (limited > 0 && evaluation.length_estimates.starts_with("noisy")) {
    note +=
        fmt::format("; not the time limits that {} of {} jobs have (--length-estimates user)",
                    HumanCount(limited), HumanCount(SumOver(evaluation, &EvaluatedWorkload::jobs)));
  }
  return note + ".";
}

// Of jobs that had not ended when the record was taken.
std::string NotEndedNote(const Evaluation& evaluation) {
  const std::int64_t running = SumOver(evaluation, &EvaluatedWorkload::running);
  const std::int64_t pending = SumOver(evaluation, &EvaluatedWorkload::pending);
  if (running + pending == 0) return "";
  return fmt::format(
      "{} of {} jobs had not ended when the record was taken ({} running, {} pending): their "
      "lengths are estimates, and they are in no JCT. GPU use is that of the time of the record.",
      HumanCount(running + pending), HumanCount(SumOver(evaluation, &EvaluatedWorkload::jobs)),
      HumanCount(running), HumanCount(pending));
}

// "asks for no GPU (12, 3.1 GPU-hours); ...": of a list of {reason, rows, gpu_hours}.
std::string Reasons(const Json& list) {
  std::string text;
  for (const Json& drop : list) {
    const double hours = drop.value("gpu_hours", 0.0);
    text += fmt::format("{}{} ({}{})", text.empty() ? "" : "; ", drop.value("reason", ""),
                        HumanCount(drop.value("rows", std::int64_t{0})),
                        hours > 0 ? ", " + HumanHours(hours) + " GPU-hours" : "");
  }
  return text;
}

}  // namespace

std::string LengthEstimatesInWords(std::string_view estimates) {
  if (estimates == "user") return "the users' time limits (user)";
  if (estimates == "true") return "the true lengths (true)";
  if (estimates == "none") return "none";
  return fmt::format("the true lengths with a random error ({})", estimates);
}

std::string DrawnInWords(const Evaluation& evaluation) {
  std::int64_t drawn = 0;
  std::vector<std::string> from;
  for (const EvaluatedWorkload& workload : evaluation.workloads) {
    drawn += workload.drawn.jobs;
    if (workload.drawn.jobs > 0 &&
        std::find(from.begin(), from.end(), workload.drawn.from) == from.end()) {
      from.push_back(workload.drawn.from);
    }
  }
  if (drawn == 0) return "";
  return fmt::format("drawn at random for {} of {} jobs, from {}", HumanCount(drawn),
                     HumanCount(SumOver(evaluation, &EvaluatedWorkload::jobs)), Enumerate(from));
}

std::string FixedSizesInWords(const Evaluation& evaluation) {
  return FixedSizesInWords(SumOver(evaluation, &EvaluatedWorkload::fixed_sizes),
                           SumOver(evaluation, &EvaluatedWorkload::jobs));
}

std::vector<std::string> EvaluationNotes(const Evaluation& evaluation) {
  std::vector<std::string> notes;
  const auto add = [&notes](std::string note) {
    if (!note.empty()) notes.push_back(std::move(note));
  };
  add(LengthsNote(evaluation));
  if (const std::string drawn = DrawnInWords(evaluation); !drawn.empty()) {
    add("Throughput models: " + drawn + ".");
  }
  add(FixedSizesInWords(evaluation));
  if (evaluation.as_choices) {
    add("Answers of policies were applied as choices of the environment, so that the log is one of "
        "its episodes: figures may differ from those of the policy itself.");
  }
  if (evaluation.beliefs != "exact") {
    add(fmt::format("Beliefs: {}; policies were not shown the true rates.", evaluation.beliefs));
  }
  if (evaluation.progress != "constant") {
    add(fmt::format("The true rates change while jobs run: {}.", evaluation.progress));
  }
  if (!evaluation.autoscale.empty()) {
    add(fmt::format("Nodes came and went with their use: {}.", evaluation.autoscale));
  }
  add(evaluation.node_events);
  add(NotEndedNote(evaluation));
  return notes;
}

std::vector<std::string> LeftOutNotes(const Json& read, const Json& cluster_read) {
  std::vector<std::string> notes;
  if (read.is_object()) {
    if (const Json drops = read.value("dropped", Json::array()); !drops.empty()) {
      notes.push_back("Records of the trace that are left out: " + Reasons(drops) + ".");
    }
    if (const Json clipped = read.value("clipped", Json::array()); !clipped.empty()) {
      notes.push_back("Jobs that were made smaller: " + Reasons(clipped) + ".");
    }
  }
  if (cluster_read.is_object()) {
    if (const Json drops = cluster_read.value("dropped", Json::array()); !drops.empty()) {
      notes.push_back("Entries of the node list that are left out: " + Reasons(drops) + ".");
    }
  }
  return notes;
}

}  // namespace allot
