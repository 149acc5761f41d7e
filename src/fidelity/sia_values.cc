#include "fidelity/sia_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "core/cpu_time.h"
#include "core/error.h"
#include "core/file.h"
#include "core/index.h"
#include "perf/application_model.h"
#include "sim/belief.h"
#include "sim/profile.h"
#include "sim/scenario.h"
#include "sim/training_belief.h"
#include "workload/trace_reader.h"

namespace allot {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kSiaCluster = "6x4:aws,2x8:dgx-ext,3x8:rtx";
constexpr const char* kBelief = "online";
constexpr double kLeast = 1e-3;  // values below stand for what a job may not have
constexpr double kNear = 0.05;
constexpr double kShare = 2.0 / 3;

struct Row {
  Seconds time = 0;
  std::vector<double> theirs;  // by configuration
};

struct Decisions {
  json configs;
  std::map<std::string, std::vector<Row>> rows;  // by job, in order of time
};

Decisions ReadDecisions(const std::string& path) {
  Decisions read;
  const json file = json::parse(ReadTextFile(path));
  read.configs = file.at("configs");
  for (const json& decision : file.at("decisions")) {
    for (std::size_t j = 0; j < decision.at("adaptive_jobs").size(); ++j) {
      read.rows[decision.at("adaptive_jobs").at(j)].push_back(
          {decision.at("time"), decision.at("goodput").at(j)});
    }
  }
  return read;
}

// By configuration of the peer's, over the least; 0: the job may not have it.
std::vector<double> ValuesOf(const ConfigurationTable& table, const ClusterSpec& cluster,
                             const json& configs) {
  std::vector<double> values;
  double least = 0;
  for (const json& c : configs) {
    const auto& types = cluster.types();
    const auto named = std::find(types.begin(), types.end(), c.at(0).get<std::string>());
    if (named == types.end()) {
      throw DataError("a configuration names a type of {}, got {}", kSiaCluster, c.dump());
    }
    const auto type = static_cast<GpuTypeIndex>(named - types.begin());
    const auto gpus = c.at(2).get<std::int32_t>();
    const std::int32_t found = table.Find({gpus}, type, c.at(1).get<std::size_t>());
    const bool trusted = found >= 0 && UnitCounts(gpus).FitsIn(table.trusted());
    values.push_back(trusted ? table[found].rate : 0);
    if (values.back() > 0) least = least > 0 ? std::min(least, values.back()) : values.back();
  }
  for (double& value : values) value /= least;
  return values;
}

class Comparison {
 public:
  void Add(const std::string& job, const Row& row, const std::vector<double>& ours,
           const json& configs) {
    // Before a job measured something it is worth 1 on each type.
    const bool unknown = std::all_of(row.theirs.begin(), row.theirs.end(),
                                     [](double value) { return value <= kLeast || value == 1; });
    if (unknown) return;
    ++rows_;
    for (std::size_t c = 0; c < ours.size(); ++c) {
      const bool theirs_may = row.theirs[c] > kLeast;
      if (!theirs_may && !(ours[c] > 0)) continue;
      ++values_;
      const double off = theirs_may && ours[c] > 0 ? std::abs(std::log(ours[c] / row.theirs[c]))
                                                   : std::numeric_limits<double>::infinity();
      if (off <= kNear) ++near_;
      if (off <= worst_) continue;
      worst_ = off;
      first_ = fmt::format("{} at {} s, {}: value {} there, {} here", job, row.time,
                           configs.at(c).dump(), row.theirs[c], ours[c]);
    }
  }

  void Finish(FidelityResult* result) const {
    result->jobs = rows_;
    const double share =
        values_ > 0 ? static_cast<double>(near_) / static_cast<double>(values_) : 0;
    if (share >= kShare && std::isfinite(worst_)) return;
    result->verdict = FidelityResult::Verdict::kDifferent;
    result->first_difference =
        fmt::format("{} of {} values within {}; {}", near_, values_, kNear, first_);
  }

 private:
  std::int64_t rows_ = 0;
  std::int64_t values_ = 0;
  std::int64_t near_ = 0;
  double worst_ = 0;
  std::string first_;
};

FidelityResult Compare(const TrainingWorld& world, const std::string& workload) {
  const std::string unit =
      (world.folder / "unit" / ("sia_decisions-" + workload + ".json")).string();
  FidelityResult result;
  result.name = "sia-" + workload + ".values";
  Decisions decisions;
  try {
    decisions = ReadDecisions(unit);
  } catch (const json::exception& error) {
    throw DataError("{}: {}", unit, error.what());
  }
  SimOptions options;
  Registry<ProfileInfo>::Global().Get("profile", "sia").apply(&options);
  const Scenario scenario(
      ReadTrace((world.folder / "workloads" / (workload + ".csv")).string(), "pollux-training"),
      ClusterSpec::Parse(kSiaCluster), options, *world.applications);
  const auto belief = MakeBelief(kBelief, scenario);
  const RecordedChanges changes = ReadRecordedChanges(
      (world.folder / "results" / ("sia-" + workload + ".replay.csv")).string());
  const double begin = ThreadCpuSeconds();
  Comparison comparison;
  const std::vector<Job>& jobs = scenario.workload().jobs;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const auto job = static_cast<JobIndex>(j);
    const auto rows = decisions.rows.find(jobs[j].id);
    const auto played = changes.find(jobs[j].id);
    if (rows == decisions.rows.end() || played == changes.end()) continue;
    const auto decide = [&](Seconds time) {
      for (const Row& row : rows->second) {
        if (row.time != time) continue;
        comparison.Add(jobs[j].id, row,
                       ValuesOf(*belief->TableOf(job), scenario.cluster(), decisions.configs),
                       decisions.configs);
      }
    };
    const auto measure = [&](const TrainingMeasurement& measured) {
      belief->training()->Measure(job, measured);
    };
    PlayRecorded(world, *scenario.facts(job).application(), played->second, decide, measure);
    belief->Forget(job);
  }
  comparison.Finish(&result);
  result.our_cpu_s = ThreadCpuSeconds() - begin;
  return result;
}

}  // namespace

std::vector<FidelityCase> SiaValues(const TrainingWorld& world) {
  std::vector<std::string> workloads;
  const fs::path unit = world.folder / "unit";
  if (!fs::is_directory(unit)) return {};
  for (const auto& entry : fs::directory_iterator(unit)) {
    constexpr std::string_view kBegin = "sia_decisions-";
    const std::string stem = entry.path().stem().string();
    if (!stem.starts_with(kBegin)) continue;
    const std::string workload = stem.substr(kBegin.size());
    if (!fs::exists(world.folder / "results" / ("sia-" + workload + ".replay.csv"))) continue;
    workloads.push_back(workload);
  }
  std::sort(workloads.begin(), workloads.end());
  std::vector<FidelityCase> cases;
  cases.reserve(workloads.size());
  for (const std::string& workload : workloads) {
    cases.push_back({"sia-" + workload + ".values",
                     [world, workload] { return Compare(world, workload); },
                     [] { return kUnknown; }});
  }
  return cases;
}

}  // namespace allot
