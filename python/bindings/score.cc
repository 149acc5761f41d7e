// The contest: what allot.score calls. Policies of both languages; the GIL is released while they
// play.

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <nlohmann/json.hpp>

#include "bindings/binding.h"
#include "bindings/kept_object.h"
#include "bindings/python_error.h"
#include "bindings/python_policy.h"
#include "core/error.h"
#include "core/interrupt.h"
#include "core/json_text.h"
#include "experiment/score/score_run.h"

namespace allot {
namespace {

namespace nb = nanobind;

// (name, callable that makes a policy or None for a spec, lineage as JSON or "").
std::vector<Entrant> EntrantsOf(const std::vector<nb::tuple>& policies) {
  std::vector<Entrant> entrants;
  for (const nb::tuple& policy : policies) {
    const auto name = nb::cast<std::string>(policy[0]);
    if (policy[1].is_none()) {
      for (Entrant& entrant : ParseEntrants(name)) entrants.push_back(std::move(entrant));
      continue;
    }
    Entrant entrant;
    entrant.name = name;
    entrant.in = [name, factory = Keep(nb::borrow(policy[1]))](World&) {
      return Contender{name, [factory, name] { return CallFactory(factory, name); }};
    };
    const auto lineage = nb::cast<std::string>(policy[2]);
    if (!lineage.empty()) entrant.lineage = {nlohmann::json::parse(lineage)};
    entrants.push_back(std::move(entrant));
  }
  return entrants;
}

std::string ScoreJson(const std::vector<nb::tuple>& policies, const std::string& suite,
                      const std::string& salt, int threads, const std::string& command) {
  const InterruptScope interrupts;
  try {
    const std::vector<Entrant> entrants = EntrantsOf(policies);
    const nb::gil_scoped_release released;
    return JsonText(
        ToJson(PlaySuite(entrants,
                         {.suite = suite, .salt = salt, .command = command, .threads = threads})),
        -1);
  } catch (const Error& error) {
    RaiseInPython(error);
  }
}

void Bind(nb::module_& m) {
  m.def("_score", ScoreJson, nb::arg("policies"), nb::arg("suite"), nb::arg("salt"),
        nb::arg("threads"), nb::arg("command"));
  m.def("score_tasks", [] { return Registry<ScoreTask>::Global().ids(); });
}

ALLOT_REGISTER(BindingInfo, (BindingInfo{"score", "the contest", Bind}));

}  // namespace
}  // namespace allot
