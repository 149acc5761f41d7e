#pragma once
// A reference folder of Gavel's runs as data (fidelity/gavel_peer.cc compares):
//
//   throughputs_simulation.csv, colocated_throughputs_simulation.csv   perf/gavel_tables.h
//   workloads/WORKLOAD.csv             jobs
//   results/summary.csv                one row a run: cluster, averages, counts
//   results/WORKLOAD__POLICY.jct.csv   one row a job
//   replay/WORKLOAD__POLICY.alloc.csv[.gz]    every answer of the policy, where it was recorded
//   replay/WORKLOAD__POLICY.rounds.csv[.gz]   every placement, where it was recorded

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cluster/cluster_spec.h"
#include "perf/catalogue.h"
#include "workload/workload.h"

namespace allot {

// A job or, with the second >= 0, a pair, by position in the workload.
using GavelKey = std::pair<JobIndex, JobIndex>;

// What one call of the policy answered.
struct GavelCall {
  Seconds time = 0;
  struct Part {
    GavelKey key;
    std::string gpu_type;
    double x = 0;
  };
  std::vector<Part> parts;
};

// One job or pair in one round.
struct GavelPlacement {
  std::int64_t round = 0;
  Seconds start = 0;
  GavelKey key;
  std::string gpu_type;
  std::vector<std::int32_t> workers;  // numbers of GPUs: types by name, server by server
  friend bool operator==(const GavelPlacement&, const GavelPlacement&) = default;
};

struct GavelRun {
  std::string workload;
  std::string policy;
  std::string cluster;  // "6:6:6"
  GpuCount gpus_per_server = 1;
  std::uint64_t seed = 0;
  Seconds round = 0;
  std::map<std::string, double> figures;  // of the summary, by column
  std::string name() const { return workload + "." + policy; }
};

// DataError naming file, rule and value for every fault.
std::shared_ptr<const Workload> ReadGavelWorkload(const std::filesystem::path& file);
Catalogue ReadGavelTables(const std::filesystem::path& folder);
std::vector<GavelRun> ReadGavelRuns(const std::filesystem::path& folder);
// v100:p100:k80, whole servers only; types in the order of their names.
ClusterSpec GavelCluster(const std::string& counts, GpuCount gpus_per_server);
// The file, packed or not; "" where there is none.
std::string FindGavelFile(const std::filesystem::path& folder, const std::string& name);
std::vector<GavelCall> ReadGavelCalls(const std::string& file, const Workload& workload);
std::vector<GavelPlacement> ReadGavelRounds(const std::string& file, const Workload& workload);

}  // namespace allot
