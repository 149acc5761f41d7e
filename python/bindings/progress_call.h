#pragma once
// Reports the progress of a call to a Python callable.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <string>

#include "bindings/kept_object.h"
#include "bindings/python_error.h"

namespace allot {

class ProgressCall {
 public:
  // Called with the GIL; None reports to nobody.
  explicit ProgressCall(const nanobind::object& call) {
    if (!call.is_none()) call_ = Keep(call);
  }

  // call(done, total, note). From any thread, one at a time; takes the GIL.
  void Tell(std::int64_t done, std::int64_t total, const std::string& note) const {
    if (call_ == nullptr) return;
    const nanobind::gil_scoped_acquire gil;
    try {
      (*call_)(done, total, note);
    } catch (const nanobind::python_error& error) {
      ThrowPythonError(error, "progress");
    }
  }

 private:
  KeptObject call_;
};

}  // namespace allot
