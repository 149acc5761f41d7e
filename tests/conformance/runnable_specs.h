#pragma once
// Specs under which every registered policy can be made: one that loads a checkpoint gets one of
// every registered network, untrained and small, in folders that go with this object.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "agents/learned/agent.h"
#include "models/checkpoint.h"
#include "sched/policy.h"
#include "tests/unit/core/temp_folder.h"

namespace allot::testing_support {

class RunnableSpecs {
 public:
  RunnableSpecs() {
    for (const std::string& network : Registry<NetworkInfo>::Global().ids()) {
      Checkpoint checkpoint;
      checkpoint.weights = MakeNetwork(network + ":hidden=8", 1);
      checkpoint.feature_version = NetworkOf(checkpoint.weights).feature_version;
      checkpoint.state = nlohmann::json::object();
      checkpoint.config = nlohmann::json::object();
      SaveCheckpoint(checkpoint, folder_ + "/" + network);
    }
  }

  // "las", "learned", ...; of those that load a checkpoint one a network: "learned/flat".
  static std::vector<std::string> Names() {
    std::vector<std::string> names;
    for (const std::string& id : Registry<PolicyInfo>::Global().ids()) {
      if (!Loads(id)) {
        names.push_back(id);
        continue;
      }
      for (const std::string& network : Registry<NetworkInfo>::Global().ids()) {
        names.push_back(fmt::format("{}/{}", id, network));
      }
    }
    return names;
  }

  // Of a test with such a name: letters, digits and '_'.
  static std::string TestName(const testing::TestParamInfo<std::string>& test) {
    std::string name = test.param;
    for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
    return name;
  }

  // Of a name, or of an id (then with the index network).
  std::string Of(const std::string& name) const {
    const auto slash = name.find('/');
    const std::string id = name.substr(0, slash);
    // They search or simulate ahead for long otherwise.
    if (Has(id, "budget")) return id + ":budget=4";
    if (Has(id, "choice-interval")) return id + ":choice-interval=4,horizon=4";
    if (!Loads(id)) return name;
    const std::string network = slash == std::string::npos ? "index" : name.substr(slash + 1);
    return id + ":checkpoint=" + folder_ + "/" + network;
  }

 private:
  static bool Has(const std::string& id, const std::string& wanted) {
    const auto& params = Registry<PolicyInfo>::Global().Get("policy", id).params;
    return std::any_of(params.begin(), params.end(),
                       [&](const ParamSpec& param) { return param.name == wanted; });
  }
  static bool Loads(const std::string& id) { return Has(id, "checkpoint"); }

  TempFolder temp_;
  std::string folder_ = temp_.string();
};

}  // namespace allot::testing_support
