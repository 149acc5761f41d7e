#pragma once
// Workloads like a real trace: batches of jobs that are alike, at the hours and weekdays of the
// trace, with its GPU demands and run times. The tables are fitted to data (traces/make_laws.py)
// and stand in traces/laws/*.json. Made through Generate of workload/arrival_law.h.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workload/arrival_law.h"

namespace allot {

struct CalibratedLaw {
  struct RunTimes {
    GpuCount up_to = 0;                        // GPUs; classes ascend
    std::vector<std::array<double, 3>> parts;  // log-normal: weight, mean, deviation of ln s
    double at_longest = 0;                     // share of jobs that the data cuts off there
  };
  double jobs_per_hour = 0;
  std::array<double, 24> hour_of_day{};  // rates relative to the mean
  std::array<double, 7> day_of_week{};   // from Monday
  // Share of the batches that have at most so many jobs; between two points the logarithm of the
  // size is linear in the share.
  std::vector<std::pair<double, double>> batch_sizes;
  double mean_batch = 0;  // worked out from batch_sizes
  Seconds mean_gap = 0;   // between the jobs of a batch
  double same_gpus = 0;   // share of jobs with the GPUs of their batch, the others draw their own
  double run_time_correlation = 0;  // of normal scores, between jobs of a batch
  std::vector<std::pair<GpuCount, double>> gpus;
  std::vector<RunTimes> run_times;
  Seconds longest = 0;
  std::vector<std::pair<std::string, double>> tenants;  // of batches; may be empty
};

// From the text of a table of traces/laws. Throws what nlohmann::json throws: the tables are ours.
CalibratedLaw ParseCalibratedLaw(std::string_view text);

// The least x with share(x) >= u under the mixture of `times`, u in (0, 1), held within 1 s and
// `longest`.
Seconds RunTimeAt(const CalibratedLaw::RunTimes& times, Seconds longest, double u);

// As Generate. Time 0 is a Monday's midnight, so that hours and days are known. The jobs of batch
// k depend on (seed, k) alone: at another rate they come earlier or later, but are the same.
Workload GenerateCalibrated(const CalibratedLaw& law, std::string_view name, double rate,
                            std::uint64_t seed, const LawLength& length);

}  // namespace allot
