#pragma once
// A Python object that C++ code may copy and drop on any thread, with or without the GIL.

#include <nanobind/nanobind.h>

#include <memory>
#include <utility>

namespace allot {

using KeptObject = std::shared_ptr<nanobind::object>;

// Called with the GIL.
inline KeptObject Keep(nanobind::object object) {
  return {new nanobind::object(std::move(object)), [](nanobind::object* kept) {
            if (!Py_IsInitialized()) {
              (void)kept->release();  // the interpreter is gone, and the object with it
            } else {
              const nanobind::gil_scoped_acquire gil;
              kept->reset();
            }
            delete kept;
          }};
}

}  // namespace allot
