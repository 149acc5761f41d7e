// allot sweep: the cross product of factors, in parallel, resumable, on one machine or as a Slurm
// job array.

#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/declare_world.h"
#include "cli/typed_command.h"
#include "core/counted.h"
#include "core/file.h"
#include "core/json_text.h"
#include "core/parallel.h"
#include "core/strings.h"
#include "core/version.h"
#include "experiment/spec_list.h"
#include "experiment/sweep_cells.h"
#include "metrics/humanise.h"
#include "metrics/sweep_table.h"
#include "sim/profile.h"
#include "sweep/definition_file.h"
#include "sweep/limits.h"
#include "sweep/preset.h"
#include "sweep/run_sweep.h"
#include "sweep/slurm.h"
#include "workload/trace_stats.h"

namespace allot {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kDefaultTasks = 16;

struct SweepCommand {
  const CommandLine* line = nullptr;
  WorldSpec world;  // takes the options of the world, for help and their checks
  std::string file;
  std::string preset;
  std::string policies, admission, placement;
  std::vector<std::string> clusters, loads, rates, seeds, vary, reference;
  std::string window_jobs, window_time, warm_up, title;
  std::string until_utilisation, until_jct, cutoff;
  std::string out;
  std::string shard;
  bool list = false;
  bool slurm = false;
  std::string slurm_script;
  int slurm_tasks = 0;
  std::vector<std::string> slurm_options;
};

// The command line as a definition.
Json TypedDefinition(const SweepCommand& o, const WorldOptions& world) {
  Json json = Json::object();
  for (const std::string& name : world) {
    const std::vector<std::string> given = o.line->Given(name);
    if (!given.empty()) json[name] = Join(given, ",");
  }
  const auto texts = [&json](const char* key, const std::string& text) {
    if (!text.empty()) json[key] = SplitSpecs(text);
  };
  texts("policies", o.policies);
  texts("admission", o.admission);
  texts("placement", o.placement);
  const auto lists = [&json](const char* key, const std::vector<std::string>& values) {
    if (!values.empty()) json[key] = values;
  };
  lists("clusters", o.clusters);
  lists("loads", o.loads);
  lists("rates", o.rates);
  lists("seeds", o.seeds);
  lists("reference", o.reference);
  for (const std::string& text : o.vary) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) {
      throw UsageError("--vary must be OPTION=VALUE,VALUE, got '{}'", text);
    }
    json["vary"][text.substr(0, equals)] = SplitSpecs(text.substr(equals + 1));
  }
  const auto text = [&json](const char* key, const std::string& value) {
    if (!value.empty()) json[key] = value;
  };
  text("window-jobs", o.window_jobs);
  text("window-time", o.window_time);
  text("warm-up", o.warm_up);
  text("until-utilisation", o.until_utilisation);
  text("until-jct", o.until_jct);
  text("cutoff", o.cutoff);
  text("title", o.title);
  return json;
}

// "fifo,las" in a file has the same meaning as on the command line.
void SplitTexts(Json* json) {
  for (const char* key : {"policies", "admission", "placement"}) {
    const auto text = json->find(key);
    if (text != json->end() && text->is_string()) *text = SplitSpecs(text->get<std::string>());
  }
}

SweepDefinition DefinitionOf(const SweepCommand& o) {
  const WorldOptions world = SweepableOptions();
  if (!o.file.empty() && !o.preset.empty()) {
    throw UsageError("a sweep has one definition, got the file '{}' and --preset {}", o.file,
                     o.preset);
  }
  Json json = Json::object();
  std::string where = "command line";
  if (!o.file.empty()) {
    where = o.file;
    json = ReadDefinitionFile(o.file);
    if (json.is_object())
      json.erase("allot");  // a folder's sweep.json names the version that made it
  } else if (!o.preset.empty()) {
    where = "preset " + o.preset;
    json = ParseToml(Registry<SweepPreset>::Global().Get("preset", o.preset).toml, where);
  }
  SplitTexts(&json);
  SweepFromJson(json, world, where);  // errors then name the file
  return SweepFromJson(Overlaid(json, TypedDefinition(o, world)), world, where);
}

void ListCells(const SweepDefinition& definition) {
  for (const CellValues& cell : CellsOf(definition)) {
    std::printf("%s\n", CellText(definition, cell).c_str());
  }
}

int OnSlurm(const SweepCommand& o, const SweepDefinition& definition,
            const GlobalOptions& globals) {
  SlurmArray array;
  array.program = std::filesystem::read_symlink("/proc/self/exe").string();
  array.folder = o.out;
  array.threads = std::max(1, globals.threads);
  array.options = o.slurm_options;
  const auto cells = static_cast<int>(CellsOf(definition).size());
  array.tasks = std::min(cells, o.slurm_tasks > 0 ? o.slurm_tasks : kDefaultTasks);
  const std::filesystem::path script =
      o.slurm_script.empty() ? o.out + "/slurm.sh" : o.slurm_script;
  WriteTextFile(script, SlurmScript(array));
  if (!o.slurm) {
    std::fprintf(stderr, "wrote %s: %s for %s; submit it with sbatch\n", script.c_str(),
                 Counted(array.tasks, "task").c_str(), Counted(cells, "cell").c_str());
    return 0;
  }
  const std::string job = SubmitToSlurm(script);
  if (globals.json) {
    std::printf("%s\n",
                Json{{"job", job}, {"tasks", array.tasks}, {"cells", cells}}.dump().c_str());
  } else {
    std::printf("submitted job %s: %s for %s; results will be in %s\n", job.c_str(),
                Counted(array.tasks, "task").c_str(), Counted(cells, "cell").c_str(),
                o.out.c_str());
  }
  return 0;
}

void Print(const SweepResults& results, const SweepOutcome& outcome, SweepCells& cells,
           const SweepCommand& o, const GlobalOptions& globals) {
  const std::vector<SweepRow> rows = Aggregate(results);
  if (globals.json) {
    Json json = ToJson(results);
    json["table"] = SweepTableJson(results, rows);
    for (const auto& [path, report] : cells.read_reports())
      json["read"][path] = nlohmann::json(report);
    std::printf("%s\n", JsonText(json).c_str());
  } else {
    if (!results.title.empty()) std::printf("%s\n\n", results.title.c_str());
    std::vector<std::string> intervals;
    for (const Seconds interval : cells.intervals()) intervals.push_back(HumanDuration(interval));
    if (!intervals.empty()) {
      std::printf("Decisions every %s: jobs wait for the next one.\n",
                  Join(intervals, " or ").c_str());
    }
    std::printf("%s", SweepTable(results, rows).ToText().c_str());
    if (!cells.fixed_sizes().empty()) std::printf("%s\n", cells.fixed_sizes().c_str());
  }
  if (globals.quiet) return;
  for (const auto& [path, report] : cells.read_reports()) {
    std::fputs(ReadNote(path, report).c_str(), stderr);
  }
  std::fprintf(stderr, "%s, %zu of them taken up; %.2f CPU-seconds of simulation\n",
               Counted(std::ssize(results.cells), "cell").c_str(), outcome.taken_up, outcome.cpu_s);
  if (!o.out.empty()) {
    std::fprintf(stderr, "results: %s (allot report %s makes a page)\n", o.out.c_str(),
                 o.out.c_str());
  }
}

int Sweep(const SweepCommand& o, const GlobalOptions& globals) {
  const SweepDefinition definition = DefinitionOf(o);
  const int threads = globals.threads > 0 ? globals.threads : CoreCount();
  SweepCells cells(definition, static_cast<std::size_t>(threads) + 2);
  cells.CheckAll();
  if (o.list) {
    ListCells(definition);
    return 0;
  }
  const bool on_slurm = o.slurm || !o.slurm_script.empty();
  if (o.out.empty() && (on_slurm || !o.shard.empty())) {
    throw UsageError("{} needs --out, the folder that all parts of the sweep share, got none",
                     on_slurm ? "a sweep on Slurm" : "--shard");
  }

  std::unique_ptr<SweepFolder> folder;
  if (!o.out.empty()) {
    folder = std::make_unique<SweepFolder>(o.out, definition, SweepInputs(definition), Version());
    if (folder->made_by() != Version() && !globals.quiet) {
      std::fprintf(stderr, "note: '%s' was begun by allot %s, this is %s\n", o.out.c_str(),
                   folder->made_by().c_str(), Version().c_str());
    }
  }
  if (on_slurm) return OnSlurm(o, definition, globals);

  SweepOptions options;
  options.threads = threads;
  options.quiet = globals.quiet;
  options.folder = folder.get();
  if (!o.shard.empty()) options.shard = Shard::Parse(o.shard);
  SweepOutcome outcome = RunSweep(
      definition, [&cells](const CellValues& cell) { return cells.Run(cell); }, options);
  if (outcome.missing > 0) {
    if (!globals.quiet) {
      std::fprintf(stderr, "shard %d/%d is done; %zu cells of other shards are missing\n",
                   options.shard.index, options.shard.count, outcome.missing);
    }
    return 0;
  }
  SweepResults results;
  results.title = definition.title;
  results.command =
      o.shard.empty() ? TypedCommand() : fmt::format("allot sweep {}/sweep.json", o.out);
  results.factors = FactorNames(definition);
  results.reference = definition.reference;
  results.cells = std::move(outcome.cells);
  results.notes = SweepNotes(definition, results.cells);
  if (folder != nullptr) folder->WriteResults(results);
  Print(results, outcome, cells, o, globals);
  if (outcome.failed == 0) return 0;
  std::fprintf(stderr, "allot: %zu of %zu cells failed\n", outcome.failed, results.cells.size());
  return static_cast<int>(ExitCode::kRunFailed);
}

void DeclareSweep(CommandLine& line, SweepCommand* o) {
  o->line = &line;
  DeclareWorld(line, o->world);
  line.Remove({"--cluster", "--load", "--rate", "--seed", "--workloads"});
  line.Option("definition", o->file, "TOML or JSON file (docs/sweeps.md); options here win");
  line.Option(
      "--preset", o->preset,
      "a sweep that ships with allot: " + Join(Registry<SweepPreset>::Global().ids(), ", "));
  line.Option("-p,--policies", o->policies,
              "policies, joined by commas; NAME=SPEC gives one a name for tables")
      .DefaultText(ComparedPolicies())
      .Topic("Cells");
  const auto list = [&line](const char* name, std::vector<std::string>* values, const char* help) {
    return line.Option(name, *values, help).SplitAt(',');
  };
  list("--loads", &o->loads, "offered loads, GPU time / capacity: 0.5,1,1.5").Topic("Cells");
  list("--rates", &o->rates, "jobs per hour, for --workload law:NAME: 1..9, 0.4..8/0.4")
      .Topic("Cells");
  list("--seeds", &o->seeds, "of samples, laws and estimates: 0..9 (default: 0)").Topic("Cells");
  list("-c,--clusters", &o->clusters, "clusters: 16x8,32x8").Topic("Cells");
  line.Option("--admission", o->admission, "admission stages: accept-all,load:factor=1.2")
      .Topic("Cells");
  line.Option("--placement", o->placement, "placement stages: packed,first-fit").Topic("Cells");
  line.Option("--vary", o->vary, "any other option of the world: interval=60,300 (repeatable)")
      .Repeatable()
      .Topic("Cells");
  line.Option("--window-jobs", o->window_jobs,
              "measure jobs A..B by position from 0; the run ends with the last of them")
      .Detail("What is measured");
  line.Option("--window-time", o->window_time, "measure jobs submitted in A..B: 7d..14d")
      .Detail("What is measured");
  line.Option("--warm-up", o->warm_up,
              "measure only jobs submitted at least this long after the first: 2d")
      .Topic("What is measured");
  line.Option("--until-utilisation", o->until_utilisation,
              "run no higher rate or load after one with this GPU use: 0.95")
      .Detail("What is measured");
  line.Option("--until-jct", o->until_jct, "... after one with this average JCT: 10d")
      .Detail("What is measured");
  line.Option("--cutoff", o->cutoff,
              "end each cell at this simulated time, as one without a JCT: 5000h")
      .Detail("What is measured");
  line.Option("--reference", o->reference,
              "what rows are compared with: a policy, or FACTOR=VALUE (default: the first policy)");
  line.Option("--title", o->title, "title of the results");
  line.Option("-o,--out", o->out, "folder that keeps finished cells; run again to continue");
  line.Flag("--list", o->list, "print the cells and run none");
  line.Option("--shard", o->shard, "I/N: run every N-th cell; the last shard writes the results")
      .Topic("Several machines");
  line.Flag("--slurm", o->slurm, "submit as a Slurm job array").Topic("Several machines");
  line.Option("--slurm-script", o->slurm_script, "only write the script for sbatch")
      .Detail("Several machines");
  line.Option("--slurm-tasks", o->slurm_tasks, "tasks of the array")
      .Range(1, 100000)
      .DefaultText(std::to_string(kDefaultTasks))
      .Detail("Several machines");
  line.Option("--slurm-option", o->slurm_options, "for sbatch: partition=gpu (repeatable)")
      .Repeatable()
      .Detail("Several machines");
}

ALLOT_REGISTER(CommandInfo,
               (CommandInfo{"sweep", "policies against loads, seeds, clusters and stages",
                            [](CommandLine& line, const GlobalOptions& globals) {
                              auto o = std::make_shared<SweepCommand>();
                              DeclareSweep(line, o.get());
                              return [o, &globals] { return Sweep(*o, globals); };
                            }}));

}  // namespace
}  // namespace allot
