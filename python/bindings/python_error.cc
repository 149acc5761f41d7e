#include "bindings/python_error.h"

#include <nanobind/stl/string.h>

#include "bindings/binding.h"
#include "core/interrupt.h"

namespace allot {
namespace {

namespace nb = nanobind;

// The exception of Python that an exit code means.
nb::object ClassOf(ExitCode code) {
  switch (code) {
    case ExitCode::kUsage:
      return PythonError("UsageError");
    case ExitCode::kBadData:
      return PythonError("DataError");
    case ExitCode::kCheckFailed:
      return PythonError("CheckError");
    case ExitCode::kInterrupted:
      return nb::borrow(PyExc_KeyboardInterrupt);
    default:
      return PythonError("RunError");
  }
}

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
  throw;
}

void SetPythonError(const Error& error) {
  const nb::object type = ClassOf(error.code());
  const nb::object exception =
      type(nb::module_::import_("allot.errors").attr("in_keywords")(error.what()));
  if (const auto* of_user = dynamic_cast<const PythonFailure*>(&error)) {
    exception.attr("__cause__") = of_user->cause();
  }
  PyErr_SetObject(type.ptr(), exception.ptr());
}

std::string DefinedAt(nb::handle object) {
  return nb::cast<std::string>(nb::module_::import_("allot.policy").attr("_defined_at")(object));
}

}  // namespace allot
