#pragma once
// The values of a world to run policies in: workload, cluster and rules. World (world.h) is made
// from it; world_options.h names each value for command lines, sweeps and messages.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace allot {

struct WorldSpec {
  std::string workload = "embedded";  // trace file, "embedded", or "law:NAME"
  std::string format = "auto";        // of the trace
  std::string columns{};              // of a table, for ColumnMap::Parse; "" names none
  std::string model_map{};            // for NameMap::Parse; "" renames nothing
  std::string type_map{};             // likewise for GPU types
  std::string oversized = "error";    // for OversizedNamed: jobs larger than the cluster
  bool lenient = false;               // drop and count malformed rows instead of stopping
  bool late_deadlines = false;        // deadlines that jobs cannot meet are no error
  std::string cluster = "16x8";       // for ClusterSpec::Parse
  std::string topology{};             // for ParseTopology; "": everywhere alike
  double comm_share = 0;              // of gangs whose trace does not say
  std::string slowness{};             // CSV file of GpuSlowness; "" for GPUs that are alike
  std::string from{};                 // window of submissions; for ParseWhen, "" is unbounded
  std::string to{};
  std::vector<double> loads{};   // offered loads, in turn; empty: the whole window, once
  std::string span = "7d";       // length of one sampled workload
  int workloads = 1;             // number of samples, with seeds `seed`, `seed` + 1, ...
  std::optional<double> rate{};  // of a law: jobs per hour; default: as in the law's trace
  std::optional<int> jobs{};     // of a law; default 1000
  std::string tail{};            // of a law: time of arrivals after the last of `jobs`; "" for none
  std::uint64_t seed = 0;
  bool rigid = false;    // jobs stay at their requested size
  bool elastic = false;  // models are drawn for jobs that name none
  std::optional<std::vector<std::string>> elastic_users{};  // jobs of others keep their size
  std::string catalogue{};  // CSV file; "" stands for the embedded one
  // A name in the registry of profiles. Without it "default", and a trace in a file is decided at
  // events unless an interval is given (World::sim).
  std::optional<std::string> profile{};
  std::optional<double> interval{};      // seconds between decisions; default: the profile's
  std::optional<double> restart_cost{};  // seconds; default: the profile's
  std::optional<double> launch_cost{};   // seconds; default: the profile's
  std::string failures{};                // for MakeFaultLaw; "" for none
  std::string failure_mode{};            // for ParseNodeLoss; "" stands for requeue
  std::string checkpoints{};  // for MakeCheckpointRule; "" stands for young-daly with failures
  std::string node_events{};  // CSV file; "" for none
  std::string services{};     // for MakeServiceLoad; "" for none
  std::string lend{};         // for MakeLender; "" stands for margin
  std::optional<double> recall_notice{};  // seconds; default: 10 minutes
  std::string autoscale{};                // for MakeAutoscaler; "" keeps all nodes
  double node_price = 0;                  // price of a node for an hour; 0: cost is not counted
  std::string rules{};                    // TOML file of OperatorRules; "" for none
  double speedup = 1;                     // factor on all progress, hidden from policies
  std::string lengths{};                  // for LengthEstimates::Parse; "" stands for the profile's
  std::string beliefs{};                  // for MakeBelief; "" stands for exact
  std::string progress{};                 // for MakeProcesses; "" stands for constant
  std::string setting{};  // named worlds, joined by commas, replacing all but workloads and seed
};

}  // namespace allot
