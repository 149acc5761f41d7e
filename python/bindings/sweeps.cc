// What allot.sweep calls: the cells of a sweep, as 'allot sweep' runs them. The GIL is released
// while they run.

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "bindings/binding.h"
#include "bindings/progress_call.h"
#include "bindings/python_error.h"
#include "core/error.h"
#include "core/interrupt.h"
#include "core/json_text.h"
#include "core/parallel.h"
#include "core/version.h"
#include "experiment/sweep_cells.h"
#include "metrics/sweep_table.h"
#include "sweep/definition_file.h"
#include "sweep/limits.h"
#include "sweep/preset.h"
#include "sweep/run_sweep.h"

namespace allot {
namespace {

namespace nb = nanobind;
using Json = nlohmann::ordered_json;

struct SweepData {
  SweepDefinition definition;
  SweepResults results;
};

SweepDefinition DefinitionOf(const std::string& file, const std::string& preset,
                             const std::string& given) {
  if (!file.empty() && !preset.empty()) {
    throw UsageError("a sweep has one definition, got the file '{}' and the preset '{}'", file,
                     preset);
  }
  const WorldOptions world = SweepableOptions();
  Json json = Json::object();
  if (!file.empty()) {
    json = ReadDefinitionFile(file);
    if (json.is_object()) json.erase("allot");
  } else if (!preset.empty()) {
    json = ParseToml(Registry<SweepPreset>::Global().Get("preset", preset).toml, preset);
  }
  if (!file.empty() || !preset.empty()) SweepFromJson(json, world, file.empty() ? preset : file);
  return SweepFromJson(Overlaid(json, Json::parse(given)), world, "allot.sweep");
}

// Takes the place of the folder of a sweep that keeps nothing.
std::unique_ptr<SweepFolder> FolderOf(const SweepDefinition& definition, const std::string& out) {
  if (out.empty()) return nullptr;
  return std::make_unique<SweepFolder>(out, definition, SweepInputs(definition), Version());
}

SweepData Run(SweepDefinition definition, const std::string& out, int threads,
              const std::string& command, const ProgressCall& progress) {
  threads = threads > 0 ? threads : CoreCount();
  SweepCells cells(definition, static_cast<std::size_t>(threads) + 2);
  cells.CheckAll();
  const std::unique_ptr<SweepFolder> folder = FolderOf(definition, out);
  SweepOptions options;
  options.threads = threads;
  options.quiet = true;
  options.folder = folder.get();
  const auto total = static_cast<std::int64_t>(CellsOf(definition).size());
  std::mutex mutex;
  std::int64_t done = 0;
  progress.Tell(0, total, "");
  const auto run = [&](const CellValues& values) {
    SweepCell cell = cells.Run(values);
    const std::lock_guard lock(mutex);
    progress.Tell(++done, total, CellText(definition, values));
    return cell;
  };
  SweepOutcome outcome = RunSweep(definition, run, options);
  SweepData data;
  data.results.title = definition.title;
  data.results.command = command;
  data.results.factors = FactorNames(definition);
  data.results.reference = definition.reference;
  data.results.cells = std::move(outcome.cells);
  data.results.notes = SweepNotes(definition, data.results.cells);
  data.definition = std::move(definition);
  if (folder != nullptr) folder->WriteResults(data.results);
  return data;
}

SweepData RunFromPython(const std::string& file, const std::string& preset,
                        const std::string& given, const std::string& out, int threads,
                        const std::string& command, const nb::object& progress) {
  const ProgressCall call(progress);
  const InterruptScope interrupts;
  try {
    const nb::gil_scoped_release released;
    return Run(DefinitionOf(file, preset, given), out, threads, command, call);
  } catch (const Error& error) {
    RaiseInPython(error);
  }
}

std::string ResultsJson(const SweepData& data) {
  Json json = ToJson(data.results);
  json["table"] = SweepTableJson(data.results, Aggregate(data.results));
  return JsonText(json, -1);
}

void Bind(nb::module_& m) {
  nb::class_<SweepData>(m, "_SweepData", "What a sweep measured.")
      .def("json", ResultsJson)
      .def("text",
           [](const SweepData& data) {
             return SweepTable(data.results, Aggregate(data.results)).ToText();
           })
      .def(
          "save",
          [](const SweepData& data, const std::string& folder) {
            FolderOf(data.definition, folder)->WriteResults(data.results);
          },
          nb::arg("folder"));
  m.def("_run_sweep", RunFromPython, nb::arg("file"), nb::arg("preset"), nb::arg("given"),
        nb::arg("out"), nb::arg("threads"), nb::arg("command"), nb::arg("progress").none());
  m.def(
      "_sweep_keys", [] { return SweepableOptions(); },
      "Options of the world that a sweep may set or vary.");
}

ALLOT_REGISTER(BindingInfo, (BindingInfo{"sweeps", "sweeps", Bind}));

}  // namespace
}  // namespace allot
