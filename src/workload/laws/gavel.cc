// Gavel's generator (Narayanan et al., OSDI'20, section 7.1, and its simulator): random arrivals;
// 60 x 10^U(1.5, 3) seconds, one of five jobs 60 x 10^U(3, 4); 70, 10, 15 and 5 % of the jobs on 1,
// 2, 4 and 8 GPUs. With parameters what its simulator's options change.

#include <cmath>

#include "table/csv.h"
#include "workload/arrival_law.h"
#include "workload/embedded_files.h"

namespace allot {
namespace {

constexpr GpuCount kLargest = 8;
// The type that turns run times into steps.
constexpr const char* kMeasuredOn = "v100";
// Weights, and multiples of the run time that are still in time, as Gavel draws them.
constexpr double kUrgent = 5;
const std::vector<std::pair<double, double>> kSlack = {{1.2, 0.33}, {2, 0.34}, {10, 0.33}};

std::vector<LawModel> JobTypes() {
  std::vector<LawModel> models;
  CsvReader csv(EmbeddedGavelRates(), "gavel_rates.csv",
                {"job_type", "profile", "philly", "gpus_1", "gpus_2", "gpus_4", "gpus_8"});
  while (csv.Next()) {
    models.push_back({std::string(csv.Text("job_type")), csv.Has("gpus_8") ? kLargest : 1});
  }
  return models;
}

std::vector<ArrivalStream> Streams(const Params& params) {
  ArrivalStream stream;
  stream.durations = {{0.8, 60 * std::pow(10, 1.5), 60e3, true}, {0.2, 60e3, 600e3, true}};
  if (const double fixed = params.Number("duration"); fixed > 0) {
    stream.durations = {{1, fixed, fixed, false}};
  }
  if (params.Flag("multi")) stream.gpus = {{1, 0.7}, {2, 0.1}, {4, 0.15}, {kLargest, 0.05}};
  if (params.Flag("types")) {
    stream.models = JobTypes();
    stream.measured_on = kMeasuredOn;
  }
  if (const double urgent = params.Number("urgent"); urgent > 0) {
    stream.priorities = {{kUrgent, urgent}, {1, 1 - urgent}};
  }
  if (params.Flag("deadlines")) stream.slack = kSlack;
  stream.tenants = params.Integer("tenants");
  stream.together = params.Flag("together");
  stream.present = params.Integer("present");
  return {stream};
}

ALLOT_REGISTER(
    WorkloadLaw,
    (WorkloadLaw{
        "gavel",
        "Gavel: half an hour to a week on 1, 2, 4 or 8 GPUs",
        {},
        {},
        {{"multi", "true", "30 % of the jobs on 2, 4 or 8 GPUs; false: all on one"},
         {"types", "false",
          "jobs are of Gavel's 26 job types (--catalogue gavel, or Gavel's tables), and their run "
          "times are those on v100"},
         {"duration", "0", "run time of every job in seconds; 0: as drawn", 0, 1e9},
         {"urgent", "0", "share of the jobs with priority 5; the others have 1. 0: none", 0, 1},
         {"deadlines", "false", "deadlines after 1.2, 2 or 10 times the run time"},
         {"tenants", "0", "entities t1, t2, ... that jobs belong to, equally likely; 0: none", 0,
          1e4},
         {"together", "false", "static: all jobs at time 0, --rate says nothing"},
         {"present", "0",
          "of --jobs, at time 0 so many that they ask for this number of GPUs: begins as a "
          "steady state",
          0, 1e6}},
        Streams}));

}  // namespace
}  // namespace allot
