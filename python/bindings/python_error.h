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

// Called with the GIL while `error`, which C++ code has thrown under nb::gil_scoped_release, is
// handled: KeyboardInterrupt for an interrupt; others as they are.
[[noreturn]] void RaiseInPython(const Error& error);

// Sets the exception of Python that an error means, with options in its message as keywords; one of
// a user's code as allot.RunError with the user's exception as its __cause__. Called with the GIL.
void SetPythonError(const Error& error);

// "policy.py:12": where a function, or the class of an object, is defined; "" where that is not
// known. Called with the GIL.
std::string DefinedAt(nanobind::handle object);

}  // namespace allot
