#include "plugin/plugin_policy.h"

#include <dlfcn.h>

#include <utility>
#include <vector>

#include "core/error.h"
#include "core/index.h"
#include "plugin/allot_plugin.h"
#include "plugin/snapshot_arrays.h"
#include "sched/incremental.h"

namespace allot {
namespace {

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
  decltype(&allot_policy_decide) decide = &allot_policy_decide;
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
  Find(library.get(), path, "allot_policy_decide", &functions->decide);
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
    const allot_decision* decision = nullptr;
    Check(functions_.decide(policy_, &arrays_.Of(observation), &decision));
    Read(*decision, allocation);
    holds_until_ = decision->holds_until;
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

  void Read(const allot_decision& decision, Allocation* allocation) {
    allocation->Clear();
    for (std::int32_t j = 0; j < decision.job_count; ++j) {
      shares_.clear();
      for (std::int32_t i = decision.share_begin[j]; i < decision.share_begin[j + 1]; ++i) {
        NodeShare share{.node = decision.share_node[i], .gpus = decision.share_gpus[i]};
        for (std::size_t k = 0; k < kMaxUnitKinds; ++k) {
          const std::int32_t units = decision.share_units[2 * At(i) + k];
          if (units < 0 || units > kMaxGpusPerJob) {
            throw RunError("plugin: job {}: {} units of kind {}", decision.job[j], units, k);
          }
          share.units.Set(k, units);
        }
        shares_.push_back(share);
      }
      allocation->Add(decision.job[j], decision.configuration[j], shares_,
                      decision.relaunch[j] != 0);
    }
  }

  Library library_;  // outlives what is of it
  Functions functions_;
  allot_policy* policy_ = nullptr;
  PolicyInfo info_;
  Seconds holds_until_ = 0;  // of the last decision
  SnapshotArrays arrays_;
  std::vector<NodeShare> shares_;
};

}  // namespace

std::unique_ptr<Policy> MakePluginPolicy(const std::string& library, const std::string& spec) {
  return std::make_unique<PluginPolicy>(library, spec);
}

}  // namespace allot
