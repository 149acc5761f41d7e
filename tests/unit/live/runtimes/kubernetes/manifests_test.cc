// deploy/kubernetes: what must fit together does. Whether rights are enough and none too many is in
// the conformance suite and bad_input_test.cc.

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/strings.h"

namespace allot {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolder = ALLOT_SOURCE_DIR "/deploy/kubernetes";

std::string TextOf(const YAML::Node& node) { return node.as<std::string>(); }

class Manifests : public testing::Test {
 protected:
  Manifests() {
    const YAML::Node listed = YAML::LoadFile(std::string(kFolder) + "/kustomization.yaml");
    for (const YAML::Node& file : listed["resources"]) Load(TextOf(file));
    Load("components/metrics/monitor.yaml");
  }
  void Load(const std::string& file) {
    files_.push_back(file);
    for (const YAML::Node& one : YAML::LoadAllFromFile(std::string(kFolder) + "/" + file)) {
      objects_[TextOf(one["kind"])].push_back(one);
    }
  }
  const YAML::Node& Only(const std::string& kind) const {
    const auto& found = objects_.at(kind);
    EXPECT_EQ(found.size(), 1U) << kind;
    return found.front();
  }
  YAML::Node Pod() const { return Only("Deployment")["spec"]["template"]; }
  YAML::Node Container() const { return Pod()["spec"]["containers"][0]; }
  // The daemon's argument behind `option`.
  std::string Argument(const std::string& option) const {
    bool next = false;
    for (const YAML::Node& word : Container()["args"]) {
      if (next) return TextOf(word);
      next = TextOf(word) == option;
    }
    return "";
  }
  // KEY of --runtime kubernetes:KEY=VALUE,...
  std::string Parameter(const std::string& key) const {
    const std::string given = Argument("--runtime").substr(std::string("kubernetes:").size());
    for (const std::string_view pair : Split(given, ',')) {
      if (pair.starts_with(key + "=")) return std::string(pair.substr(key.size() + 1));
    }
    return "";
  }
  std::string PortNamed(const std::string& name) const {
    for (const YAML::Node& port : Container()["ports"]) {
      if (TextOf(port["name"]) == name) return TextOf(port["containerPort"]);
    }
    return "none named " + name;
  }

  std::vector<std::string> files_;
  std::map<std::string, std::vector<YAML::Node>> objects_;
};

void ExpectSelected(const YAML::Node& selector, const YAML::Node& labels) {
  EXPECT_GT(selector.size(), 0U);
  for (const auto& pair : selector) {
    ASSERT_TRUE(labels[TextOf(pair.first)]) << TextOf(pair.first);
    EXPECT_EQ(TextOf(pair.second), TextOf(labels[TextOf(pair.first)]));
  }
}

TEST_F(Manifests, EveryFileIsInstalled) {
  std::size_t there = 0;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    const fs::path& path = entry.path();
    there += path.extension() == ".yaml" && path.stem() != "kustomization" ? 1 : 0;
  }
  EXPECT_EQ(there + 1, files_.size());  // and the monitor
}

TEST_F(Manifests, ObjectsAreInOneNamespace) {
  const std::string space = TextOf(Only("Namespace")["metadata"]["name"]);
  for (const auto& [kind, objects] : objects_) {
    for (const YAML::Node& one : objects) {
      const YAML::Node in = one["metadata"]["namespace"];
      EXPECT_TRUE(!in || TextOf(in) == space) << kind;
    }
  }
}

TEST_F(Manifests, SelectorsAndPortsMeet) {
  const YAML::Node labels = Pod()["metadata"]["labels"];
  ExpectSelected(Only("Deployment")["spec"]["selector"]["matchLabels"], labels);
  const YAML::Node& service = Only("Service");
  ExpectSelected(service["spec"]["selector"], labels);
  for (const YAML::Node& port : service["spec"]["ports"]) {
    EXPECT_EQ(PortNamed(TextOf(port["targetPort"])), TextOf(port["port"]));
  }
  const YAML::Node& policy = Only("NetworkPolicy");
  ExpectSelected(policy["spec"]["podSelector"]["matchLabels"], labels);
  for (const YAML::Node& rule : policy["spec"]["ingress"]) {
    for (const YAML::Node& port : rule["ports"]) {
      EXPECT_FALSE(PortNamed(TextOf(port["port"])).starts_with("none"));
    }
  }
  const YAML::Node& monitor = Only("ServiceMonitor");
  ExpectSelected(monitor["spec"]["selector"]["matchLabels"], service["metadata"]["labels"]);
  EXPECT_EQ(Argument("--metrics"),
            "tcp:0.0.0.0:" + PortNamed(TextOf(monitor["spec"]["endpoints"][0]["port"])));
  EXPECT_EQ(TextOf(Container()["readinessProbe"]["tcpSocket"]["port"]), "workers");
}

TEST_F(Manifests, TheDaemonIsToldWhereItIs) {
  const YAML::Node service = Only("Service")["metadata"];
  EXPECT_EQ(Parameter("listen"), "tcp:0.0.0.0:" + PortNamed("workers"));
  EXPECT_EQ(Parameter("address"), TextOf(service["name"]) + "." + TextOf(service["namespace"]) +
                                      ".svc:" + PortNamed("workers"));
  const std::string lease = Parameter("lease");
  EXPECT_EQ(lease.substr(0, lease.find('/')), TextOf(Only("Role")["metadata"]["namespace"]));
  std::map<std::string, std::string> volume_at;
  for (const YAML::Node& mount : Container()["volumeMounts"]) {
    volume_at[TextOf(mount["mountPath"])] = TextOf(mount["name"]);
  }
  EXPECT_EQ(volume_at[fs::path(Parameter("key")).parent_path()], "key");
  const YAML::Node variable = Container()["env"][0];
  EXPECT_EQ(TextOf(variable["name"]), "ALLOT_STATE");
  EXPECT_EQ(volume_at[fs::path(TextOf(variable["value"])).parent_path()], "state");
}

TEST_F(Manifests, RightsAreThoseOfTheDaemonsAccount) {
  const std::string account = TextOf(Only("ServiceAccount")["metadata"]["name"]);
  const std::string space = TextOf(Only("ServiceAccount")["metadata"]["namespace"]);
  EXPECT_EQ(TextOf(Pod()["spec"]["serviceAccountName"]), account);
  for (const char* kind : {"ClusterRole", "Role"}) {
    const YAML::Node& binding = Only(std::string(kind) + "Binding");
    EXPECT_EQ(TextOf(binding["roleRef"]["kind"]), kind);
    EXPECT_EQ(TextOf(binding["roleRef"]["name"]), TextOf(Only(kind)["metadata"]["name"]));
    EXPECT_EQ(TextOf(binding["subjects"][0]["name"]), account);
    EXPECT_EQ(TextOf(binding["subjects"][0]["namespace"]), space);
  }
  const auto& policies = objects_.at("ValidatingAdmissionPolicy");
  const auto& bindings = objects_.at("ValidatingAdmissionPolicyBinding");
  const std::string user = "system:serviceaccount:" + space + ":" + account;
  ASSERT_EQ(policies.size(), bindings.size());
  for (std::size_t i = 0; i < policies.size(); ++i) {
    const std::string who = TextOf(policies[i]["spec"]["matchConditions"][0]["expression"]);
    EXPECT_NE(who.find(user), std::string::npos) << who;
    EXPECT_EQ(TextOf(bindings[i]["spec"]["policyName"]), TextOf(policies[i]["metadata"]["name"]));
  }
}

TEST_F(Manifests, TheDaemonHasNoRightsOnItsNode) {
  const YAML::Node pod = Pod()["spec"]["securityContext"];
  EXPECT_TRUE(pod["runAsNonRoot"].as<bool>());
  const YAML::Node own = Container()["securityContext"];
  EXPECT_FALSE(own["allowPrivilegeEscalation"].as<bool>());
  EXPECT_TRUE(own["readOnlyRootFilesystem"].as<bool>());
  EXPECT_EQ(TextOf(own["capabilities"]["drop"][0]), "ALL");
}

}  // namespace
}  // namespace allot
