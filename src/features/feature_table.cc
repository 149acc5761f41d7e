#include "features/feature_table.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "features/configuration_tensor.h"
#include "features/encoder.h"
#include "features/graph_tensors.h"

namespace allot {
namespace {

constexpr double kB = kFeatureBound;

std::vector<FeatureInfo> Context() {
  std::vector<FeatureInfo> context;
  context.reserve(kContextFeatures);
  for (const FeatureInfo& f : JobFeatureTable()) {
    context.push_back(
        {"mean_" + f.name, f.unit, "mean over all jobs: " + f.meaning, f.low, f.high});
  }
  for (const FeatureInfo& f : JobFeatureTable()) {
    context.push_back({"std_" + f.name, f.unit, "standard deviation over all jobs: " + f.meaning, 0,
                       (f.high - f.low) / 2});
  }
  const std::vector<FeatureInfo>& cluster = ClusterFeatureTable();
  context.insert(context.end(), cluster.begin(), cluster.end());
  return context;
}

}  // namespace

const std::vector<FeatureInfo>& JobFeatureTable() {
  static const std::vector<FeatureInfo> table = {
      {"remaining_smallest", "ln intervals", "ln remaining intervals in the smallest configuration",
       -kB, kB},
      {"remaining_fastest", "ln intervals", "ln remaining intervals in the fastest configuration",
       -kB, kB},
      {"remaining_cost", "ln GPU-intervals", "ln remaining GPU-intervals at the best efficiency",
       -kB, kB},
      {"remaining_share", "1", "remaining share of the total work", 0, 1},
      {"age", "ln intervals", "ln (1 + age in intervals)", 0, kB},
      {"is_new", "1", "arrived since the last decision", 0, 1},
      {"speedup", "1", "ln (fastest rate / smallest rate)", -kB, kB},
      {"width", "1", "ln (largest useful cost / smallest cost)", -kB, kB},
      {"smallest_cost", "ln GPU", "ln smallest cost", -kB, kB},
      {"requested_cost", "1", "ln (requested cost / smallest cost)", -kB, kB},
      {"is_running", "1", "is running", 0, 1},
      {"running_cost", "1", "ln (1 + present cost / smallest cost)", 0, kB},
      {"attained", "1", "ln (attained service / expected total service + 0.02)", -kB, kB},
      {"rank_remaining", "1", "rank by remaining time, -1 shortest .. 1 longest", -1, 1},
      {"rank_cost", "1", "rank by remaining cost, -1 least .. 1 most", -1, 1},
      {"has_estimate", "1", "its length is estimated", 0, 1},
      {"hesrpt_weight", "1",
       "ln share of jobs with at least its remaining time in the smallest configuration", -kB, kB},
      {"forecast_rank", "ln intervals",
       "ln forecast intervals per completion (inverse Gittins index), in the smallest "
       "configuration",
       -kB, kB},
      {"forecast_median", "ln intervals",
       "ln forecast remaining intervals in the smallest configuration, median", -kB, kB},
      {"forecast_high", "ln intervals",
       "ln forecast remaining intervals in the smallest configuration, 90th percentile", -kB, kB},
      {"hesrpt_forecast_weight", "1",
       "ln share of jobs with at least its forecast intervals per completion", -kB, kB},
  };
  return table;
}

const std::vector<FeatureInfo>& ClusterFeatureTable() {
  static const std::vector<FeatureInfo> table = {
      {"jobs_per_gpu", "ln jobs per GPU", "ln (jobs / GPUs)", -kB, kB},
      {"backlog", "ln intervals", "ln (remaining GPU-intervals / GPUs + 0.01)", -kB, kB},
      {"used_share", "1", "share of GPUs in use", 0, kB},
      {"width_per_gpu", "1", "ln (sum of largest useful costs / GPUs)", -kB, kB},
      {"new_share", "1", "share of jobs that arrived since the last decision", 0, 1},
      {"jobs", "ln jobs / 3", "ln jobs / 3", 0, kB},
      {"restart_cost", "intervals", "restart cost / interval", 0, kB},
      {"constant", "1", "1", 0, 1},
  };
  return table;
}

const std::vector<FeatureInfo>& ContextFeatureTable() {
  static const std::vector<FeatureInfo> table = Context();
  return table;
}

const std::vector<FeatureInfo>& ConfigurationColumnTable() {
  constexpr double kMost = kConfigurationBound;
  static const std::vector<FeatureInfo> table = {
      {"gpus", "GPUs", "GPUs that the configuration holds", 0, kMost},
      {"gpu_type", "1", "index of its GPU type in the cluster; -1: no such configuration", -1,
       kMost},
      {"least_nodes", "nodes", "the fewest nodes that it may lie on", 0, kMost},
      {"rate", "work/s", "how fast the job progresses; 0: it holds GPUs and makes no progress", 0,
       kMost},
      {"first_units", "units", "units of the job's first kind (GPUs, or workers)", 0, kMost},
      {"second_units", "units", "units of its second kind (parameter servers)", 0, kMost},
  };
  return table;
}

const std::vector<FeatureInfo>& NodeColumnTable() {
  constexpr double kMost = kNodeBound;
  static const std::vector<FeatureInfo> table = {
      {"gpus", "GPUs", "GPUs of the node; 0: it is down, or there is no such node", 0, kMost},
      {"free_gpus", "GPUs", "GPUs that no job holds", 0, kMost},
      {"gpu_type", "1", "index of its GPU type in the cluster; -1: there is no such node", -1,
       kMost},
  };
  return table;
}

std::string FeatureTableJson(const std::vector<FeatureInfo>& table) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const FeatureInfo& f : table) {
    rows.push_back({{"name", f.name},
                    {"unit", f.unit},
                    {"meaning", f.meaning},
                    {"low", f.low},
                    {"high", f.high}});
  }
  return rows.dump();
}

std::string FeatureTableMarkdown(const std::vector<FeatureInfo>& table) {
  std::string text = "| place | name | unit | low | high | meaning |\n|---|---|---|---|---|---|\n";
  for (std::size_t i = 0; i < table.size(); ++i) {
    const FeatureInfo& f = table[i];
    text += fmt::format("| {} | `{}` | {} | {} | {} | {} |\n", i, f.name, f.unit, f.low, f.high,
                        f.meaning);
  }
  return text;
}

}  // namespace allot
