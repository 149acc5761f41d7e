#pragma once
// Kubernetes' own controller of Jobs on a fake API server, for the Jobs that name no other one, as
// far as allot meets it: as many pods as spec.parallelism, of the lowest indexes that are free;
// which of too many go (indexes beyond spec.completions, then those without a node, then the
// youngest); suspension, success policies and back-off limits. It acts when the test says so.

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/unit/live/runtimes/kubernetes/fake_apiserver.h"

namespace allot {

class FakeJobController {
 public:
  explicit FakeJobController(FakeApiServer& server) : server_(server) {}

  void Act();

 private:
  using Json = nlohmann::json;
  struct Pods {
    std::vector<Json> active;
    std::map<int, int> succeeded;  // by index
    int failed = 0;
  };

  void Run(const Json& job);
  Pods PodsOf(const Json& job) const;
  void Create(const Json& job, const Pods& pods);
  void End(const Json& job, const char* announced, const char* type, const char* reason);
  void Delete(const Json& pod);

  FakeApiServer& server_;
  int created_ = 0;
};

}  // namespace allot
