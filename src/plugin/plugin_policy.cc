#include "plugin/plugin_policy.h"

#include <dlfcn.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cluster/snapshot.h"
#include "core/error.h"
#include "core/json_text.h"
#include "core/strings.h"
#include "plugin/allot_plugin.h"
#include "sched/incremental.h"

namespace allot {
namespace {

using Json = nlohmann::ordered_json;

struct CloseLibrary {
  void operator()(void* library) const { ::dlclose(library); }
};
using Library = std::unique_ptr<void, CloseLibrary>;

// The functions that the daemon calls, wherever they are.
struct Functions {
  decltype(&allot_plugin_version) version = &allot_plugin_version;
  decltype(&allot_last_error) last_error = &allot_last_error;
  decltype(&allot_policy_create) create = &allot_policy_create;
  decltype(&allot_policy_destroy) destroy = &allot_policy_destroy;
  decltype(&allot_policy_reset) reset = &allot_policy_reset;
  decltype(&allot_policy_decide_json) decide = &allot_policy_decide_json;
};

template <typename Function>
void Find(void* library, const std::string& path, const char* name, Function* function) {
  void* found = ::dlsym(library, name);
  if (found == nullptr) throw UsageError("'{}' is no plugin: it has no '{}'", path, name);
  *function = reinterpret_cast<Function>(found);
}

Library Open(const std::string& path, Functions* functions) {
  Library library(::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (library == nullptr) throw UsageError("cannot load '{}': {}", path, ::dlerror());
  Find(library.get(), path, "allot_plugin_version", &functions->version);
  if (functions->version() < ALLOT_PLUGIN_VERSION) {
    throw UsageError("'{}' must be of plugin version {} or later, is of {}", path,
                     ALLOT_PLUGIN_VERSION, functions->version());
  }
  Find(library.get(), path, "allot_last_error", &functions->last_error);
  Find(library.get(), path, "allot_policy_create", &functions->create);
  Find(library.get(), path, "allot_policy_destroy", &functions->destroy);
  Find(library.get(), path, "allot_policy_reset", &functions->reset);
  Find(library.get(), path, "allot_policy_decide_json", &functions->decide);
  return library;
}

class PluginPolicy final : public Policy, public IncrementalPolicy {
 public:
  PluginPolicy(const std::string& path, const std::string& spec) {
    if (!path.empty()) library_ = Open(path, &functions_);
    Check(functions_.create(spec.c_str(), &policy_));
    info_.id = spec.substr(0, spec.find(':'));
    info_.summary = path.empty() ? "through the C interface" : "of " + path;
    info_.time_driven = true;  // its decisions say until when they hold
  }
  ~PluginPolicy() override { functions_.destroy(policy_); }
  PluginPolicy(const PluginPolicy&) = delete;
  PluginPolicy& operator=(const PluginPolicy&) = delete;

  const PolicyInfo& info() const override { return info_; }

  void OnEpisodeStart(const EpisodeContext&) override { Check(functions_.reset(policy_)); }

  void Decide(const Observation& observation, Allocation* allocation) override {
    allocation->Clear();
    holds_until_ = kNever;
    if (observation.cluster->total().gpus == 0) return;  // all nodes are down: no snapshot says so
    const char* decision = nullptr;
    Check(functions_.decide(policy_, TextOf(observation).c_str(), &decision));
    Read(observation, decision, allocation);
  }

  IncrementalPolicy* incremental() override { return this; }
  Seconds HoldsUntil(const Observation&, std::span<const std::int32_t>) override {
    return holds_until_;
  }

 private:
  void Check(std::int32_t code) const {
    if (code == ALLOT_OK) return;
    throw Error(static_cast<ExitCode>(code), functions_.last_error());
  }

  // Jobs have their numbers as names.
  static std::string TextOf(const Observation& o) {
    std::vector<std::string> names;
    names.reserve(o.job.size());
    for (const JobIndex job : o.job) names.push_back(std::to_string(job));
    Json snapshot = SnapshotJson(o, names);
    Json& ended = snapshot["ended"];  // also where none has
    if (ended.is_null()) ended = Json::array();
    for (std::size_t e = 0; e < o.events.ended.size(); ++e) {
      ended[e]["job"] = std::to_string(o.events.ended[e].job);
    }
    return JsonText(snapshot, -1);
  }

  static JobIndex NumberOf(const Json& name) {
    const auto number = ParseInteger(name.get<std::string>());
    if (!number) throw RunError("plugin: no job is named {}", name.dump());
    return static_cast<JobIndex>(*number);
  }

  void Read(const Observation& o, const char* text, Allocation* allocation) {
    try {
      const Json decision = Json::parse(text);
      if (const Json& until = decision.at("holds_until"); !until.is_null()) holds_until_ = until;
      for (const Json& job : decision.at("jobs")) {
        allocation->Add(NumberOf(job.at("job")), job.at("configuration"),
                        SharesFromJson(job, o.cluster->nodes().size()), job.at("relaunch"),
                        job.contains("partner") ? NumberOf(job["partner"]) : kAlone);
      }
    } catch (const Json::exception& error) {
      throw RunError("plugin: its decision cannot be read: {}", error.what());
    }
  }

  Library library_;  // outlives what is of it
  Functions functions_;
  allot_policy* policy_ = nullptr;
  PolicyInfo info_;
  Seconds holds_until_ = 0;  // of the last decision
};

}  // namespace

std::unique_ptr<Policy> MakePluginPolicy(const std::string& library, const std::string& spec) {
  return std::make_unique<PluginPolicy>(library, spec);
}

}  // namespace allot
