#pragma once
// In which world policies are run, as values: workload, cluster and rules. World (world.h) is made
// from it; world_options.h names each value for command lines, sweeps and messages.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace allot {

struct WorldSpec {
  std::string workload = "embedded";  // trace file, "embedded", or "law:NAME"
  std::string format = "auto";        // of the trace
  std::string columns{};              // of a table, as ColumnMap::Parse; "": none are named
  std::string model_map{};            // as NameMap::Parse; "": names stay
  std::string type_map{};             // likewise, of GPU types
  std::string oversized = "error";    // as OversizedNamed: jobs larger than the cluster
  bool lenient = false;               // drop and count malformed rows instead of stopping
  bool late_deadlines = false;        // objectives that their jobs cannot meet are no error
  std::string cluster = "16x8";       // as ClusterSpec::Parse
  std::string from{};                 // window of submissions; times as ParseWhen, "": open
  std::string to{};
  std::vector<double> loads{};   // offered loads, in turn; empty: the whole window, once
  std::string span = "7d";       // of one sampled workload
  int workloads = 1;             // sampled, with seeds `seed`, `seed` + 1, ...
  std::optional<double> rate{};  // of a law: jobs per hour; default: that of the law's trace
  std::optional<int> jobs{};     // of a law; default 1000
  std::string tail{};            // of a law: arrivals after the last of `jobs`, "": none
  std::uint64_t seed = 0;
  bool rigid = false;       // jobs stay at their requested size
  bool elastic = false;     // models are drawn for jobs that name none
  std::string catalogue{};  // CSV file; "": the embedded one
  // Of the registry of profiles; none: "default", and a trace of the user's is decided at events
  // where no interval is given either (World::sim).
  std::optional<std::string> profile{};
  std::optional<double> interval{};      // seconds between decisions; default: the profile's
  std::optional<double> restart_cost{};  // seconds; default: the profile's
  std::optional<double> launch_cost{};   // seconds; default: the profile's
  std::string failures{};                // as ParseNodeFailures; "": none
  std::string node_events{};             // CSV file; "": none
  std::string autoscale{};               // as MakeAutoscaler; "": all nodes are there always
  double node_price = 0;                 // of a node for an hour; 0: cost is not counted
  std::string rules{};                   // TOML file, as OperatorRules; "": none
  double speedup = 1;                    // of all progress; policies are not told
  std::string lengths{};                 // as LengthEstimates::Parse; "": the profile's
  std::string beliefs{};                 // as MakeBelief; "": exact
  std::string progress{};                // as MakeProcesses; "": constant
  std::string setting{};  // named worlds, joined by commas, in place of all but workloads and seed
};

}  // namespace allot
