#pragma once
// What 'allot learn' found: the table of parts, the sentences below it, and both as JSON.

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "experiment/learn/learning_periods.h"
#include "metrics/evaluation.h"
#include "metrics/paired.h"
#include "metrics/table.h"

namespace allot {

// Ratios are of the objective; below 1 the part is better.
struct LearnedPart {
  std::string name;                 // "tuned"
  std::string policy;               // spec of the rule, or how the network was trained
  PairedRatio validation{};         // to the best part before; unknown for the first
  bool kept = false;                // it is part of the accepted policy
  PairedRatio unseen_of_default{};  // to the default rule, on test workloads
  PairedRatio unseen_of_before{};   // to the best part before, on test workloads
};

struct LearnSummary {
  std::string objective;
  std::string periods;                       // a sentence: how the jobs were divided
  std::optional<LearningPeriods> divided{};  // none where workloads are made by seeds
  std::string rule;  // the best rule, to which the network adds if one was kept
  std::vector<LearnedPart> parts;
  // Of the accepted policy to the best rule before lengths and network, on test workloads.
  PairedRatio unseen_of_rule{};
  // To the accepted policy, on test workloads; none where there is nothing more to know.
  std::optional<PairedRatio> known_lengths{};   // a tuned rule that knows all lengths
  std::optional<PairedRatio> learned_speeds{};  // it, in this world with beliefs 'learned'
  bool rigid = false;                           // no job can change its size
  std::string lengths;                          // what policies know of lengths: "none"
  bool interrupted = false;
  std::string repeat;     // the command that gives the same result
  Evaluation evaluation;  // on the test workloads
};

std::string PeriodsInWords(const Workload& trace, const LearningPeriods& periods);

// One sentence, for model cards: "tuned 0.976 [0.960, 0.992] of default rule, ...".
std::string PartsInWords(const LearnSummary& summary);

TextTable PartsTable(const LearnSummary& summary);

// The table of parts, that of the policies, and what both say.
std::string SummaryText(const LearnSummary& summary);

nlohmann::ordered_json ToJson(const LearnSummary& summary);

}  // namespace allot
