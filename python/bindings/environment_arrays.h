#pragma once
// Memory of environments as numpy arrays, and facts of a simulated cluster for Python: shared by
// one environment and by pools.

#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bindings/binding.h"
#include "envs/cluster_env.h"

namespace allot {

template <typename T>
nb::object ArrayOf(T* data, std::vector<std::size_t> shape, nb::handle owner,
                   std::vector<std::int64_t> strides = {}) {
  return nb::cast(nb::ndarray<nb::numpy, T>(data, shape.size(), shape.data(), owner,
                                            strides.empty() ? nullptr : strides.data()),
                  nb::rv_policy::reference);
}

nb::dict SpecOf(const EnvSpec& spec);

// All rows of a buffer's tensors, by name, as arrays that the owner keeps alive. Read-only, but
// with the first row of a buffer that may be written to.
nb::dict ViewsOf(const ObservationBuffer& buffer, const EnvSpec& spec, std::size_t rows, bool batch,
                 nb::handle owner, const ObservationView* first = nullptr);

// Columns of infos that lie one behind the other, each at a stride.
nb::dict ColumnsOf(std::span<const StepInfo> infos, nb::handle owner);
// The same of one info, in the order of the columns.
nb::tuple TupleOf(const StepInfo& info);

nb::list NamesOfJobs(const SimulatedCluster& cluster);
// Tuples: id, submit, first start, finish, GPU-seconds, preemptions, restarts.
nb::list JobRecordsOf(const SimulatedCluster& cluster);
// GPUs of each node: in use and there.
nb::tuple NodesInUse(const Observation& observation);
// Tables of the jobs in the window (features/configuration_tensor.h): slots x configurations x
// columns, a new array.
nb::object ConfigurationsOf(const ClusterEnv& env);

// Of one thread at a time: others get a UsageError. Taken and given back with the GIL held.
class Alone {
 public:
  explicit Alone(bool* busy) : busy_(busy) {
    if (*busy) throw UsageError("another thread is stepping or resetting this environment");
    *busy = true;
  }
  ~Alone() { *busy_ = false; }
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;

 private:
  bool* busy_;
};

}  // namespace allot
