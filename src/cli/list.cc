// allot list: all registries with their parameters, and the options of live jobs.

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "advice/advised_queue.h"
#include "agents/learned/agent.h"
#include "agents/training/objective.h"
#include "agents/training/trainer.h"
#include "cli/command.h"
#include "cluster/cluster_format.h"
#include "cluster/topology_format.h"
#include "core/error.h"
#include "envs/rewards/reward.h"
#include "envs/setting.h"
#include "experiment/score/score_task.h"
#include "fidelity/peer.h"
#include "live/runtimes/job_options.h"
#include "live/runtimes/runtime.h"
#include "perf/catalogue.h"
#include "perf/throughput_model.h"
#include "report/figure.h"
#include "sched/policy.h"
#include "sched/stages.h"
#include "sim/autoscaler.h"
#include "sim/belief.h"
#include "sim/checkpoint_rule.h"
#include "sim/fault_law.h"
#include "sim/job_process.h"
#include "sim/lender.h"
#include "sim/profile.h"
#include "sim/service_load.h"
#include "stages/rounds/sharing.h"
#include "sweep/preset.h"
#include "workload/arrival_law.h"
#include "workload/trace_reader.h"

namespace allot {
namespace {

using Json = nlohmann::ordered_json;

// The info of a policy that is made from its name alone, to which its stages may add. A policy that
// needs a parameter, such as a checkpoint, is described by its entry.
PolicyInfo WithDefaults(const PolicyInfo& entry) {
  try {
    return MakePolicy(entry.id)->info();
  } catch (const Error&) {
    return entry;
  }
}

template <typename Entry>
const Entry& WithDefaults(const Entry& entry) {  // of a stage: itself
  return entry;
}

template <typename Entry>
Json Describe() {
  Json list = Json::array();
  for (const Entry& entry : Registry<Entry>::Global().entries()) {
    Json item = {{"id", entry.id}, {"summary", entry.summary}};
    if constexpr (requires { entry.source; }) item["source"] = entry.source;
    if constexpr (requires { entry.validation; }) {  // settings of the splits
      item.update({{"train", entry.train}, {"validation", entry.validation}, {"test", entry.test}});
    }
    if constexpr (requires { entry.params; }) {
      item["params"] = Json::array();
      for (const ParamSpec& param : entry.params) {
        item["params"].push_back(
            {{"name", param.name}, {"default", param.default_value}, {"help", param.help}});
      }
      if constexpr (requires { entry.needs_lengths; }) {
        const auto& info = WithDefaults(entry);
        item["needs_lengths"] = info.needs_lengths;
        item["time_driven"] = info.time_driven;
      }
    }
    if constexpr (requires { entry.policies; }) {
      item["policies"] = Json::array();
      for (const auto& [name, spec] : entry.policies) item["policies"].push_back(name);
    }
    list.push_back(std::move(item));
  }
  return list;
}

Json DescribeJobOptions() {
  Json list = Json::array();
  for (const JobOption& option : JobOptions()) {
    list.push_back({{"id", option.key}, {"summary", option.summary}});
  }
  return list;
}

int List(const std::string& what, const GlobalOptions& globals) {
  Json all = {{"policies", Describe<PolicyInfo>()},
              {"admission", Describe<AdmissionInfo>()},
              {"ordering", Describe<OrderingInfo>()},
              {"sizing", Describe<SizingInfo>()},
              {"types", Describe<TypeAssignmentInfo>()},
              {"placement", Describe<PlacementInfo>()},
              {"formats", Describe<TraceFormat>()},
              {"cluster-formats", Describe<ClusterFormat>()},
              {"topology-formats", Describe<TopologyFormat>()},
              {"laws", Describe<WorkloadLaw>()},
              {"rewards", Describe<RewardInfo>()},
              {"profiles", Describe<ProfileInfo>()},
              {"peers", Describe<PeerInfo>()},
              {"sweeps", Describe<SweepPreset>()},
              {"settings", Describe<SettingInfo>()},
              {"tasks", Describe<ScoreTask>()},
              {"networks", Describe<NetworkInfo>()},
              {"methods", Describe<TrainerInfo>()},
              {"objectives", Describe<ObjectiveInfo>()},
              {"runtimes", Describe<RuntimeInfo>()},
              {"advice", Describe<AdviceTargetInfo>()},
              {"catalogues", Describe<CatalogueInfo>()},
              {"throughput", Describe<ThroughputModelInfo>()},
              {"beliefs", Describe<BeliefInfo>()},
              {"autoscalers", Describe<AutoscalerInfo>()},
              {"faults", Describe<FaultLawInfo>()},
              {"services", Describe<ServiceLawInfo>()},
              {"lenders", Describe<LenderInfo>()},
              {"checkpoints", Describe<CheckpointRuleInfo>()},
              {"progress", Describe<ProcessInfo>()},
              {"sharing", Describe<SharingInfo>()},
              {"figures", Describe<FigureInfo>()},
              {"job-options", DescribeJobOptions()}};
  if (!what.empty()) {
    std::vector<std::string> kinds;
    for (const auto& [kind, list] : all.items()) kinds.push_back(kind);
    if (!all.contains(what)) throw UsageError("unknown kind '{}'{}", what, DidYouMean(what, kinds));
    const Json only = all[what];
    all = Json::object();
    all[what] = only;
  }
  if (globals.json) {
    std::printf("%s\n", all.dump(2).c_str());
    return 0;
  }
  for (const auto& [kind, list] : all.items()) {
    std::printf("%s\n", kind.c_str());
    std::size_t width = 16;
    for (const Json& item : list) width = std::max(width, item["id"].get<std::string>().size());
    for (const Json& item : list) {
      const std::string source = item.value("source", "");
      std::printf("  %-*s %s%s%s\n", static_cast<int>(width), item["id"].get<std::string>().c_str(),
                  item["summary"].get<std::string>().c_str(),
                  item.value("needs_lengths", false) ? " [uses length estimates]" : "",
                  source.empty() ? "" : fmt::format(" ({})", source).c_str());
      if (item.contains("policies") && !item["policies"].empty()) {
        std::string names;
        for (const Json& name : item["policies"]) names += " " + name.get<std::string>();
        std::printf("      policies of this profile:%s\n", names.c_str());
      }
      if (!item.contains("params")) continue;
      for (const Json& param : item["params"]) {
        const std::string value = param["default"];
        std::printf("      %-20s %s%s\n", param["name"].get<std::string>().c_str(),
                    param["help"].get<std::string>().c_str(),
                    value.empty() ? "" : fmt::format(" [{}]", value).c_str());
      }
    }
    std::printf("\n");
  }
  return 0;
}

ALLOT_REGISTER(CommandInfo,
               (CommandInfo{
                   "list",
                   "policies, stages, trace formats, rewards and profiles, with their parameters",
                   [](CommandLine& line, const GlobalOptions& globals) {
                     auto what = std::make_shared<std::string>();
                     line.Option("kind", *what, "only this kind, e.g. policies");
                     return [what, &globals] { return List(*what, globals); };
                   },
                   /*needs_torch=*/true}));

}  // namespace
}  // namespace allot
