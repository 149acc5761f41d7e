// allot evaluate: a trained checkpoint against other policies; says whether training saw the
// workloads.

#include <nlohmann/json.hpp>

#include "agents/learned/agent.h"
#include "cli/experiment.h"
#include "models/checkpoint.h"

namespace allot {
namespace {

struct EvaluateOptions {
  World world;
  std::string checkpoint;
  std::string against = "fifo,las,srtf,drf,optimus";
  std::string title;
  bool seen = false;
  std::string out;
  std::string log_root;
};

// What the configuration in the checkpoint says: where it was trained, by workload and window.
Sight SightOf(const nlohmann::json& config, World& world) {
  if (world.in_settings()) return Sight::kNotKnown;
  const nlohmann::json here = world.ToJson();
  const nlohmann::json there = config.value("world", nlohmann::json::object());
  const auto text = [](const nlohmann::json& json, const char* key) {
    return json.value(key, std::string());
  };
  if (world.made_by_law() || text(there, "workload") != text(here, "workload")) {
    return Sight::kNotKnown;
  }
  const auto when = [&](const nlohmann::json& json, const char* key, Seconds otherwise) {
    const std::string value = text(json, key);
    return value.empty() ? otherwise : ParseWhen(world.trace(), value);
  };
  const bool apart = when(there, "to", kNever) <= when(here, "from", 0) ||
                     when(here, "to", kNever) <= when(there, "from", 0);
  return apart ? Sight::kUnseen : Sight::kSeen;
}

int Evaluate(EvaluateOptions& o, const GlobalOptions& globals) {
  // Loaded once: a damaged checkpoint stops the command before anything runs.
  const auto agent = std::make_shared<const Agent>(LoadAgent(o.checkpoint));
  std::vector<Contender> contenders;
  contenders.push_back({"learned", [agent] { return MakeLearnedPolicy(*agent); }});
  if (!o.against.empty()) {
    for (Contender& contender : ParseContenders(o.world, o.against))
      contenders.push_back(std::move(contender));
  }
  ExperimentOptions experiment;
  experiment.title = o.title.empty() ? "Checkpoint " + o.checkpoint : o.title;
  experiment.sight = o.seen ? Sight::kSeen : SightOf(LoadCheckpoint(o.checkpoint).config, o.world);
  experiment.command = TypedCommand();
  experiment.globals = globals;
  experiment.out = o.out;
  experiment.log_root = o.log_root;
  experiment.reference = "learned";
  const Evaluation evaluation = RunExperiment(o.world, o.world.Scenarios(), contenders, experiment);
  PrintEvaluation(evaluation, experiment);
  return 0;
}

ALLOT_REGISTER(
    CommandInfo,
    (CommandInfo{
        "evaluate", "compare a trained checkpoint with other policies",
        [](CLI::App& app, const GlobalOptions& globals) {
          auto o = std::make_shared<EvaluateOptions>();
          o->world.Declare(app);
          app.add_option("--checkpoint", o->checkpoint, "checkpoint folder")->required();
          app.add_option("--against", o->against, "policies to compare with, joined by commas")
              ->capture_default_str();
          app.add_option("--title", o->title, "title of the table in the report");
          app.add_flag("--seen", o->seen,
                       "the checkpoint was trained on these workloads, whatever its config says");
          app.add_option("-o,--out", o->out, "folder for evaluation.json and the runs");
          app.add_option("--log", o->log_root, "Minari datasets folder for HDF5 episode logs");
          return [o, &globals] { return Evaluate(*o, globals); };
        }}));

}  // namespace
}  // namespace allot
