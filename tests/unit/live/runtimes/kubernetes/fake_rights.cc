#include "tests/unit/live/runtimes/kubernetes/fake_rights.h"

#include <yaml-cpp/yaml.h>

#include <map>
#include <stdexcept>

namespace allot {

FakeRights::FakeRights(const std::string& file) {
  for (const YAML::Node& part : YAML::LoadAllFromFile(file)) {
    const std::string kind = part["kind"].as<std::string>();
    if (kind != "ClusterRole" && kind != "Role") continue;
    const std::string space =
        kind == "Role" ? part["metadata"]["namespace"].as<std::string>() : std::string();
    for (const YAML::Node& rule : part["rules"]) {
      for (const YAML::Node& resource : rule["resources"]) {
        for (const YAML::Node& verb : rule["verbs"]) {
          rights_.push_back(
              {space, verb.as<std::string>() + " " + resource.as<std::string>(), false});
        }
      }
    }
  }
  if (rights_.empty()) throw std::runtime_error("no role in " + file);
}

bool FakeRights::Allow(const std::string& method, const FakePath& path) {
  static const std::map<std::string, std::string> verbs = {
      {"POST", "create"}, {"PATCH", "patch"}, {"DELETE", "delete"}, {"WATCH", "watch"}};
  const auto known = verbs.find(method);
  const std::string verb = known != verbs.end() ? known->second
                           : path.name.empty()  ? "list"
                                                : "get";
  const std::string what = verb + " " + path.kind + (path.sub.empty() ? "" : "/" + path.sub);
  bool allowed = rights_.empty();
  for (Right& right : rights_) {
    if (right.what != what || (!right.space.empty() && right.space != path.space)) continue;
    allowed = right.used = true;
  }
  return allowed;
}

bool FakeRights::Has(const std::string& what) const {
  bool has = rights_.empty();
  for (const Right& right : rights_) has = has || (right.what == what && right.space.empty());
  return has;
}

std::vector<std::string> FakeRights::Unused() const {
  std::vector<std::string> unused;
  for (const Right& right : rights_) {
    if (!right.used) unused.push_back(right.what);
  }
  return unused;
}

}  // namespace allot
