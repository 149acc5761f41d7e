#pragma once
// Workloads made by a law instead of read from a trace: independent streams of jobs that arrive at
// random or in batches, with durations drawn from a mixture; or fitted to a real trace
// (workload/calibrated_law.h). A law is data; a new one is one file in src/workload/laws/ that
// registers it. Used through --workload law:NAME and `allot trace generate`. A law with parameters
// is written "gavel:multi=false,types=true".

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/params.h"
#include "core/registry.h"
#include "workload/workload.h"

namespace allot {

// A part of a mixture of durations: uniform in [low, high), of the duration or of its logarithm.
struct DurationPart {
  double share = 1;  // of the jobs; the shares of a mixture sum to 1
  Seconds low = 0;
  Seconds high = 0;
  bool logarithmic = false;
};

// A throughput profile that jobs of a law may name, and the most GPUs of a job that does.
struct LawModel {
  std::string name;
  GpuCount most_gpus = 1;
};

struct ArrivalStream {
  double rate_factor = 1;  // of the rate that the user gives, jobs per hour
  std::vector<DurationPart> durations;
  std::vector<std::pair<GpuCount, double>> gpus = {{1, 1.0}};  // shares of the jobs, sum 1
  // Open from each multiple of `opens_every` to the next one of `shuts_every`; 0: always open. At
  // an instant that is a multiple of both it is shut.
  Seconds opens_every = 0;
  Seconds shuts_every = 0;
  Seconds batch_every = 0;  // > 0: instead of single jobs, at each multiple of it a batch of the
                            // whole part of rate_factor x rate jobs
  bool together = false;    // instead: all at time 0, and none after the jobs that were asked for
  GpuCount present = 0;     // before the first arrival: jobs at time 0 that ask for so many GPUs
  std::vector<LawModel> models{};  // equally likely among those of the job's size; none: no profile
  std::string measured_on{};       // GPU type of the durations; "": the fastest of the cluster
  std::vector<std::pair<double, double>> priorities{};  // and their shares; none: 0
  int tenants = 0;                                      // "t1", "t2", ..., equally likely; 0: none
  std::vector<std::pair<double, double>> slack{};  // deadline = submit + slack x duration; shares
};

struct CalibratedLaw;

struct WorkloadLaw {
  std::string id;
  std::string summary;
  std::vector<ArrivalStream> streams;
  std::function<const CalibratedLaw&()> calibrated = {};  // instead of streams
  std::vector<ParamSpec> params = {};
  std::function<std::vector<ArrivalStream>(const Params&)> of_params = {};  // instead of streams

  bool together() const { return !streams.empty() && streams.front().together; }
};

// The law that a spec like "gavel:multi=false" means; its id is the spec. UsageError with
// did-you-mean for an unknown name or parameter, or naming the range.
WorkloadLaw LawFrom(std::string_view spec);

// The requested rate, in jobs per hour, or else the one of the trace that the law is
// fitted to. UsageError when there is neither.
double RateOf(const WorkloadLaw& law, std::optional<double> asked);

// How much of a law a workload takes: `jobs` jobs, and then arrivals for `tail` further seconds.
struct LawLength {
  int jobs = 1000;
  Seconds tail = 0;
};

// Jobs named by their position. Gaps between single arrivals are exponential, rounded up to
// whole seconds. The numbers of a stream depend on (seed, stream) alone: with the same seed, job k
// of a stream has the same duration at every rate. UsageError for a
// rate outside 0.001..3600 jobs per hour.
Workload Generate(const WorkloadLaw& law, double rate, std::uint64_t seed, const LawLength& length);

// The spec of "law:SPEC", "" for other texts.
std::string_view LawName(std::string_view workload);

}  // namespace allot
