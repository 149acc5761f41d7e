#include "fidelity/gavel_reference.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "core/error.h"
#include "core/file.h"
#include "core/index.h"
#include "core/strings.h"
#include "fidelity/reference.h"
#include "perf/gavel_tables.h"
#include "table/csv.h"

namespace allot {
namespace {

namespace fs = std::filesystem;

constexpr long long kMostCalls = 10'000'000;
constexpr double kSolved = 1e-6;  // of sums of recorded shares: solvers leave up to 1e-9

// Jobs by the peer's numbers.
class Jobs {
 public:
  explicit Jobs(const Workload& workload) {
    for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
      position_.emplace(workload.jobs[i].id, static_cast<JobIndex>(i));
    }
  }

  // "7" or "(3, 9)"; of a pair the earlier job first.
  GavelKey Key(const CsvReader& csv) const {
    std::string_view text = Trim(csv.Text("job"));
    const bool pair = text.starts_with('(') && text.ends_with(')');
    if (pair) text = text.substr(1, text.size() - 2);
    const auto parts = Split(text, ',');
    if (parts.size() != (pair ? 2U : 1U)) {
      throw DataError("{}: 'job' is a number or a pair like (3, 9), got '{}'", csv.place(),
                      csv.Text("job"));
    }
    GavelKey key{Of(csv, Trim(parts[0])), kUnpaired};
    if (pair) {
      key.second = Of(csv, Trim(parts[1]));
      if (key.second < key.first) std::swap(key.first, key.second);
    }
    return key;
  }

 private:
  static constexpr JobIndex kUnpaired = -1;
  JobIndex Of(const CsvReader& csv, std::string_view id) const {
    const auto found = position_.find(std::string(id));
    if (found != position_.end()) return found->second;
    throw DataError("{}: 'job' must be one of the workload's {} jobs, got '{}'", csv.place(),
                    position_.size(), id);
  }
  std::unordered_map<std::string, JobIndex> position_;
};

std::string TypeName(const CsvReader& csv) {
  std::string name(csv.Text("gpu_type"));
  if (name.empty()) throw DataError("{}: 'gpu_type' must not be empty, got ''", csv.place());
  return name;
}

}  // namespace

std::shared_ptr<const Workload> ReadGavelWorkload(const fs::path& file) {
  const std::string path = file.string();
  const std::string text = ReadTextFile(path);
  CsvReader csv(text, path, {"job_id", "arrival_time_s", "job_type", "scale_factor", "total_steps"},
                {"priority_weight", "v100_duration_s"});
  auto workload = std::make_shared<Workload>();
  workload->name = file.stem().string();
  while (csv.Next()) {
    csv.CheckRow();
    Job job;
    job.id = csv.Text("job_id");
    job.submit = csv.Number("arrival_time_s");
    job.gpus = static_cast<GpuCount>(csv.Integer("scale_factor", 1, kMaxGpusPerJob));
    job.work = csv.Number("total_steps");
    if (!(job.work > 0)) {
      throw DataError("{}: 'total_steps' must be > 0, got {}", csv.place(), job.work);
    }
    job.duration = 1;  // known by the tables; nothing here is relative to it
    job.model = workload->models.Intern(csv.Text("job_type"));
    if (csv.Has("priority_weight")) {
      job.priority = csv.Number("priority_weight");
      if (!(job.priority > 0)) {
        throw DataError("{}: 'priority_weight' must be > 0, got {}", csv.place(), job.priority);
      }
    }
    workload->jobs.push_back(std::move(job));
  }
  if (workload->jobs.empty()) throw DataError("{}: a workload has jobs, got none", path);
  workload->Finish();
  return workload;
}

Catalogue ReadGavelTables(const fs::path& folder) {
  const std::string alone = (folder / "throughputs_simulation.csv").string();
  const std::string beside = (folder / "colocated_throughputs_simulation.csv").string();
  return Catalogue::FromCsv(GavelCatalogueCsv(ReadTextFile(alone), alone, ReadTextFile(beside),
                                              beside, GavelNodes::kIgnored),
                            alone);
}

std::vector<GavelRun> ReadGavelRuns(const fs::path& folder) {
  const std::string path = (folder / "results" / "summary.csv").string();
  const std::string text = ReadTextFile(path);
  const std::vector<std::string> figures = {
      "jobs",       "completed",   "dropped",   "avg_jct_s",
      "makespan_s", "utilization", "lease_ext", "lease_ext_opportunities",
      "rounds",     "alloc_calls"};
  std::vector<std::string> needed = {"workload", "cluster", "gpus_per_server",
                                     "policy",   "seed",    "round_s"};
  needed.insert(needed.end(), figures.begin(), figures.end());
  CsvReader csv(text, path, needed, {"solver", "policy_s", "wall_s", "cpu_s", "max_rss_mib"});
  std::vector<GavelRun> runs;
  std::set<std::string> names;
  while (csv.Next()) {
    csv.CheckRow();
    GavelRun run;
    run.workload = csv.Text("workload");
    run.policy = csv.Text("policy");
    run.cluster = csv.Text("cluster");
    run.gpus_per_server = static_cast<GpuCount>(csv.Integer("gpus_per_server", 1, kMaxGpusPerNode));
    run.seed = static_cast<std::uint64_t>(csv.Integer("seed", 0, 1LL << 40));
    run.round = csv.Number("round_s");
    if (!(run.round >= 1 && run.round <= kLongestRound)) {
      throw DataError("{}: 'round_s' must be from 1 to {}, got {}", csv.place(), kLongestRound,
                      run.round);
    }
    for (const std::string& figure : figures) run.figures[figure] = csv.Number(figure);
    if (csv.Has("cpu_s")) run.figures["cpu_s"] = csv.Number("cpu_s");
    if (!names.insert(run.name()).second) {
      throw DataError("{}: a run has one row, '{}' has another", csv.place(), run.name());
    }
    runs.push_back(std::move(run));
  }
  return runs;
}

ClusterSpec GavelCluster(const std::string& counts, GpuCount gpus_per_server) {
  const std::vector<std::string> names = {"v100", "p100", "k80"};
  const auto parts = Split(counts, ':');
  std::map<std::string, std::int32_t> servers;  // by name
  bool good = parts.size() == names.size();
  for (std::size_t i = 0; good && i < parts.size(); ++i) {
    const auto gpus = ParseInteger(parts[i]);
    good = gpus.has_value() && *gpus >= 0 && *gpus <= kMostReferenceNodes;
    if (good) servers[names[i]] = static_cast<std::int32_t>(*gpus / gpus_per_server);
  }
  if (!good) {
    throw DataError("a cluster is GPUs as v100:p100:k80 like 6:6:6, got '{}'", counts);
  }
  ClusterSpec cluster;
  for (const auto& [name, count] : servers) {
    if (count > 0) cluster.AddNodes(count, {gpus_per_server, 0}, name);
  }
  if (cluster.nodes().empty()) {
    throw DataError("a cluster has a server of {} GPUs at least, got '{}'", gpus_per_server,
                    counts);
  }
  return cluster;
}

std::string FindGavelFile(const fs::path& folder, const std::string& name) {
  for (const char* suffix : {"", ".gz"}) {
    const fs::path file = folder / (name + suffix);
    if (fs::exists(file)) return file.string();
  }
  return "";
}

std::vector<GavelCall> ReadGavelCalls(const std::string& file, const Workload& workload) {
  const std::string text = ReadTextFile(file);
  CsvReader csv(text, file, {"call", "time_s", "job", "gpu_type", "x"});
  const Jobs jobs(workload);
  std::vector<GavelCall> calls;
  std::map<JobIndex, double> time_of;  // of the last call
  while (csv.Next()) {
    csv.CheckRow();
    const auto call = static_cast<std::size_t>(csv.Integer("call", 0, kMostCalls));
    const Seconds time = csv.Number("time_s");
    // Calls without jobs have no rows.
    if (call + 1 < calls.size()) {
      throw DataError("{}: 'call' must not fall, got {} after {}", csv.place(), call,
                      calls.size() - 1);
    }
    if (call >= calls.size()) {
      calls.resize(call + 1);
      calls.back().time = time;
      time_of.clear();
    }
    if (calls.back().time != time) {
      throw DataError("{}: a call has one 'time_s', got {} after {}", csv.place(), time,
                      calls.back().time);
    }
    const double x = csv.Number("x");
    if (!(x >= 0 && x <= 1)) {
      throw DataError("{}: 'x' is a time share from 0 to 1, got {}", csv.place(), x);
    }
    const GavelKey key = jobs.Key(csv);
    for (const JobIndex job : {key.first, key.second}) {
      if (job < 0) continue;
      double& sum = time_of[job];
      sum += x;
      if (sum > 1 + kSolved) {
        throw DataError("{}: the shares of a job are at most 1 together, got {} (job '{}')",
                        csv.place(), sum, workload.jobs[At(job)].id);
      }
    }
    calls.back().parts.push_back({key, TypeName(csv), x});
  }
  return calls;
}

std::vector<GavelPlacement> ReadGavelRounds(const std::string& file, const Workload& workload) {
  const std::string text = ReadTextFile(file);
  CsvReader csv(text, file, {"round", "start_s", "job", "gpu_type", "worker_ids"});
  const Jobs jobs(workload);
  std::vector<GavelPlacement> rows;
  while (csv.Next()) {
    csv.CheckRow();
    GavelPlacement row;
    row.round = csv.Integer("round", 0, INT64_MAX);
    row.start = csv.Number("start_s");
    row.key = jobs.Key(csv);
    row.gpu_type = TypeName(csv);
    for (const std::string_view id : Split(Trim(csv.Text("worker_ids")), ' ')) {
      const auto worker = ParseInteger(id);
      if (!worker || *worker < 0 || *worker > INT32_MAX) {
        throw DataError("{}: 'worker_ids' are whole numbers >= 0, got '{}'", csv.place(), id);
      }
      row.workers.push_back(static_cast<std::int32_t>(*worker));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace allot
