// What allot.simulate, compare and evaluate call: policies of both languages in one experiment. The
// GIL is released while it runs.

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "agents/learned/agent.h"
#include "bindings/binding.h"
#include "bindings/columns.h"
#include "bindings/experiment_data.h"
#include "bindings/progress_call.h"
#include "bindings/python_error.h"
#include "bindings/python_policy.h"
#include "core/error.h"
#include "core/interrupt.h"
#include "core/json_text.h"
#include "core/version.h"
#include "episode_log/episode_log.h"
#include "experiment/experiment.h"
#include "experiment/spec_list.h"
#include "experiment/training/training_overlap.h"
#include "experiment/world_options.h"
#include "metrics/comparison.h"
#include "metrics/evaluation_text.h"
#include "metrics/json_field.h"
#include "models/checkpoint.h"
#include "report/report.h"
#include "sim/run.h"

namespace allot {
namespace {

namespace nb = nanobind;
using Json = nlohmann::ordered_json;

// A policy of an experiment: a spec, or a Python callable that makes an allot.Policy for each run.
struct Entry {
  std::string id;
  KeptObject factory;   // null: `id` is a spec
  std::string lineage;  // JSON like a checkpoint's config, of what it was trained on; "": nothing
};

struct Request {
  std::map<std::string, std::string> world;
  std::vector<Entry> entries;  // none: the world's default ones
  std::string checkpoint;      // decides as the contender "learned", the first; "": none
  std::optional<bool> seen;    // in training; else as lineages say
  bool single = false;         // one workload
  ExperimentOptions options;
};

void RefuseEqualIds(const std::vector<Contender>& contenders) {
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const std::string& a = contenders[j].id;
      const std::string& b = contenders[i].id;
      if (a == b) {
        throw UsageError("policy '{}' is named twice; an object in Python takes name=", a);
      }
      if (EpisodeLog::DatasetId(a) == EpisodeLog::DatasetId(b)) {
        throw UsageError("policies '{}' and '{}' would share the folder '{}': run them apart", a, b,
                         EpisodeLog::DatasetId(a));
      }
    }
  }
}

// Of several trained policies the worst case.
TrainingOverlap Worse(TrainingOverlap a, TrainingOverlap b) {
  const auto rank = [](TrainingOverlap overlap) {
    switch (overlap) {
      case TrainingOverlap::kNone:
        return 0;
      case TrainingOverlap::kUnseen:
        return 1;
      case TrainingOverlap::kNotKnown:
        return 2;
      case TrainingOverlap::kSeen:
        return 3;
    }
    return 3;
  };
  return rank(a) < rank(b) ? b : a;
}

class Experiment {
 public:
  explicit Experiment(const Request& request)
      : request_(request), world_(WorldFromTexts(request.world)) {}

  // The GIL is not held.
  ExperimentData Run(const ProgressCall& progress) {
    ExperimentOptions options = request_.options;
    options.training_overlap = TrainingOverlap::kNone;
    const std::vector<Contender> contenders = Contenders(&options.training_overlap);
    if (request_.seen) {
      options.training_overlap = *request_.seen ? TrainingOverlap::kSeen : TrainingOverlap::kUnseen;
    }
    ReferenceOf(contenders, options);  // throws before anything is made
    const std::vector<World::Named> scenarios = world_.Scenarios();
    if (request_.single && scenarios.size() != 1) {
      throw UsageError("simulate runs one workload, got {}; see allot.compare", scenarios.size());
    }
    ExperimentData data;
    data.note = world_.ReadNote() + world_.OverloadHint(scenarios);
    data.runs.assign(contenders.size(), std::vector<ExperimentData::Run>(scenarios.size()));
    for (const World::Named& named : scenarios) data.names.push_back(NamesOf(*named.scenario));
    const auto total = static_cast<std::int64_t>(contenders.size() * scenarios.size());
    std::int64_t done = 0;
    progress.Tell(0, total, "");
    options.on_run = [&](std::size_t p, std::size_t w, RunOutcome&& outcome) {
      data.runs[p][w] = {std::move(outcome.records), std::move(outcome.timeline),
                         std::move(outcome.notes)};
      progress.Tell(++done, total, contenders[p].id);
    };
    data.evaluation = RunExperiment(world_, scenarios, contenders, options);
    return data;
  }

 private:
  std::vector<Contender> Contenders(TrainingOverlap* overlap) {
    std::vector<Contender> contenders;
    if (!request_.checkpoint.empty()) {
      // Loaded before anything runs, so that a damaged checkpoint stops here.
      const auto agent = std::make_shared<const Agent>(LoadAgent(request_.checkpoint));
      const Serving serving{.world = world_.name()};
      MakeLearnedPolicy(*agent, serving);
      contenders.push_back({.id = "learned",
                            .make = [agent, serving] { return MakeLearnedPolicy(*agent, serving); },
                            .files = {request_.checkpoint}});
      *overlap = TrainingOverlapOf(LoadCheckpoint(request_.checkpoint).config, world_);
    }
    const auto add = [&](std::vector<Contender> more) {
      for (Contender& contender : more) contenders.push_back(std::move(contender));
    };
    for (const Entry& entry : request_.entries) {
      if (entry.factory == nullptr) {
        add(ParseContenders(world_, entry.id));
        continue;
      }
      contenders.push_back({entry.id, [factory = entry.factory, id = entry.id] {
                              return CallFactory(factory, id);
                            }});
      if (!entry.lineage.empty()) {
        const auto config = nlohmann::json::parse(entry.lineage);
        *overlap = Worse(*overlap, TrainingOverlapOf(config, world_));
      }
    }
    if (contenders.empty()) add(ParseContenders(world_, world_.ComparedPolicies()));
    RefuseEqualIds(contenders);
    return contenders;
  }

  static ExperimentData::Names NamesOf(const Scenario& scenario) {
    const Workload& workload = scenario.workload();
    ExperimentData::Names names;
    names.jobs = TracedJobs(workload);
    for (const Job& job : workload.jobs) {
      names.groups.push_back(workload.groups[job.group]);
    }
    return names;
  }

  const Request& request_;
  World world_;
};

Entry EntryOf(const nb::tuple& given) {
  Entry entry;
  entry.id = nb::cast<std::string>(given[0]);
  if (!given[1].is_none()) entry.factory = Keep(nb::borrow(given[1]));
  entry.lineage = nb::cast<std::string>(given[2]);
  return entry;
}

ExperimentData RunRequest(const Request& request, const ProgressCall& progress) {
  const InterruptScope interrupts;
  try {
    const nb::gil_scoped_release released;
    return Experiment(request).Run(progress);
  } catch (const Error& error) {
    RaiseInPython(error);
  }
}

// Options as Python gives them (allot/experiments.py), checked there.
ExperimentData RunFromPython(const std::map<std::string, std::string>& world,
                             const std::vector<nb::tuple>& policies, const nb::dict& options,
                             const nb::object& progress) {
  Request request;
  request.world = world;
  for (const nb::tuple& policy : policies) request.entries.push_back(EntryOf(policy));
  const auto text = [&](const char* name) { return nb::cast<std::string>(options[name]); };
  request.checkpoint = text("checkpoint");
  if (!options["seen"].is_none()) request.seen = nb::cast<bool>(options["seen"]);
  request.single = nb::cast<bool>(options["single"]);
  request.options.title = text("title");
  request.options.reference = text("reference");
  request.options.command = text("command");
  request.options.out = text("out");
  request.options.single_run = request.single;
  request.options.log_root = text("log");
  request.options.log_steps = LogStepsOf(text("log_steps"));
  request.options.keep_unfinished = true;
  request.options.bounds = nb::cast<bool>(options["bounds"]);
  request.options.threads = nb::cast<int>(options["threads"]);
  return RunRequest(request, ProgressCall(progress));
}

// Rows of the table, best first.
std::string RowsJson(const ExperimentData& data) {
  Json rows = Json::array();
  for (const PolicyRow& row : CompareToReference(data.evaluation)) {
    rows.push_back({{"policy", data.evaluation.policies[row.policy].id},
                    {"oracle", row.oracle},
                    {"reference", row.reference},
                    {"jobs", row.jobs},
                    {"unfinished", row.unfinished},
                    {"did_not_finish", row.stuck.size()},
                    {"avg_jct_s", NumberOrNull(row.avg_jct_s)},
                    {"p50_jct_s", NumberOrNull(row.p50_jct_s)},
                    {"p95_jct_s", NumberOrNull(row.p95_jct_s)},
                    {"p99_jct_s", NumberOrNull(row.p99_jct_s)},
                    {"avg_queueing_s", NumberOrNull(row.avg_queueing_s)},
                    {"gpu_utilisation", NumberOrNull(row.gpu_utilisation)},
                    {"restarts_per_job", NumberOrNull(row.restarts_per_job)},
                    {"decision_us_p50", NumberOrNull(row.decision_us_p50)},
                    {"decision_us_p99", NumberOrNull(row.decision_us_p99)},
                    {"ratio", NumberOrNull(row.ratio.mean)},
                    {"ratio_low", NumberOrNull(row.ratio.low)},
                    {"ratio_high", NumberOrNull(row.ratio.high)}});
  }
  return JsonText(rows, -1);
}

void WriteReportOf(const std::string& folder, const std::string& path, const std::string& title,
                   const std::string& command) {
  ReportInput input;
  input.title = title;
  input.version = Version();
  if (!command.empty()) input.commands = {command};
  input.evaluation_dirs = {folder};
  WriteReport(input, path);
}

void Bind(nb::module_& m) {
  nb::class_<ExperimentData>(m, "_ExperimentData", "What an experiment left behind.")
      .def("json", [](const ExperimentData& data) { return JsonText(ToJson(data.evaluation), -1); })
      .def("rows", RowsJson)
      .def("text", [](const ExperimentData& data) { return EvaluationText(data.evaluation); })
      .def_ro("note", &ExperimentData::note)
      .def("jobs", JobColumnsOf, nb::arg("policy"), nb::arg("workload"))
      .def("timeline", TimelineColumnsOf, nb::arg("policy"), nb::arg("workload"))
      .def("save", &ExperimentData::Save, nb::arg("folder"));
  m.def("_run_experiment", RunFromPython, nb::arg("world"), nb::arg("policies"), nb::arg("options"),
        nb::arg("progress").none());
  m.def("_write_report", WriteReportOf, nb::arg("folder"), nb::arg("path"), nb::arg("title"),
        nb::arg("command"));
  m.def("_split_specs", SplitSpecs, nb::arg("text"));
  m.def(
      "_compared_policies",
      [](const std::map<std::string, std::string>& world) {
        return World(WorldFromTexts(world)).ComparedPolicies();
      },
      nb::arg("world"));
  m.def(
      "_is_own_policy",
      [](const std::string& name) { return Registry<PolicyInfo>::Global().Find(name) != nullptr; },
      nb::arg("name"));
}

ALLOT_REGISTER(BindingInfo, (BindingInfo{"experiments", "policies in experiments", Bind}));

}  // namespace
}  // namespace allot
