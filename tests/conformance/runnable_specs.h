#pragma once
// Specs under which every registered policy can be made: one that loads a checkpoint gets one, near
// srtf and with random hidden weights, in a folder that goes with this object.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "agents/learned/index_agent.h"
#include "models/checkpoint.h"
#include "sched/policy.h"

namespace allot::testing_support {

class RunnableSpecs {
 public:
  RunnableSpecs()
      : checkpoint_(fmt::format("{}/allot-conformance-{}", testing::TempDir(), getpid())) {
    Checkpoint checkpoint;
    checkpoint.feature_version = kFeatureVersion;
    checkpoint.weights = IndexAgentAt({.alpha = 0.5F, .beta = 0.3F, .kappa = 0.3F}, 8, 1);
    checkpoint.state = nlohmann::json::object();
    checkpoint.config = nlohmann::json::object();
    SaveCheckpoint(checkpoint, checkpoint_);
  }
  ~RunnableSpecs() { std::filesystem::remove_all(checkpoint_); }

  std::string Of(const std::string& id) const {
    const auto& params = Registry<PolicyInfo>::Global().Get("policy", id).params;
    const bool loads = std::any_of(params.begin(), params.end(), [](const ParamSpec& param) {
      return param.name == "checkpoint";
    });
    return loads ? id + ":checkpoint=" + checkpoint_ : id;
  }

 private:
  std::string checkpoint_;
};

}  // namespace allot::testing_support
