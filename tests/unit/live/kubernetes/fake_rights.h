#pragma once
// The rights of a client of the fake API server, from a ClusterRole as it is installed.

#include <set>
#include <string>

#include "tests/unit/live/kubernetes/fake_objects.h"

namespace allot {

class FakeRights {
 public:
  FakeRights() = default;  // everything
  // Of the first ClusterRole in a file of YAML.
  explicit FakeRights(const std::string& file);

  // `method` "WATCH" for a watch.
  bool Allow(const std::string& method, const FakePath& path) const;

 private:
  std::set<std::string> allowed_;  // "verb resource"; empty: everything
};

}  // namespace allot
