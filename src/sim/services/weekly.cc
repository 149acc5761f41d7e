// Two language-model services with a rhythm of days and weeks, after a week each of Azure's coding
// and conversation services in May 2024 (Stojkovic et al., "DynamoLLM", HPCA'25; requests a minute,
// read off the plots of AzureLLMInferenceDataset2024.ipynb in github.com/Azure/AzurePublicDataset,
// CC BY 4.0). Only these hourly means are recorded; levels of days, noise and surges are drawn on
// top. Four weeks before the workload are known; time 0 is a Monday, 0:00.

#include <algorithm>
#include <array>
#include <cmath>

#include "core/rng.h"
#include "sim/service_load.h"

namespace allot {
namespace {

constexpr std::size_t kHours = 168;
constexpr std::size_t kStepsPerHour = 12;
constexpr std::size_t kKnownWeeks = 4;

// Thousandths of the mean, by hour of the week from Monday on.
constexpr std::array<int, kHours> kCoding = {
    659,  672,  660,  579,  500,  393,  323,  316,  293,  290,  290,  457,  781,  1442, 2011, 2300,
    2172, 2436, 2705, 2800, 2603, 2038, 1567, 1114, 1000, 1051, 941,  662,  542,  429,  358,  286,
    267,  314,  335,  481,  910,  1667, 2398, 2417, 2125, 2621, 2958, 3000, 2697, 1944, 1481, 1114,
    1012, 890,  829,  754,  583,  443,  406,  322,  315,  278,  335,  466,  856,  1483, 2075, 2300,
    2366, 2542, 2896, 2990, 2934, 2197, 1432, 1089, 937,  822,  865,  716,  523,  490,  417,  342,
    314,  316,  323,  467,  909,  1399, 2056, 2322, 2206, 2530, 2818, 2895, 2657, 1996, 1410, 1090,
    765,  778,  653,  574,  444,  381,  333,  286,  260,  286,  308,  427,  792,  1261, 1843, 1942,
    1824, 2046, 2071, 2215, 2010, 1491, 1069, 729,  599,  541,  479,  466,  378,  306,  263,  182,
    146,  115,  100,  177,  272,  365,  435,  482,  522,  590,  630,  606,  565,  509,  578,  482,
    478,  511,  455,  441,  372,  302,  238,  154,  124,  124,  129,  149,  225,  285,  371,  437,
    469,  476,  556,  567,  650,  671,  620,  613};
constexpr std::array<int, kHours> kConversation = {
    992,  1101, 1089, 894,  926,  1003, 1153, 1210, 1267, 1164, 1164, 1235, 1338, 1506, 1665, 1527,
    1335, 1282, 1252, 1250, 1136, 938,  919,  976,  1076, 1132, 1144, 939,  946,  1013, 1171, 1305,
    1258, 1251, 1168, 1289, 1451, 1551, 1656, 1540, 1421, 1339, 1420, 1303, 1163, 1042, 893,  855,
    1002, 1078, 1028, 856,  903,  968,  1113, 1188, 1214, 1232, 1121, 1184, 1352, 1478, 1510, 1430,
    1289, 1226, 1275, 1207, 1056, 804,  763,  850,  992,  1142, 1096, 932,  904,  988,  1213, 1272,
    1390, 1322, 1060, 1108, 1240, 1478, 1519, 1365, 1256, 1236, 1238, 1135, 1010, 893,  781,  861,
    1027, 1093, 1076, 898,  892,  1002, 1096, 1223, 1180, 1196, 1063, 1055, 1170, 1284, 1286, 1229,
    1132, 1114, 978,  916,  878,  736,  611,  579,  572,  623,  638,  527,  520,  557,  552,  610,
    658,  576,  623,  682,  773,  767,  823,  860,  834,  769,  694,  664,  690,  640,  585,  563,
    564,  589,  557,  496,  465,  488,  497,  578,  568,  548,  554,  635,  653,  808,  751,  799,
    725,  756,  764,  706,  680,  670,  639,  793};

// The mean at this step of the week, between the middles of hours on a line.
double MeanAt(const std::array<int, kHours>& hours, std::size_t step) {
  const double hour = (static_cast<double>(step) + 0.5) / kStepsPerHour - 0.5 + kHours;
  const auto before = static_cast<std::size_t>(hour);
  const double part = hour - static_cast<double>(before);
  const double from = hours[before % kHours];
  const double to = hours[(before + 1) % kHours];
  return (from + part * (to - from)) / 1000;
}

ServiceLoad MakeWeeklyLoad(const Params& params, const ServiceSpan& span) {
  const double coding = params.Number("coding");
  const double days = params.Number("days");
  const double noise = params.Number("noise");
  const double surges_per_step = params.Number("surges") / (24 * kStepsPerHour);
  const std::size_t known = kKnownWeeks * ServiceLoad::kStepsPerWeek;
  const auto steps = known + static_cast<std::size_t>(span.horizon / ServiceLoad::kStep) + 1;
  Rng rng(span.seed, "service-load");
  std::vector<double> load;
  load.reserve(steps);
  double of_day = 0;
  double level = 0;
  double noisy = 0;
  double surge = 0;
  std::size_t surge_ends = 0;
  for (std::size_t step = 0; step < steps; ++step) {
    if (step % (24 * kStepsPerHour) == 0) {
      of_day = days * rng.Normal();
      level += 0.125 * days * rng.Normal();
    }
    noisy = 0.95 * noisy + noise * rng.Normal();
    if (step >= surge_ends) {
      surge = 0;
      if (rng.Uniform() < surges_per_step) {
        surge_ends = step + static_cast<std::size_t>(kStepsPerHour * rng.Uniform(1, 3));
        surge = rng.Uniform(0.125, 0.375);
      }
    }
    const std::size_t of_week = step % ServiceLoad::kStepsPerWeek;
    const double mean =
        coding * MeanAt(kCoding, of_week) + (1 - coding) * MeanAt(kConversation, of_week);
    load.push_back(mean * std::exp(of_day + level + noisy) * (1 + surge));
  }
  // The highest demand of the known weeks, but for one step in two thousand.
  std::vector<double> sorted(load.begin(), load.begin() + static_cast<std::ptrdiff_t>(known));
  std::sort(sorted.begin(), sorted.end());
  const double highest = sorted[static_cast<std::size_t>(0.9995 * static_cast<double>(known))];
  const double scale = params.Number("peak") * span.gpus / highest;
  for (double& gpus : load) gpus = std::min<double>(span.gpus, std::ceil(gpus * scale));
  return {std::move(load), known};
}

ALLOT_REGISTER(ServiceLawInfo,
               (ServiceLawInfo{
                   .id = "weekly",
                   .summary = "two language-model services with a rhythm of days and weeks",
                   .params = {{"peak", "0.92", "highest demand over the GPUs of the cluster", 0, 1},
                              {"coding", "0.5", "share of the service whose nights are idle", 0, 1},
                              {"days", "0.08", "by how much days differ, of the logarithm", 0, 10},
                              {"noise", "0.015", "the same of steps of five minutes", 0, 10},
                              {"surges", "0.5", "surges a day, of one to three hours", 0, 24}},
                   .make = MakeWeeklyLoad}));

}  // namespace
}  // namespace allot
