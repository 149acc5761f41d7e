#pragma once
// The rights of a client of the fake API server, from a ClusterRole as it is installed.

#include <string>
#include <vector>

#include "tests/unit/live/runtimes/kubernetes/fake_objects.h"

namespace allot {

class FakeRights {
 public:
  FakeRights() = default;  // everything
  // Of the ClusterRoles and Roles in a file of YAML.
  explicit FakeRights(const std::string& file);

  // `method` "WATCH" for a watch.
  bool Allow(const std::string& method, const FakePath& path);
  bool Has(const std::string& what) const;  // in all namespaces
  // "verb resource" of what is allowed and was never asked for.
  std::vector<std::string> Unused() const;

 private:
  struct Right {
    std::string space, what;  // namespace, "": all; "verb resource"
    bool used = false;
  };
  std::vector<Right> rights_;  // empty: everything
};

}  // namespace allot
