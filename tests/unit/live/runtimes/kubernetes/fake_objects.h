#pragma once
// The rules by which the fake API server keeps objects: where they are, what a new one gets, what
// it refuses. They are those of Kubernetes 1.36 as far as allot meets them.

#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace allot {

// "/api/v1/namespaces/SPACE/KIND/NAME/SUB".
struct FakePath {
  std::string kind, space, name, sub;
  // Under which it is kept: "SPACE/NAME", or "NAME".
  std::string Key() const { return space.empty() ? name : space + "/" + name; }
};
FakePath ReadFakePath(const std::string& path);

struct FakeRefusal {
  long code;
  std::string reason, message;
  nlohmann::json ToJson() const;
};

void FillNew(const std::string& kind, int number, nlohmann::json* object);
bool Selected(const nlohmann::json& object, const FakePath& path,
              const std::map<std::string, std::string>& query);
std::string OwnerOf(const nlohmann::json& object);  // uid; "": none
int GraceOf(const nlohmann::json& pod);             // as its spec says
bool IsOnNode(const nlohmann::json& pod);           // and has not ended

// They throw FakeRefusal.
void CheckVersion(const nlohmann::json& object, const nlohmann::json& patch);
void CheckJobStatus(const nlohmann::json& before, const nlohmann::json& after);
// Also notes who owns spec.parallelism.
void ChangeJobSpec(const nlohmann::json& before, const std::map<std::string, std::string>& query,
                   nlohmann::json* after);

}  // namespace allot
