#pragma once
// An exception that Python code of a user has thrown, on its way through C++.

#include <nanobind/nanobind.h>

#include <string>

#include "bindings/kept_object.h"
#include "core/error.h"

namespace allot {

class PythonFailure : public Error {
 public:
  PythonFailure(const std::string& message, KeptObject cause)
      : Error(ExitCode::kRunFailed, message), cause_(std::move(cause)) {}
  const nanobind::object& cause() const { return *cause_; }

 private:
  KeptObject cause_;
};

// "where: ValueError: message (policy.py:12, in decide)" from what was thrown; KeyboardInterrupt is
// an interrupt. Called with the GIL.
[[noreturn]] void ThrowPythonError(const nanobind::python_error& error, const std::string& where);

// Called with the GIL, for what C++ code has thrown under nb::gil_scoped_release:
// allot.RunError from the user's exception, KeyboardInterrupt for an interrupt; others as they are.
[[noreturn]] void RaiseInPython(const Error& error);

// "policy.py:12": where a function, or the class of an object, is defined; "" where that is not
// known. Called with the GIL.
std::string DefinedAt(nanobind::handle object);

}  // namespace allot
