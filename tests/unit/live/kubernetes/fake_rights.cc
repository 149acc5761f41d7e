#include "tests/unit/live/kubernetes/fake_rights.h"

#include <yaml-cpp/yaml.h>

#include <map>
#include <stdexcept>

namespace allot {

FakeRights::FakeRights(const std::string& file) {
  for (const YAML::Node& part : YAML::LoadAllFromFile(file)) {
    if (part["kind"].as<std::string>() != "ClusterRole") continue;
    for (const YAML::Node& rule : part["rules"]) {
      for (const YAML::Node& resource : rule["resources"]) {
        for (const YAML::Node& verb : rule["verbs"]) {
          allowed_.insert(verb.as<std::string>() + " " + resource.as<std::string>());
        }
      }
    }
    return;
  }
  throw std::runtime_error("no ClusterRole in " + file);
}

bool FakeRights::Allow(const std::string& method, const FakePath& path) const {
  static const std::map<std::string, std::string> verbs = {
      {"POST", "create"}, {"PATCH", "patch"}, {"DELETE", "delete"}, {"WATCH", "watch"}};
  const auto known = verbs.find(method);
  const std::string verb = known != verbs.end() ? known->second
                           : path.name.empty()  ? "list"
                                                : "get";
  const std::string resource = path.kind + (path.sub.empty() ? "" : "/" + path.sub);
  return allowed_.empty() || allowed_.contains(verb + " " + resource);
}

}  // namespace allot
