#include "bindings/python_policy.h"

#include <nanobind/stl/string.h>

#include "bindings/binding.h"
#include "bindings/python_error.h"
#include "bindings/python_observation.h"
#include "bindings/request_of.h"
#include "cluster/validate.h"
#include "core/error.h"
#include "sched/policy_family.h"

namespace allot {
namespace {

namespace nb = nanobind;

// Ends the view however the decision ends.
class ViewOf {
 public:
  ViewOf(const Observation& observation, TableColumns& tables)
      : object_(
            nb::cast(new PythonObservation(observation, tables), nb::rv_policy::take_ownership)) {}
  ~ViewOf() { nb::cast<PythonObservation&>(object_).End(); }
  ViewOf(const ViewOf&) = delete;
  ViewOf& operator=(const ViewOf&) = delete;
  const nb::object& object() const { return object_; }

 private:
  nb::object object_;
};

class PythonPolicy final : public Policy {
 public:
  PythonPolicy(const nb::object& object, const std::string& id)
      : decide_(Keep(object.attr("decide"))), object_(Keep(object)) {
    info_.id = id;
    info_.summary = "in Python";
    info_.needs_lengths = nb::cast<bool>(object.attr("needs_lengths"));
    info_.time_driven = nb::cast<bool>(object.attr("time_driven"));
  }

  const PolicyInfo& info() const override { return info_; }

  void OnEpisodeStart(const EpisodeContext& context) override {
    const nb::gil_scoped_acquire gil;
    try {
      object_->attr("begin")(context.seed);
    } catch (const nb::python_error& error) {
      ThrowPythonError(error, fmt::format("policy '{}', begin", info_.id));
    }
  }

  void Decide(const Observation& observation, Allocation* allocation) override {
    const nb::gil_scoped_acquire gil;
    const auto where = [&] {
      return fmt::format("policy '{}', decision {} at {} s", info_.id, observation.decision,
                         observation.now);
    };
    try {
      const ViewOf view(observation, *tables_);
      const nb::object answer = (*decide_)(view.object());
      placer_.Place(observation, RequestOf(observation, answer), allocation);
    } catch (const nb::python_error& error) {
      ThrowPythonError(error, where());
    } catch (const Error& error) {
      throw RunError("{}: {} ({})", where(), error.what(), DefinedAt(*decide_));
    }
    const Status valid = ValidateAllocation(observation, *allocation);
    if (!valid.ok()) {
      throw RunError("{}: {} ({})", where(), valid.message(), DefinedAt(*decide_));
    }
  }

  PolicyNotes notes() const override {
    const nb::gil_scoped_acquire gil;
    PolicyNotes notes;
    try {
      for (const auto& [name, text] : nb::cast<nb::dict>(object_->attr("notes")())) {
        notes.emplace_back(nb::cast<std::string>(nb::str(name)),
                           nb::cast<std::string>(nb::str(text)));
      }
    } catch (const nb::python_error& error) {
      ThrowPythonError(error, fmt::format("policy '{}', notes", info_.id));
    }
    return notes;
  }

 private:
  KeptObject decide_;
  KeptObject object_;
  PolicyInfo info_;
  // Python objects, which are dropped with the GIL.
  std::shared_ptr<TableColumns> tables_{new TableColumns(), [](TableColumns* tables) {
                                          const nb::gil_scoped_acquire gil;
                                          delete tables;
                                        }};
  RequestPlacer placer_;
};

// Specs "python:MODULE:CLASS" and names of allot.register_policy: Python knows them.
nb::object InPython(const char* function) {
  return nb::module_::import_("allot.policy").attr(function);
}

std::vector<std::string> Names() {
  const nb::gil_scoped_acquire gil;
  std::vector<std::string> names;
  for (const nb::handle name : InPython("_names")()) {
    names.push_back(nb::cast<std::string>(name));
  }
  return names;
}

std::unique_ptr<Policy> Make(std::string_view spec) {
  const nb::gil_scoped_acquire gil;
  try {
    return MakePythonPolicy(InPython("_make")(std::string(spec)), std::string(spec));
  } catch (const nb::python_error& error) {
    if (error.matches(nb::module_::import_("allot").attr("UsageError"))) {
      throw UsageError("{}", nb::cast<std::string>(nb::str(error.value())));
    }
    ThrowPythonError(error, fmt::format("policy '{}'", spec));
  }
}

std::vector<std::string> Files(std::string_view spec) {
  const nb::gil_scoped_acquire gil;
  std::vector<std::string> files;
  for (const nb::handle file : InPython("_files")(std::string(spec))) {
    files.push_back(nb::cast<std::string>(file));
  }
  return files;
}

ALLOT_REGISTER(PolicyFamily, (PolicyFamily{"python",
                                           "policies in Python: python:MODULE:CLASS, "
                                           "and those of allot.register_policy",
                                           Names, Make, Files}));

}  // namespace

std::unique_ptr<Policy> MakePythonPolicy(const nb::object& object, const std::string& id) {
  return std::make_unique<PythonPolicy>(object, id);
}

std::unique_ptr<Policy> CallFactory(const KeptObject& factory, const std::string& id) {
  const nb::gil_scoped_acquire gil;
  try {
    return MakePythonPolicy((*factory)(), id);
  } catch (const nb::python_error& error) {
    ThrowPythonError(error, fmt::format("policy '{}'", id));
  }
}

}  // namespace allot
