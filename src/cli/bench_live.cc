// allot bench live | live-policies | chaos | kubernetes: measurements on live clusters. They are
// Python scripts in the source tree (bench/*.py), which share temporary clusters with the tests;
// this command starts them.

#include <unistd.h>

#include <filesystem>

#include "cli/command.h"
#include "core/error.h"

namespace allot {
namespace {

namespace fs = std::filesystem;

struct LiveBenchOptions {
  std::string source = ".";
  std::string out;
  std::string checkpoint;
  std::string keep;
  std::string runtime = "local";
  std::string setting;
  std::string measure = "failures";
  int tries = 15;
  int repeats = 3;
  int batch_repeats = 5;
  int jobs = 30;
  int schedules = 200;
  int parallel = 2;
  int seed = 1;
};

// One option of the script, or nothing if `value` is empty.
using ScriptOption = std::pair<const char*, std::string>;

int BecomeScript(const std::string& source, const std::string& name,
                 const std::vector<ScriptOption>& options) {
  const fs::path script = fs::path(source) / "bench" / (name + ".py");
  if (!fs::exists(script)) {
    throw UsageError("{} is not there: run this in allot's source tree, or name that by --source",
                     script.string());
  }
  // The tests' Python environment, if there is one, has the packages that the scripts import.
  const fs::path own = fs::path(source) / "build" / "venv" / "bin" / "python";
  std::vector<std::string> words = {fs::exists(own) ? own.string() : "python3", script.string(),
                                    "--build",
                                    fs::read_symlink("/proc/self/exe").parent_path().string()};
  for (const auto& [option, value] : options) {
    if (value.empty()) continue;
    words.emplace_back(option);
    words.push_back(value);
  }
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvp(arguments.front(), arguments.data());
  throw RunError("cannot start {} for {}: {}", words.front(), script.string(), SystemMessage());
}

std::shared_ptr<LiveBenchOptions> Declare(CommandLine& line) {
  auto o = std::make_shared<LiveBenchOptions>();
  line.Option("--source", o->source, "allot's source tree, whose bench/ is run").ShowDefault();
  line.Option("-o,--out", o->out, "write the figures as JSON to this file");
  return o;
}

ALLOT_REGISTER(
    CommandInfo,
    (CommandInfo{
        "bench live",
        "seconds to grow, shrink, restart and move live jobs on temporary Slurm clusters, and to a "
        "validation loss with a chosen and a fixed batch",
        [](CommandLine& line, const GlobalOptions&) {
          auto o = Declare(line);
          o->measure = "resizes";
          line.Option(
                  "--measure", o->measure,
                  "what: resizes; 'state': the pause with 200 MB and 1 GB of training state; "
                  "'scale': what 10,000 waiting jobs cost the daemon; 'torchrun': restarts of it")
              .OneOf({"resizes", "state", "scale", "torchrun"})
              .ShowDefault();
          line.Option("--tries", o->tries, "resizes of each kind").Range(2, 1000).ShowDefault();
          line.Option("--repeats", o->batch_repeats, "times to a validation loss")
              .Range(1, 100)
              .ShowDefault();
          return [o] {
            if (o->measure == "state" || o->measure == "torchrun") {
              return BecomeScript(o->source, "live_" + o->measure,
                                  {{"--tries", std::to_string(o->tries)}, {"--out", o->out}});
            }
            if (o->measure == "scale") {
              return BecomeScript(o->source, "live_scale", {{"--out", o->out}});
            }
            return BecomeScript(o->source, "live",
                                {{"--tries", std::to_string(o->tries)},
                                 {"--repeats", std::to_string(o->batch_repeats)},
                                 {"--out", o->out}});
          };
        }}));

ALLOT_REGISTER(CommandInfo,
               (CommandInfo{
                   "bench live-policies",
                   "a trained policy, FIFO and the cluster's own scheduler with the same live jobs",
                   [](CommandLine& line, const GlobalOptions&) {
                     auto o = Declare(line);
                     o->runtime = "slurm";
                     line.Option("--runtime", o->runtime, "of the clusters")
                         .OneOf({"slurm", "kubernetes"})
                         .ShowDefault();
                     line.Option("--setting", o->setting, "on kubernetes: whose jobs")
                         .OneOf({"heavy-tailed", "dl2"})
                         .DefaultText("heavy-tailed");
                     line.Option("--checkpoint", o->checkpoint,
                                 "trained policy (default: that of the setting)");
                     line.Option("--repeats", o->repeats, "times each").Range(1, 100).ShowDefault();
                     line.Option("--jobs", o->jobs, "of a run").Range(2, 1000).ShowDefault();
                     line.Option("--seed", o->seed, "of the jobs").Range(0, 1 << 30).ShowDefault();
                     line.Option("--keep", o->keep, "folder for all that the runs leave");
                     return [o] {
                       const bool slurm = o->runtime == "slurm";
                       if (slurm && !o->setting.empty()) {
                         throw UsageError("--setting {} is for --runtime kubernetes, not {}",
                                          o->setting, o->runtime);
                       }
                       return BecomeScript(o->source,
                                           slurm ? "live_policies" : "kubernetes_policies",
                                           {{"--setting", o->setting},
                                            {"--checkpoint", o->checkpoint},
                                            {"--repeats", std::to_string(o->repeats)},
                                            {"--jobs", std::to_string(o->jobs)},
                                            {"--seed", std::to_string(o->seed)},
                                            {"--keep", o->keep},
                                            {"--out", o->out}});
                     };
                   }}));

ALLOT_REGISTER(
    CommandInfo,
    (CommandInfo{
        "bench chaos", "random schedules of faults on live clusters: jobs lost, doubled, set back",
        [](CommandLine& line, const GlobalOptions&) {
          auto o = Declare(line);
          line.Option("--runtime", o->runtime, "of the clusters")
              .OneOf({"local", "slurm", "kubernetes"})
              .ShowDefault();
          line.Option("--schedules", o->schedules, "to play").Range(1, 1000000).ShowDefault();
          line.Option("--seed", o->seed, "of the first one").Range(0, 1 << 30).ShowDefault();
          line.Option("--parallel", o->parallel, "clusters at once").Range(1, 64).ShowDefault();
          return [o] {
            return BecomeScript(o->source, "chaos",
                                {{"--runtime", o->runtime},
                                 {"--schedules", std::to_string(o->schedules)},
                                 {"--seed", std::to_string(o->seed)},
                                 {"--parallel", std::to_string(o->parallel)},
                                 {"--out", o->out}});
          };
        }}));

ALLOT_REGISTER(
    CommandInfo,
    (CommandInfo{"bench kubernetes",
                 "seconds to grow, shrink and repair jobs on a temporary Kubernetes "
                 "control plane, and until a standby is in charge; what 1,000 Jobs cost the daemon",
                 [](CommandLine& line, const GlobalOptions&) {
                   auto o = Declare(line);
                   line.Option("--measure", o->measure, "what: 'scale' is 1,000 Jobs on 100 nodes")
                       .OneOf({"failures", "scale"})
                       .ShowDefault();
                   line.Option("--tries", o->tries, "of each").Range(1, 1000).ShowDefault();
                   return [o] {
                     return BecomeScript(o->source, "kubernetes",
                                         {{"--measure", o->measure},
                                          {"--tries", std::to_string(o->tries)},
                                          {"--out", o->out}});
                   };
                 }}));

}  // namespace
}  // namespace allot
