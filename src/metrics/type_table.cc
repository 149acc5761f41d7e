#include "metrics/type_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/strings.h"
#include "metrics/humanise.h"

namespace allot {
namespace {

constexpr std::size_t kMostTypes = 4;

// The mean of a figure over the runs that know it.
double MeanOfType(const std::vector<RunSummary>& runs, const std::string& name,
                  double TypeUse::*figure) {
  double sum = 0;
  int known = 0;
  for (const RunSummary& run : runs) {
    for (const TypeUse& type : run.types) {
      if (type.type != name || !std::isfinite(type.*figure)) continue;
      sum += type.*figure;
      ++known;
    }
  }
  return known > 0 ? sum / known : kUnknown;
}

// Those of the first run of every workload, by demand.
std::vector<TypeUse> TypesOf(const Evaluation& evaluation) {
  std::vector<TypeUse> types;
  const std::vector<RunSummary>& runs = evaluation.policies.front().runs;
  for (const RunSummary& run : runs) {
    for (const TypeUse& type : run.types) {
      const auto known = std::find_if(types.begin(), types.end(),
                                      [&](const TypeUse& each) { return each.type == type.type; });
      if (known == types.end()) types.push_back(type);
    }
  }
  for (TypeUse& type : types) type.demand = MeanOfType(runs, type.type, &TypeUse::demand);
  std::stable_sort(types.begin(), types.end(),
                   [](const TypeUse& a, const TypeUse& b) { return a.demand > b.demand; });
  if (types.size() > kMostTypes) types.resize(kMostTypes);
  return types;
}

}  // namespace

bool HasTypes(const Evaluation& evaluation) {
  return std::any_of(evaluation.policies.begin(), evaluation.policies.end(), [](const auto& each) {
    return std::any_of(each.runs.begin(), each.runs.end(),
                       [](const RunSummary& run) { return !run.types.empty(); });
  });
}

TextTable TypeTable(const Evaluation& evaluation, const std::vector<PolicyRow>& rows) {
  const std::vector<TypeUse> types = TypesOf(evaluation);
  std::vector<TextTable::Column> columns = {{"policy", TextTable::Align::kLeft}};
  std::vector<std::string> demands;
  for (const TypeUse& type : types) {
    columns.push_back({type.type + " use"});
    columns.push_back({type.type + " queueing"});
    demands.push_back(
        fmt::format("{} {} ({} GPUs)", type.type, HumanFixed(type.demand, 2), type.gpus));
  }
  TextTable table(std::move(columns));
  for (const PolicyRow& row : rows) {
    const std::vector<RunSummary>& runs = evaluation.policies[row.policy].runs;
    std::vector<std::string> cells = {row.name};
    for (const TypeUse& type : types) {
      cells.push_back(HumanShare(MeanOfType(runs, type.type, &TypeUse::gpu_utilisation)));
      cells.push_back(HumanDuration(MeanOfType(runs, type.type, &TypeUse::avg_queueing_s)));
    }
    table.AddRow(std::move(cells), row.reference ? '>' : ' ');
  }
  table.AddNote("queueing: of the jobs that need this type, until they start.");
  table.AddNote("Demand by type: " + Join(demands, ", ") + ".");
  table.AddNote("demand: GPU time of the jobs that need the type per GPU time that it has while");
  table.AddNote("jobs are submitted; above 1 its queue grows.");
  return table;
}

}  // namespace allot
