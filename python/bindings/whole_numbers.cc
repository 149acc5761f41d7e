#include "bindings/whole_numbers.h"

#include <nanobind/stl/string.h>

#include <string>

#include "core/error.h"

namespace allot {

namespace nb = nanobind;

WholeNumbers WholeNumbersOf(nb::handle given, const char* what) {
  const nb::module_ numpy = nb::module_::import_("numpy");
  const nb::object array = numpy.attr("asarray")(given);
  const nb::object dtype = array.attr("dtype");
  const auto kind = nb::cast<std::string>(dtype.attr("kind"));
  const auto dimensions = nb::cast<int>(array.attr("ndim"));
  const bool none = nb::cast<std::size_t>(array.attr("size")) == 0;
  if (dimensions != 1 || (kind != "i" && kind != "u" && !none)) {
    throw UsageError("{} must be whole numbers in 1 dimension, got {} of dtype {} in {} dimensions",
                     what, nb::cast<std::string>(given.type().attr("__name__")),
                     nb::cast<std::string>(nb::str(nb::handle(dtype))), dimensions);
  }
  return nb::cast<WholeNumbers>(numpy.attr("ascontiguousarray")(array, numpy.attr("int64")));
}

}  // namespace allot
