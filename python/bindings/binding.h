#pragma once
// The seam of the extension module: one file per part in this folder registers a BindingInfo.

#include <nanobind/nanobind.h>

#include <functional>
#include <string>

#include "core/registry.h"

namespace allot {

namespace nb = nanobind;
using namespace nb::literals;

struct BindingInfo {
  std::string id;
  std::string summary;
  std::function<void(nb::module_& module)> bind;
};

// An exception of allot.errors by its name.
inline nb::object PythonError(const char* name) {
  return nb::module_::import_("allot.errors").attr(name);
}

}  // namespace allot
