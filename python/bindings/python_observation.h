#pragma once
// An observation as Python sees it: a column is a numpy array over the memory of the simulator (or
// the daemon), made when it is asked for, read-only, without a copy.
//
// The view ends with the decision (of an environment: with the next step): asking it for anything
// later is a UsageError. Arrays may be kept: where Python still holds one at the end of the
// decision, the observation gets new memory of equal content and the array keeps the old one. So an
// array never changes, and none is copied that nobody keeps.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cluster/observation.h"

namespace allot {

// Configuration tables as numpy columns (allot.Table), which are copies, made once per content.
class TableColumns {
 public:
  nanobind::object Of(const ConfigurationTable& table);

 private:
  std::map<std::uint64_t, nanobind::object> tables_;  // by fingerprint
};

// What numpy arrays hold on to: after the decision the memory itself.
struct ArrayMemory {
  std::shared_ptr<void> kept;
};

class PythonObservation {
 public:
  // Both outlive the decision. The observation is no const object.
  PythonObservation(const Observation& observation, TableColumns& tables)
      : observation_(&observation), tables_(&tables), decision_(observation.decision) {}

  // UsageError once the decision is over.
  const Observation& get() const;

  // The array of that name, one element a row of `values`; the same object each time.
  template <typename T>
  nanobind::object Array(const char* name, const std::vector<T>& values);
  // Of where jobs run: nodes, units (n x 2), bit masks of GPUs.
  nanobind::object ShareArray(const char* name);
  nanobind::object Table(std::int32_t row);

  // The decision is over.
  void End();

 private:
  struct Memory {
    nanobind::object owner;                        // an ArrayMemory
    std::function<std::shared_ptr<void>()> leave;  // takes the memory out of the observation
  };
  template <typename T>
  nanobind::handle OwnerOf(const std::vector<T>& values);

  const Observation* observation_;
  TableColumns* tables_;
  std::int64_t decision_;
  std::map<const void*, Memory> memory_;            // by vector
  std::map<std::string, nanobind::object> arrays_;  // by name
};

// A fresh numpy array that owns its values.
template <typename T>
nanobind::object OwnArray(std::vector<T> values);

}  // namespace allot

#include "bindings/observation_arrays.h"
