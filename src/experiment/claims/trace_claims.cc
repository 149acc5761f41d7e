// Weeks of real traces: networks trained in two weeks and tested in later ones.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/strings.h"
#include "experiment/claims/claims.h"

namespace allot {
namespace {

// A load and a size that training never saw.
struct Beyond {
  const char* name;
  int gpus;
  const char* load;
};

// Two weeks to train in and, after the split, those to test in.
struct ClaimedTrace {
  std::string name;
  std::string workload;
  std::string from;
  std::string split;
  std::vector<Beyond> beyond;
};
constexpr const char* kPhillySplit = "2017-11-13";
constexpr const char* kHeliosFrom = "89d";  // 2020-06-15
constexpr const char* kHeliosSplit = "103d";

// Real weeks: rigid or elastic jobs, lengths unknown, estimated or known.
ClaimFamily TraceFamily(const ClaimedTrace& trace, bool quick, bool rigid,
                        const std::string& lengths) {
  const std::string code = fmt::format("{} {}", rigid ? "R" : "E",
                                       lengths == "none"   ? "U"
                                       : lengths == "true" ? "K"
                                                           : "N");
  const auto spec = [&](const std::string& window, int gpus, const std::string& loads) {
    return fmt::format("trace:workload={},{},gpus={},loads={},rigid={},lengths={},speedups=power",
                       trace.workload, window, gpus, loads, rigid, lengths);
  };
  const std::string before = fmt::format("from={},to={}", trace.from, trace.split);
  ClaimFamily family;
  family.id = fmt::format("{}-{}", ToLower(trace.name), code);
  std::replace(family.id.begin(), family.id.end(), ' ', '-');
  family.profile = "default";
  family.training = {spec(before + ",random-start=true,span=3d", rigid ? 64 : 96, "0.7|1|1.3")};
  family.bases = lengths == "true" ? std::vector<std::string>{"remaining"}
                                   : std::vector<std::string>{"gittins"};
  if (lengths != "true") family.history = fmt::format("{}@{}", trace.workload, trace.split);
  family.method =
      "policy-gradient:baseline=arrivals,average-decay=0,noise-interval=12,sample-share=1,tau=0.1,"
      "half-life=1e18,"
      "scale-per-workload=true,learning-rate=0.0003,final-learning-rate=0.0001";
  family.objective = "tilted";
  family.gate = spec(before, 256, "0.7|1|1.3");
  family.iterations = quick ? 24 : rigid ? 40 : 120;
  family.guards = true;
  // Most of INDEX, of the Pollux utility (elastic) or of Tiresias (rigid), by load.
  struct Most {
    double index;
    double other;
  };
  const std::map<std::string, std::map<std::string, Most>> limits = {
      {"R U", {{"0.7", {1.005, 0}}, {"1", {1.005, 0.93}}, {"1.3", {1.005, 0.82}}}},
      {"R N", {{"0.7", {1.005, 0}}, {"1", {1.005, 0}}, {"1.3", {1.005, 0}}}},
      {"R K", {{"0.7", {1.005, 0}}, {"1", {1.005, 0}}, {"1.3", {1.005, 0}}}},
      {"E U", {{"0.7", {1.002, 0}}, {"1", {1.0, 0.97}}, {"1.3", {0.995, 0.96}}}},
      {"E N", {{"0.7", {1.002, 0}}, {"1", {0.995, 0.93}}, {"1.3", {0.99, 0.89}}}},
      {"E K", {{"0.7", {1.002, 0}}, {"1", {0.99, 0.89}}, {"1.3", {0.98, 0.84}}}}};
  const std::string other = rigid ? "tiresias" : "index:alpha=0,beta=2,kappa=0,first-bonus=100";
  const std::string after = fmt::format("from={}", trace.split);
  for (const auto& [load, most] : limits.at(code)) {
    family.settings.push_back({fmt::format("{} {} {}", trace.name, code, load),
                               spec(after, 256, load),
                               spec(before, 256, load),
                               {{other, most.other}, {"INDEX", most.index}, {"RANKED", 0}}});
  }
  family.ranked_in = family.settings[family.settings.size() / 2].tune;
  // Restarts that cost four times those of training.
  constexpr const char* kDear = ",restart-cost=120";
  for (const auto& [load, most] : limits.at(code)) {
    if (quick) break;
    family.settings.push_back({fmt::format("{} {} {}, restart 120 s", trace.name, code, load),
                               spec(after, 256, load) + kDear,
                               spec(before, 256, load) + kDear,
                               {{other, 0}, {"INDEX", most.index}, {"RANKED", 0}}});
  }
  constexpr double kMostBeyond = 1.005;
  for (const Beyond& beyond : trace.beyond) {
    if (quick || code != "E K") break;
    family.settings.push_back({fmt::format("{} {}, {}", trace.name, code, beyond.name),
                               spec(after, beyond.gpus, beyond.load),
                               spec(before, beyond.gpus, beyond.load),
                               {{"INDEX", kMostBeyond}},
                               1,
                               /*beyond=*/true});
  }
  return family;
}

std::vector<ClaimFamily> TraceFamilies(const ClaimOptions& options) {
  std::vector<ClaimFamily> families;
  std::vector<ClaimedTrace> traces = {{"Philly",
                                       options.philly,
                                       options.philly_from,
                                       kPhillySplit,
                                       {{"half load", 256, "0.5"},
                                        {"double load", 256, "2"},
                                        {"ten times the cluster", 960, "0.7"}}}};
  if (!options.helios.empty()) {
    // Its quiet weeks keep no more than some 400 GPUs busy.
    traces.push_back({"Helios",
                      options.helios,
                      kHeliosFrom,
                      kHeliosSplit,
                      {{"half load", 256, "0.5"}, {"double load", 128, "2"}}});
  }
  for (const ClaimedTrace& trace : traces) {
    for (const bool rigid : {true, false}) {
      for (const char* lengths : {"none", "noisy:0.5", "true"}) {
        if (options.quick && (rigid || std::string(lengths) != "true")) continue;
        families.push_back(TraceFamily(trace, options.quick, rigid, lengths));
      }
    }
  }
  return families;
}

ALLOT_REGISTER(ClaimsInfo, (ClaimsInfo{"trace", TraceFamilies}));

}  // namespace
}  // namespace allot
