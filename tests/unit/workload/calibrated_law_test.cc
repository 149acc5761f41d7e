// Workloads of the calibrated laws against the numbers that the laws were made from: those shipped
// in traces/laws, and those that were measured (tests/data/calibration).

#include "workload/calibrated_law.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/file.h"
#include "workload/embedded_files.h"
#include "workload/job_rules.h"

namespace allot {
namespace {

using nlohmann::json;

constexpr int kJobs = 100'000;
constexpr int kSeeds = 2;  // bursts of hundreds of alike jobs make one workload a small sample
constexpr double kJoinGap = 60;  // s: of traces/make_laws.py

struct Case {
  std::string id;
  std::string_view table;
  const char* calibration;
};

const Case kCases[] = {
    {"philly", EmbeddedPhillyLaw(), "philly_calibration.json"},
    {"helios-venus", EmbeddedVenusLaw(), "helios_venus_calibration.json"},
};

json Shipped(const Case& law) { return json::parse(law.table); }

json Calibration(const Case& law) {
  const std::filesystem::path path =
      std::filesystem::path(ALLOT_TEST_DATA) / "calibration" / law.calibration;
  return json::parse(ReadTextFile(path.string()));
}

Workload Make(const std::string& id, double rate_factor, std::uint64_t seed, int jobs) {
  const auto& law = Registry<WorkloadLaw>::Global().Get("law", id);
  return Generate(law, rate_factor * RateOf(law, {}), seed, {jobs, 0});
}

// What the law makes, drawn once.
const std::vector<Workload>& Made(const Case& law) {
  static std::map<std::string, std::vector<Workload>> made;
  std::vector<Workload>& workloads = made[law.id];
  for (std::uint64_t seed = workloads.size(); seed < kSeeds; ++seed) {
    workloads.push_back(Make(law.id, 1, seed, kJobs));
  }
  return workloads;
}

double ShareAtMost(const std::vector<double>& values, double limit) {
  const auto below =
      std::count_if(values.begin(), values.end(), [limit](double value) { return value <= limit; });
  return static_cast<double>(below) / static_cast<double>(values.size());
}

std::vector<double> RunTimes(const Case& law, GpuCount from = 1, GpuCount to = kMostGpus) {
  std::vector<double> times;
  for (const Workload& workload : Made(law)) {
    for (const Job& job : workload.jobs) {
      if (job.gpus >= from && job.gpus <= to) times.push_back(job.duration);
    }
  }
  return times;
}

std::vector<double> Gaps(const Case& law) {
  std::vector<double> gaps;
  for (const Workload& workload : Made(law)) {
    for (std::size_t i = 1; i < workload.jobs.size(); ++i) {
      gaps.push_back(workload.jobs[i].submit - workload.jobs[i - 1].submit);
    }
  }
  return gaps;
}

std::vector<double> BatchSizes(const Case& law) {
  std::vector<double> sizes = {1};
  for (const double gap : Gaps(law)) {
    if (gap <= kJoinGap) {
      ++sizes.back();
    } else {
      sizes.push_back(1);
    }
  }
  return sizes;
}

// By hour from a Monday's midnight, the last and incomplete one left out.
std::vector<double> JobsAnHour(const Workload& workload) {
  std::vector<double> counts(static_cast<std::size_t>(workload.jobs.back().submit / 3600));
  for (const Job& job : workload.jobs) {
    const auto hour = static_cast<std::size_t>(job.submit / 3600);
    if (hour < counts.size()) ++counts[hour];
  }
  return counts;
}

std::vector<double> JobsAnHour(const Case& law) {
  std::vector<double> all;
  for (const Workload& workload : Made(law)) {
    const std::vector<double> counts = JobsAnHour(workload);
    all.insert(all.end(), counts.begin(), counts.end());
  }
  return all;
}

double Mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Mean rate of each of `count` periods of `hours` that follow each other, relative to all.
std::vector<double> Profile(const Case& law, std::size_t hours, std::size_t count) {
  std::vector<double> sum(count), number(count);
  for (const Workload& workload : Made(law)) {
    const std::vector<double> counts = JobsAnHour(workload);
    for (std::size_t hour = 0; hour < counts.size(); ++hour) {
      sum[hour / hours % count] += counts[hour];
      ++number[hour / hours % count];
    }
  }
  const double mean = Mean(JobsAnHour(law));
  for (std::size_t i = 0; i < count; ++i) sum[i] /= number[i] * mean;
  return sum;
}

// The share of `values` at most each of the data's quantiles {"p50": 25, ...} is about its name's.
void ExpectQuantiles(const std::vector<double>& values, const json& quantiles, double tolerance,
                     const std::string& what) {
  for (const auto& [name, value] : quantiles.items()) {
    if (name.front() != 'p') continue;
    const double share = std::stod(name.substr(1)) / 100;
    EXPECT_NEAR(ShareAtMost(values, value), share, tolerance)
        << what << ": the data's " << name << " is " << value;
  }
}

TEST(CalibratedLaw, TablesAreThoseOfTheCalibration) {
  for (const Case& law : kCases) {
    const json data = Calibration(law);
    SCOPED_TRACE(law.id);
    const json table = Shipped(law);
    EXPECT_EQ(table["jobs_per_hour"], data["arrivals_per_hour_mean"]);
    EXPECT_EQ(table["hour_of_day"], data["hour_of_day_multiplier"]);
    EXPECT_EQ(table["day_of_week"], data["day_of_week_multiplier_mon0"]);
    EXPECT_EQ(table["gpus"].size(), data["gpu_demand_prob"].size());
    for (const auto& entry : table["gpus"]) {
      EXPECT_EQ(entry[1], data["gpu_demand_prob"][std::to_string(entry[0].get<int>())]);
    }
  }
}

TEST(CalibratedLaw, HasTheRateOfTheData) {
  for (const Case& law : kCases) {
    EXPECT_NEAR(Mean(JobsAnHour(law)) / Shipped(law)["jobs_per_hour"].get<double>(), 1, 0.05)
        << law.id;
  }
}

TEST(CalibratedLaw, HasTheGpuDemandOfTheData) {
  for (const Case& law : kCases) {
    for (const auto& [gpus, share] :
         Shipped(law)["gpus"].get<std::vector<std::pair<GpuCount, double>>>()) {
      const auto jobs = static_cast<double>(RunTimes(law, gpus, gpus).size());
      EXPECT_NEAR(jobs / (kSeeds * kJobs), share, 0.01) << law.id << ": " << gpus << " GPUs";
    }
  }
}

TEST(CalibratedLaw, HasTheRunTimesOfTheData) {
  for (const Case& law : kCases) {
    ExpectQuantiles(RunTimes(law), Shipped(law)["measured"]["run_time_s"], 0.05, law.id);
  }
}

// How far from a quantile the share of `sample` may be: rare classes come in few batches, whose
// jobs are alike.
double Tolerance(const std::vector<double>& sample) {
  return static_cast<double>(sample.size()) < 0.05 * kSeeds * kJobs ? 0.15 : 0.07;
}

// The fits of the mixtures themselves are up to 0.055 off the data.
TEST(CalibratedLaw, HasTheRunTimesOfEachClassOfGpus) {
  const json data = Calibration(kCases[0]);
  const std::map<std::string, std::pair<GpuCount, GpuCount>> classes = {
      {"1", {1, 1}}, {"2", {2, 2}}, {"4", {3, 4}}, {"8", {5, 8}}, {"16+", {9, kMostGpus}}};
  for (const auto& [name, range] : classes) {
    const json& fit = data["duration_lognormal_mixture"]["fits"][name + "/all"];
    const std::vector<double> made = RunTimes(kCases[0], range.first, range.second);
    ExpectQuantiles(made, fit["empirical"], Tolerance(made), "GPUs " + name);
  }
}

TEST(CalibratedLaw, FollowsTheFitOfEachClassOfGpus) {
  for (const Case& law : kCases) {
    const CalibratedLaw table = ParseCalibratedLaw(law.table);
    GpuCount from = 1;
    for (const CalibratedLaw::RunTimes& times : table.run_times) {
      const std::vector<double> made = RunTimes(law, from, times.up_to);
      for (const double share : {0.1, 0.25, 0.5, 0.75, 0.9}) {
        EXPECT_NEAR(ShareAtMost(made, RunTimeAt(times, table.longest, share)), share,
                    Tolerance(made))
            << law.id << ": up to " << times.up_to << " GPUs";
      }
      from = times.up_to + 1;
    }
  }
}

// Batches may overlap, which those of the data by their definition do not: joined again they are
// somewhat larger.
TEST(CalibratedLaw, HasAboutTheBatchesOfTheData) {
  for (const Case& law : kCases) {
    const std::vector<double> sizes = BatchSizes(law);
    for (const auto& [share, size] :
         Shipped(law)["batches"]["sizes"].get<std::vector<std::pair<double, double>>>()) {
      EXPECT_NEAR(ShareAtMost(sizes, size), share, 0.15) << law.id << ": size " << size;
    }
  }
}

TEST(CalibratedLaw, HasAboutTheGapsOfTheData) {
  for (const Case& law : kCases) {
    ExpectQuantiles(Gaps(law), Shipped(law)["measured"]["gap_s"], 0.17, law.id);
  }
}

TEST(CalibratedLaw, FollowsHourAndWeekday) {
  for (const Case& law : kCases) {
    SCOPED_TRACE(law.id);
    const json table = Shipped(law);
    const std::vector<double> hours = Profile(law, 1, 24), days = Profile(law, 24, 7);
    for (std::size_t h = 0; h < 24; ++h) {
      EXPECT_NEAR(hours[h], table["hour_of_day"][h].get<double>(), 0.4) << "hour " << h;
    }
    for (std::size_t d = 0; d < 7; ++d) {
      EXPECT_NEAR(days[d], table["day_of_week"][d].get<double>(), 0.15) << "day " << d;
    }
  }
}

TEST(CalibratedLaw, OfVenusSleepsAtNight) {
  const std::vector<double> hours = Profile(kCases[1], 1, 24);
  EXPECT_GT(hours[15] + hours[16] + hours[17], 4 * (hours[4] + hours[5] + hours[6]));
}

TEST(CalibratedLaw, ComesInBursts) {
  for (const Case& law : kCases) {
    const std::vector<double> hours = JobsAnHour(law);
    ExpectQuantiles(hours, Shipped(law)["measured"]["jobs_an_hour"], 0.1, law.id);
    const double mean = Mean(hours);
    double squares = 0;
    for (const double jobs : hours) squares += (jobs - mean) * (jobs - mean);
    // 1 without bursts and hours; the data: 150 and 19.
    EXPECT_GT(squares / static_cast<double>(hours.size()) / mean, law.id == "philly" ? 75 : 10)
        << law.id;
  }
}

// So slow that batches do not overlap, which would interleave their jobs.
TEST(CalibratedLaw, MakesTheSameJobsAtAnotherRate) {
  const Workload slow = Make("philly", 1e-4, 7, 500), fast = Make("philly", 2e-4, 7, 500);
  ASSERT_GT(slow.jobs.back().submit, 1.5 * fast.jobs.back().submit);
  for (std::size_t i = 0; i < slow.jobs.size(); ++i) {
    ASSERT_EQ(slow.jobs[i].duration, fast.jobs[i].duration) << "job " << i;
    ASSERT_EQ(slow.jobs[i].gpus, fast.jobs[i].gpus) << "job " << i;
  }
}

TEST(CalibratedLaw, MakesTheSameBySeedAndElseOthers) {
  const Workload first = Make("helios-venus", 1, 1, 100), again = Make("helios-venus", 1, 1, 100),
                 other = Make("helios-venus", 1, 2, 100);
  const auto submits = [](const Workload& workload) {
    std::vector<Seconds> times;
    for (const Job& job : workload.jobs) times.push_back(job.submit);
    return times;
  };
  EXPECT_EQ(submits(first), submits(again));
  EXPECT_NE(submits(first), submits(other));
}

TEST(CalibratedLaw, MakesAsManyJobsAsAskedFor) {
  EXPECT_EQ(Make("philly", 1, 1, 777).jobs.size(), 777U);
}

}  // namespace
}  // namespace allot
