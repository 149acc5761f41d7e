#pragma once
// The files that specs of registered things name, inside the parameters of their parts too.

#include <string>
#include <vector>

#include "core/nested_spec.h"
#include "core/params.h"
#include "core/registry.h"

namespace allot {

// Of "NAME:key=value,...". Nothing for a name that is not registered.
template <typename Info>
std::vector<std::string> FilesOfSpec(const std::string& spec) {
  const NamedParams named = ParseNamedParams(spec);
  const Info* const info = Registry<Info>::Global().Find(named.name);
  return info == nullptr ? std::vector<std::string>{} : FilesOfParams(info->params, named.given);
}

// Of a part as parameters name it, "NAME/key=value/..."; "" names none.
template <typename Info>
std::vector<std::string> FilesOfPart(const std::string& value) {
  return value.empty() ? std::vector<std::string>{} : FilesOfSpec<Info>(NestedSpec(value));
}

}  // namespace allot
