#pragma once
// The gate: whether a candidate checkpoint may take the incumbent's place. It must beat both the
// incumbent and the best heuristic in mean JCT on held-out workloads, by paired ratios whose 95 %
// interval lies below a limit. Pure; 'allot gate' evaluates, compares and moves folders.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "metrics/evaluation.h"
#include "metrics/paired.h"

namespace allot {

struct GateRival {
  std::string id;
  bool incumbent = false;
  PairedRatio jct{};  // candidate / rival
  PairedRatio p99{};  // for information
  bool beaten = false;
};

struct GateVerdict {
  bool accepted = false;
  double bar = 1;                 // what the upper end of the interval must be below
  std::string best_heuristic;     // least mean over workloads of ln(mean JCT)
  std::vector<GateRival> rivals;  // all, as evaluated
  std::string reason;             // one sentence
};

// `evaluation` holds the candidate, heuristics and, unless `incumbent` is "", the incumbent.
// UsageError with fewer than two workloads: there would be no interval. UsageError when there is
// no heuristic. Oracles are reported; they need be beaten only by a candidate that
// is one itself, because it gets true lengths too.
GateVerdict Judge(const Evaluation& evaluation, const std::string& candidate,
                  const std::string& incumbent, double bar);

nlohmann::ordered_json ToJson(const GateVerdict& verdict);
// A page for people: the verdict, the table, where and how it was measured.
std::string GateReport(const GateVerdict& verdict, const Evaluation& evaluation,
                       const std::string& name);

}  // namespace allot
