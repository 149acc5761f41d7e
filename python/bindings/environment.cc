// One environment, over memory that numpy sees without copies.

#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "bindings/binding.h"
#include "bindings/environment_arrays.h"
#include "bindings/environment_options.h"
#include "bindings/python_observation.h"
#include "envs/cluster_env.h"

namespace allot {
namespace {

using Texts = std::map<std::string, std::string>;
using ActionRows = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Actions = nb::ndarray<const float, nb::c_contig, nb::device::cpu>;

class Environment {
 public:
  Environment(const Texts& world, const nb::dict& options)
      : Environment(EnvironmentOptionsOf(world, options)) {}
  ~Environment() { EndShown(); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  nb::tuple Reset(std::optional<std::uint64_t> seed) {
    const Alone alone(&busy_);
    EndShown();
    const StepInfo info = [&] {
      const nb::gil_scoped_release release;
      const StepInfo first = env_.Reset(seed);
      env_.Observe(view_);
      return first;
    }();
    begun_ = true;
    return TupleOf(info);
  }

  nb::tuple Step(const Actions& action) { return StepWith({action.data(), action.size()}); }
  nb::tuple StepNumber(std::int64_t action) {
    const auto number = static_cast<float>(action);
    return StepWith({&number, 1});
  }

  // Goes to where these actions lead from the start of an episode: an action a row.
  nb::tuple Replay(std::uint64_t seed, const ActionRows& actions) {
    const Alone alone(&busy_);
    EndShown();
    const StepInfo info = [&] {
      const nb::gil_scoped_release release;
      StepInfo last = env_.Reset(seed);
      for (std::size_t row = 0; row < actions.shape(0); ++row) {
        last = env_.Step({actions.data() + row * actions.shape(1), actions.shape(1)}).info;
      }
      env_.Observe(view_);
      return last;
    }();
    begun_ = true;
    return TupleOf(info);
  }

  // What policies see (allot.Observation), until the next step or reset.
  nb::object Observe() {
    const Alone alone(&busy_);
    if (!shown_.is_valid()) {
      shown_ =
          nb::cast(new PythonObservation(observation(), tables_), nb::rv_policy::take_ownership);
    }
    return shown_;
  }

  const ClusterEnv& env() const { return env_; }
  const ObservationBuffer& buffer() const { return buffer_; }
  const SimulatedCluster& cluster() const {
    if (!begun_) throw UsageError("the environment is not reset: call reset first");
    return env_.cluster();
  }
  const Observation& observation() const {
    cluster();  // it is reset
    return env_.observation();
  }

 private:
  explicit Environment(EnvironmentOptions options)
      : env_(std::move(options.episodes), std::move(options.of_each)),
        buffer_(env_.spec()),
        view_(buffer_.Row(0)) {}

  void EndShown() {
    if (!shown_.is_valid()) return;
    nb::cast<PythonObservation&>(shown_).End();
    shown_.reset();
  }

  nb::tuple StepWith(std::span<const float> action) {
    const Alone alone(&busy_);
    if (!begun_) throw UsageError("step before reset: call reset first");
    EndShown();
    const StepResult result = [&] {
      const nb::gil_scoped_release release;
      const StepResult stepped = env_.Step(action);
      env_.Observe(view_);
      return stepped;
    }();
    return nb::make_tuple(result.reward, result.terminated, result.truncated, TupleOf(result.info));
  }

  ClusterEnv env_;
  ObservationBuffer buffer_;
  ObservationView view_;
  TableColumns tables_;
  nb::object shown_;  // the observation of now, once it was asked for
  bool begun_ = false;
  bool busy_ = false;
};

void Bind(nb::module_& module) {
  nb::class_<Environment>(module, "Environment", "One simulated cluster; see allot.envs.")
      .def(nb::init<const Texts&, const nb::dict&>(), "world"_a, "options"_a)
      .def("spec", [](const Environment& e) { return SpecOf(e.env().spec()); })
      .def("views",
           [](nb::handle_t<Environment> self) {
             const auto& e = nb::cast<const Environment&>(self);
             return ViewsOf(e.buffer(), e.env().spec(), 1, false, self);
           })
      .def("reset", &Environment::Reset, "seed"_a.none())
      .def("step", &Environment::Step, "action"_a)
      .def("replay", &Environment::Replay, "seed"_a, "actions"_a)
      .def("over", [](const Environment& e) { return e.env().over(); })
      .def("seed", [](const Environment& e) { return e.env().seed(); })
      .def("step_number", &Environment::StepNumber, "action"_a)
      .def("job_names", [](const Environment& e) { return NamesOfJobs(e.cluster()); })
      .def("nodes_in_use", [](const Environment& e) { return NodesInUse(e.observation()); })
      .def("observation", &Environment::Observe)
      .def("configurations",
           [](const Environment& e) {
             e.cluster();  // it is reset
             return ConfigurationsOf(e.env());
           })
      .def("job_records", [](const Environment& e) { return JobRecordsOf(e.cluster()); });
}

ALLOT_REGISTER(BindingInfo, (BindingInfo{"environment", "environments", Bind}));

}  // namespace
}  // namespace allot
