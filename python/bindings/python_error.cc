#include "bindings/python_error.h"

#include <nanobind/stl/string.h>

#include "core/interrupt.h"

namespace allot {
namespace {

namespace nb = nanobind;

}  // namespace

void ThrowPythonError(const nb::python_error& error, const std::string& where) {
  if (error.matches(PyExc_KeyboardInterrupt)) throw Error(ExitCode::kInterrupted, "interrupted");
  const nb::object cause = nb::borrow(error.value());
  const auto text =
      nb::cast<std::string>(nb::module_::import_("allot.policy").attr("_describe")(cause));
  throw PythonFailure(where.empty() ? text : fmt::format("{}: {}", where, text), Keep(cause));
}

void RaiseInPython(const Error& error) {
  if (error.code() == ExitCode::kInterrupted) {
    if (PyErr_CheckSignals() == 0) PyErr_SetNone(PyExc_KeyboardInterrupt);
    throw nb::python_error();
  }
  if (const auto* of_user = dynamic_cast<const PythonFailure*>(&error)) {
    const nb::object type = nb::module_::import_("allot").attr("RunError");
    const nb::object exception = type(error.what());
    exception.attr("__cause__") = of_user->cause();
    PyErr_SetObject(type.ptr(), exception.ptr());
    throw nb::python_error();
  }
  throw error;
}

std::string DefinedAt(nb::handle object) {
  return nb::cast<std::string>(nb::module_::import_("allot.policy").attr("_defined_at")(object));
}

}  // namespace allot
