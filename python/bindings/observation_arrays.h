#pragma once
// Vectors as numpy arrays: the templates of python_observation.h.

#include <utility>

#include "bindings/python_observation.h"

namespace allot {

template <typename T>
nanobind::handle PythonObservation::OwnerOf(const std::vector<T>& values) {
  Memory& memory = memory_[&values];
  if (!memory.owner.is_valid()) {
    memory.owner = nanobind::cast(new ArrayMemory(), nanobind::rv_policy::take_ownership);
    memory.leave = [&values] {
      auto kept = std::make_shared<std::vector<T>>(values);
      // Equal content before and after: whoever reads the observation sees no change.
      kept->swap(const_cast<std::vector<T>&>(values));
      return kept;
    };
  }
  return memory.owner;
}

template <typename T>
nanobind::object PythonObservation::Array(const char* name, const std::vector<T>& values) {
  nanobind::object& array = arrays_[name];
  if (!array.is_valid()) {
    if (values.empty()) {
      array = OwnArray(std::vector<T>());
    } else {
      using Column = nanobind::ndarray<nanobind::numpy, const T, nanobind::ndim<1>>;
      array = nanobind::cast(Column(values.data(), {values.size()}, OwnerOf(values)));
    }
  }
  return array;
}

template <typename T>
nanobind::object OwnArray(std::vector<T> values) {
  auto* kept = new std::vector<T>(std::move(values));
  kept->reserve(1);  // there is an address
  const nanobind::capsule owner(kept,
                                [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nanobind::cast(nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<1>>(
      kept->data(), {kept->size()}, owner));
}

}  // namespace allot
