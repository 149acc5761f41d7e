#include "tests/unit/live/runtimes/kubernetes/fake_objects.h"

#include <fmt/format.h>

#include <sstream>
#include <vector>

namespace allot {
namespace {

using Json = nlohmann::json;
using namespace nlohmann::literals;

bool HasCondition(const Json& job, const std::string& type) {
  const Json conditions = job.value("/status/conditions"_json_pointer, Json::array());
  for (const Json& one : conditions) {
    if (one.at("type") == type && one.at("status") == "True") return true;
  }
  return false;
}

int Number(const Json& job, const char* key) { return job["status"].value(key, 0); }

}  // namespace

FakePath ReadFakePath(const std::string& path) {
  std::vector<std::string> words;
  std::istringstream text(path);
  for (std::string word; std::getline(text, word, '/');) {
    if (!word.empty()) words.push_back(word);
  }
  std::size_t at = words.front() == "apis" ? 3 : 2;
  FakePath found;
  if (at + 1 < words.size() && words[at] == "namespaces") {
    found.space = words[at + 1];
    at += 2;
  }
  if (at < words.size()) found.kind = words[at];
  if (at + 1 < words.size()) found.name = words[at + 1];
  if (at + 2 < words.size()) found.sub = words[at + 2];
  return found;
}

Json FakeRefusal::ToJson() const {
  return {{"kind", "Status"},    {"apiVersion", "v1"}, {"metadata", Json::object()},
          {"status", "Failure"}, {"message", message}, {"reason", reason},
          {"code", code}};
}

void FillNew(const std::string& kind, int number, Json* object) {
  Json& meta = (*object)["metadata"];
  meta["uid"] = fmt::format("{:08x}-dac5-457b-8d2a-9126acbec2f6", number);
  if (!meta.contains("creationTimestamp")) meta["creationTimestamp"] = "2026-11-22T12:41:55Z";
  if (kind == "pods") (*object)["status"] = {{"phase", "Pending"}};
  if (kind == "jobs") (*object)["status"] = Json::object();
}

bool Selected(const Json& object, const FakePath& path,
              const std::map<std::string, std::string>& query) {
  const Json& meta = object.at("metadata");
  if (!path.space.empty() && meta.value("namespace", "") != path.space) return false;
  const auto selector = query.find("labelSelector");
  if (selector == query.end()) return true;
  const Json labels = meta.value("labels", Json::object());
  const std::size_t equals = selector->second.find('=');
  const std::string key = selector->second.substr(0, equals);
  if (!labels.contains(key)) return false;
  return equals == std::string::npos || labels.at(key) == selector->second.substr(equals + 1);
}

std::string OwnerOf(const Json& object) {
  const Json owners = object.value("/metadata/ownerReferences"_json_pointer, Json::array());
  return owners.empty() ? "" : owners.front().at("uid").get<std::string>();
}

int GraceOf(const Json& pod) {
  return pod.value("/spec/terminationGracePeriodSeconds"_json_pointer, 30);
}

bool IsOnNode(const Json& pod) {
  const std::string phase = pod.value("/status/phase"_json_pointer, "");
  return pod.value("/spec/nodeName"_json_pointer, "") != "" && phase != "Succeeded" &&
         phase != "Failed";
}

void CheckVersion(const Json& object, const Json& patch) {
  const Json wanted = patch.value("/metadata/resourceVersion"_json_pointer, Json());
  if (wanted.is_null() || wanted == object.at("metadata").at("resourceVersion")) return;
  throw FakeRefusal{409, "Conflict", "the object has been modified; please apply your changes"};
}

void ChangeJobSpec(const Json& before, const std::map<std::string, std::string>& query,
                   Json* after) {
  const Json& old_spec = before.at("spec");
  const Json& spec = after->at("spec");
  const Json completions = spec.value("completions", Json());
  const bool tandem = spec.value("completionMode", "") == "Indexed" &&
                      completions == spec.value("parallelism", Json(1));
  if (completions != old_spec.value("completions", Json()) && !tandem) {
    throw FakeRefusal{422, "Invalid",
                      "Job.batch is invalid: spec.completions: Invalid value: field is immutable"};
  }
  if (spec.value("template", Json()) != old_spec.value("template", Json())) {
    throw FakeRefusal{422, "Invalid",
                      "Job.batch is invalid: spec.template: Invalid value: field is immutable"};
  }
  if (spec.value("parallelism", Json()) == old_spec.value("parallelism", Json())) return;
  (*after)["metadata"]["managedFields"] = {
      {{"manager", query.contains("fieldManager") ? query.at("fieldManager") : "unknown"},
       {"fieldsV1", {{"f:spec", {{"f:parallelism", Json::object()}}}}}}};
}

void CheckJobStatus(const Json& before, const Json& after) {
  const auto refuse = [](const std::string& why) {
    throw FakeRefusal{422, "Invalid", "Job.batch is invalid: status: Invalid value: " + why};
  };
  const bool complete = HasCondition(after, "Complete");
  const bool failed = HasCondition(after, "Failed");
  const bool has_start = after["status"].contains("startTime");
  if (Number(after, "ready") > Number(after, "active")) refuse("more ready than active pods");
  for (const char* type : {"Complete", "Failed", "SuccessCriteriaMet", "FailureTarget"}) {
    if (HasCondition(before, type) && !HasCondition(after, type)) {
      refuse(fmt::format("{} may not be taken back", type));
    }
  }
  if (before["status"].contains("startTime") &&
      before["status"]["startTime"] != after["status"].value("startTime", Json())) {
    refuse("startTime may not change");
  }
  if (after["status"].contains("completionTime") && !complete)
    refuse("completionTime before Complete");
  if (complete && failed) refuse("both Complete and Failed");
  if (HasCondition(after, "SuccessCriteriaMet") && HasCondition(after, "FailureTarget")) {
    refuse("both SuccessCriteriaMet and FailureTarget");
  }
  if (!complete && !failed) return;
  if (!has_start) refuse("a finished Job must have a startTime");
  if (Number(after, "active") > 0) refuse("a finished Job has active pods");
  if (Number(after, "terminating") > 0) refuse("a finished Job has terminating pods");
  if (complete && !HasCondition(before, "SuccessCriteriaMet"))
    refuse("Complete without SuccessCriteriaMet");
  if (failed && !HasCondition(before, "FailureTarget")) refuse("Failed without FailureTarget");
  if (complete && !after["status"].contains("completionTime"))
    refuse("Complete without completionTime");
}

}  // namespace allot
