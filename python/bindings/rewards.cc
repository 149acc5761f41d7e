// allot.register_reward: rewards of the environment in Python.

#include <nanobind/stl/string.h>

#include <cmath>
#include <map>
#include <mutex>

#include "bindings/binding.h"
#include "bindings/python_error.h"
#include "bindings/python_observation.h"
#include "core/error.h"
#include "envs/rewards/reward.h"

namespace allot {
namespace {

namespace nb = nanobind;

// By name. The registry only ever grows; a name that is registered again means the new function in
// environments that are made from then on, and in those that are.
class PythonRewards {
 public:
  static PythonRewards& Global() {
    static auto* rewards = new PythonRewards();  // outlives the interpreter
    return *rewards;
  }

  void Register(const std::string& name, nb::object function, const std::string& summary) {
    const std::lock_guard lock(mutex_);
    const bool known = functions_.contains(name);
    if (!known && Registry<RewardInfo>::Global().Find(name) != nullptr) {
      throw UsageError("reward '{}' is one of allot's own: take another name", name);
    }
    functions_[name] = Keep(std::move(function));
    if (known) return;
    Registry<RewardInfo>::Global().Add(
        {name, summary, [this, name](const StepFacts& step, const Observation& after) {
           return Compute(name, step, after);
         }});
  }

 private:
  double Compute(const std::string& name, const StepFacts& step, const Observation& after) {
    const nb::gil_scoped_acquire gil;  // first: who registers holds it, and waits for the mutex
    KeptObject function;
    {
      const std::lock_guard lock(mutex_);
      function = functions_.at(name);
    }
    TableColumns tables;
    const nb::object view =
        nb::cast(new PythonObservation(after, tables), nb::rv_policy::take_ownership);
    const auto where = [&] {
      return fmt::format("reward '{}', decision {} at {} s", name, after.decision, after.now);
    };
    try {
      const nb::object reward = (*function)(nb::cast(step, nb::rv_policy::copy), view);
      nb::cast<PythonObservation&>(view).End();
      const double number = nb::cast<double>(nb::float_(reward));
      if (!std::isfinite(number)) {
        throw RunError("{}: a reward must be finite, got {}", where(), number);
      }
      return number;
    } catch (const nb::python_error& error) {
      nb::cast<PythonObservation&>(view).End();
      ThrowPythonError(error, where());
    }
  }

  std::mutex mutex_;
  std::map<std::string, KeptObject> functions_;
};

void Bind(nb::module_& m) {
  nb::class_<StepFacts>(m, "StepFacts",
                        "What happened between the last two decisions: the first argument of a\n"
                        "reward in Python.")
      .def_ro("elapsed", &StepFacts::elapsed, "Time [s] between the two decisions.")
      .def_ro("job_seconds", &StepFacts::job_seconds,
              "Integral of the number of unfinished jobs [s]; sums to the total JCT.")
      .def_ro("gpu_seconds", &StepFacts::gpu_seconds, "Allocated GPUs x time [GPU s].")
      .def_ro("progress", &StepFacts::progress,
              "Sum over jobs of the share of their own work that was done.")
      .def_ro("slowdown_seconds", &StepFacts::slowdown_seconds,
              "Integral over unfinished jobs of 1 / (duration as requested).")
      .def_ro("arrived", &StepFacts::arrived, "Jobs that arrived.")
      .def_ro("finished", &StepFacts::finished, "Jobs that ended.");
  m.def(
      "_register_reward",
      [](const std::string& name, const nb::object& function, const std::string& summary) {
        PythonRewards::Global().Register(name, function, summary);
      },
      nb::arg("name"), nb::arg("function"), nb::arg("summary"));
}

ALLOT_REGISTER(BindingInfo, (BindingInfo{"rewards", "rewards in Python", Bind}));

}  // namespace
}  // namespace allot
