#pragma once
// What a sweep measured, cell by cell: the runs of the cross product of its factors. Written by
// `allot sweep` as DIR/results.json, cells.csv and timings.csv; read by the report. Layout and
// keys: docs/sweeps.md.

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/paired.h"
#include "metrics/summary.h"

namespace allot {

inline constexpr std::string_view kSeedFactor = "seed";      // means are over it
inline constexpr std::string_view kPolicyFactor = "policy";  // every sweep has both

struct SweepCell {
  std::vector<std::string> values;  // one per factor
  std::string workload;
  double load = kUnknown;    // offered
  Seconds end_s = kUnknown;  // of the run: its last decision
  RunSummary summary;
  double arrivals_use = kUnknown;  // GPU use while counted jobs arrive: without the end, when the
                                   // cluster runs empty
  bool cut_off = false;            // ended at a cutoff: no JCT is known
  std::string failed{};            // why the run has no end: nothing of it is known
  std::int64_t hidden = 0;         // jobs outside the window that came before its last one and had
                                   // not ended when the run did
  // Quantiles of the counted jobs that ended, at levels spread evenly from 0 to 1; none: no job.
  std::vector<double> jct_quantiles_s{};
  std::vector<double> fairness_quantiles{};  // of rho (metrics/service.h)
  // Which window of the trace the workload was drawn from (metrics/paired.h).
  std::int32_t window = kWindowOfItsOwn;
};

struct SweepResults {
  std::string title;    // may be empty
  std::string command;  // repeats it
  std::vector<std::string> factors;
  std::map<std::string, std::string> reference;  // factor -> value that ratios are taken of
  std::vector<SweepCell> cells;
  std::vector<std::string> notes{};  // for people: what was left out

  std::size_t FactorAt(std::string_view name) const;  // contract: there is one
};

// One cell with the names of its factors, timings included; DataError naming `where` for a cell of
// other factors.
nlohmann::ordered_json ToJson(const SweepCell& cell, const std::vector<std::string>& factors);
SweepCell SweepCellFromJson(const nlohmann::ordered_json& json,
                            const std::vector<std::string>& factors, std::string_view where);

// Without timings: the same sweep gives the same bytes.
nlohmann::ordered_json ToJson(const SweepResults& results);
SweepResults SweepResultsFromJson(const nlohmann::ordered_json& json, std::string_view where);

std::string SweepCellsCsv(const SweepResults& results);
std::string SweepTimingsCsv(const SweepResults& results);

// DIR/results.json of a sweep.
inline constexpr const char* kSweepResultsFile = "results.json";
bool HoldsSweep(const std::filesystem::path& directory);
SweepResults ReadSweepResults(const std::filesystem::path& directory);

}  // namespace allot
