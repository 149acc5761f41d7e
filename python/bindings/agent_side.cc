// The agent's side of decisions for trained policies in Python: an allot.Observation as the tensors
// that the environment gives, and actions of the environment back into allocations.

#include "envs/agent_side.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bindings/agent_options.h"
#include "bindings/binding.h"
#include "bindings/python_observation.h"
#include "core/error.h"

namespace allot {
namespace {

using Numbers = nb::ndarray<const float, nb::c_contig, nb::device::cpu>;

class PythonAgentSide {
 public:
  explicit PythonAgentSide(const nb::dict& options)
      : side_(AgentSideOptionsOf(options)), buffer_(side_.spec()), view_(buffer_.Row(0)) {}

  void Begin() { side_.OnEpisodeStart(); }

  // The tensors of a new decision; copies.
  nb::dict Look(const PythonObservation& observation) {
    side_.Begin(observation.get());
    return Tensors(observation);
  }

  nb::dict Tensors(const PythonObservation& observation) {
    side_.Observe(observation.get(), view_);
    nb::dict tensors;
    for (const TensorSpec& spec : side_.spec().observation) {
      tensors[spec.name.c_str()] = spec.dtype == "float32" ? Copy(spec, buffer_.floats(spec.name))
                                   : spec.dtype == "uint8"
                                       ? Copy(spec, buffer_.bytes(spec.name))
                                       : Copy(spec, buffer_.integers(spec.name));
    }
    return tensors;
  }

  // (whether the decision is whole, whether the action was illegal, then who runs: row,
  // configuration, [(node, (units of the first kind, of the second))]).
  nb::tuple Act(const PythonObservation& observation, const Numbers& action) {
    const Observation& o = observation.get();
    const AgentSide::Acted acted = side_.Act(o, {action.data(), action.size()}, &allocation_);
    nb::list entries;
    if (acted.decided) {
      for (const Allocation::Entry& entry : allocation_.entries()) {
        const auto row = std::find(o.job.begin(), o.job.end(), entry.job) - o.job.begin();
        nb::list nodes;
        for (const NodeShare& share : allocation_.shares(entry)) {
          nodes.append(nb::make_tuple(
              share.node, nb::make_tuple(int{share.units.of(0)}, int{share.units.of(1)})));
        }
        entries.append(nb::make_tuple(row, entry.configuration, nodes));
      }
    }
    return nb::make_tuple(acted.decided, acted.illegal, entries);
  }

 private:
  template <typename T>
  static nb::object Copy(const TensorSpec& spec, std::span<const T> values) {
    const std::vector<std::size_t> shape(spec.shape.begin(), spec.shape.end());
    return nb::cast(
        nb::ndarray<nb::numpy, const T>(values.data(), shape.size(), shape.data(), nb::handle()),
        nb::rv_policy::copy);
  }

  AgentSide side_;
  ObservationBuffer buffer_;
  ObservationView view_;
  Allocation allocation_;
};

void Bind(nb::module_& module) {
  nb::class_<PythonAgentSide>(module, "_AgentSide", "See allot.trained.")
      .def(nb::init<const nb::dict&>(), nb::arg("options"))
      .def("begin", &PythonAgentSide::Begin)
      .def("look", &PythonAgentSide::Look, nb::arg("observation"))
      .def("tensors", &PythonAgentSide::Tensors, nb::arg("observation"))
      .def("act", &PythonAgentSide::Act, nb::arg("observation"), nb::arg("action"));
}

ALLOT_REGISTER(BindingInfo, (BindingInfo{"agent_side", "what trained policies see and do", Bind}));

}  // namespace
}  // namespace allot
