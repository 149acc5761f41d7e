#pragma once
// The numbers behind the report's charts, thinned to what a screen can show, as the JSON that
// report/charts.js reads.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "metrics/comparison.h"
#include "metrics/csv.h"
#include "metrics/evaluation.h"

namespace allot {

// How a policy is drawn everywhere on the page: one of eight colours, and a dash for the ninth and
// later. Styles belong to ids; the reference of the first evaluation has the first one.
struct PolicyStyle {
  int colour = 0;
  int dash = 0;
};
class Palette {
 public:
  void Add(const Evaluation& evaluation);
  PolicyStyle Of(const std::string& id) const;  // `id` of an evaluation that was added

 private:
  std::vector<std::string> ids_;
};

// Workloads whose timelines fit in the page; the first ones are taken.
std::size_t DrawnWorkloads(const Evaluation& evaluation);

// Reads the run directories below `directory`.
nlohmann::ordered_json EvaluationChartData(const std::filesystem::path& directory,
                                           const Evaluation& evaluation,
                                           const std::vector<PolicyRow>& rows,
                                           const Palette& palette);

// What a training directory holds; both absent when it is neither's.
struct TrainingCurves {
  std::string name;
  std::optional<NumberColumns> curve;     // curve.csv, reinforcement learning
  std::optional<NumberColumns> pretrain;  // pretrain.csv, imitation
};
TrainingCurves ReadTrainingCurves(const std::filesystem::path& directory);
nlohmann::ordered_json TrainingChartData(const TrainingCurves& curves);

}  // namespace allot
