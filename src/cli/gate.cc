// allot gate: compares a candidate checkpoint with the accepted one and the heuristics on held-out
// workloads. An accepted candidate replaces the former; a rejected one is kept with its report.

#include "metrics/gate.h"

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "agents/learned/agent.h"
#include "cli/command.h"
#include "cli/declare_world.h"
#include "cli/run_command.h"
#include "core/error.h"
#include "core/file.h"
#include "core/json_text.h"
#include "experiment/training/training_overlap.h"
#include "models/checkpoint.h"

namespace allot {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct GateOptions {
  WorldSpec world;
  std::string candidate;
  std::string models;
  std::string heuristics =
      "las,srtf,optimus,index,index:basis=gittins,srtf:sizing=hull,las:sizing=hull";
  double bar = 1;
  bool seen = false;
};

constexpr const char* kCandidate = "candidate";
constexpr const char* kIncumbent = "accepted";

Contender CheckpointContender(const std::string& id, const std::string& path, World& world) {
  const auto agent = std::make_shared<const Agent>(LoadAgent(path));
  const Serving serving{.world = world.name()};
  MakeLearnedPolicy(*agent, serving);  // refuse now, not after minutes
  return {id, [agent, serving] { return MakeLearnedPolicy(*agent, serving); }};
}

// The first free path of DIR/001, DIR/002, ...
fs::path FreeFolder(const fs::path& parent) {
  for (int number = 1;; ++number) {
    fs::path folder = parent / fmt::format("{:03}", number);
    if (!fs::exists(folder)) return folder;
  }
}

// Copies the candidate with its report, completely or not at all.
void Keep(const Checkpoint& checkpoint, const fs::path& folder, const GateVerdict& verdict,
          const Evaluation& evaluation, const std::string& name) {
  Json json = ToJson(verdict);
  json["candidate"] = name;
  json["evaluation"] = ToJson(evaluation);
  AtomicDirectory kept(folder);
  SaveCheckpoint(checkpoint, kept.path().string());
  WriteTextFile(kept.path() / "gate.json", JsonText(json) + "\n");
  WriteTextFile(kept.path() / "gate.md", GateReport(verdict, evaluation, name));
  kept.Commit();
}

void CopyFolder(const fs::path& from, const fs::path& to) {
  AtomicDirectory copy(to);
  std::error_code error;
  fs::copy(from, copy.path(), fs::copy_options::recursive, error);
  if (error) {
    throw RunError("cannot copy '{}' to '{}': {}", from.string(), to.string(), error.message());
  }
  copy.Commit();
}

int Gate(GateOptions& o, const GlobalOptions& globals) {
  const Checkpoint candidate = LoadCheckpoint(o.candidate);
  World world(o.world);
  if (!o.seen && TrainingOverlapOf(candidate.config, world) == TrainingOverlap::kSeen) {
    throw UsageError(
        "the gate needs workloads that training did not see, and '{}' was trained on these: "
        "choose others by --from and --to, or add --allow-seen",
        o.candidate);
  }
  const fs::path accepted = fs::path(o.models) / "accepted";
  const bool has_incumbent = fs::exists(accepted);
  std::vector<Contender> contenders = {CheckpointContender(kCandidate, o.candidate, world)};
  if (has_incumbent) {
    contenders.push_back(CheckpointContender(kIncumbent, accepted.string(), world));
  }
  for (Contender& heuristic : ParseContenders(world, o.heuristics)) {
    contenders.push_back(std::move(heuristic));
  }
  ExperimentOptions experiment = OptionsOf(globals);
  experiment.title = "Gate of " + o.candidate;
  experiment.training_overlap =
      o.seen ? TrainingOverlap::kSeen : TrainingOverlapOf(candidate.config, world);
  experiment.reference = kCandidate;
  const auto scenarios = world.Scenarios();
  if (scenarios.size() < 2) {
    throw UsageError("the gate needs at least 2 held-out workloads, got {}: see --workloads",
                     scenarios.size());
  }
  const Evaluation evaluation = RunWithNotes(world, scenarios, contenders, experiment, globals);
  const GateVerdict verdict = Judge(evaluation, kCandidate, has_incumbent ? kIncumbent : "", o.bar);

  fs::path kept = accepted;
  if (!verdict.accepted) {
    kept = FreeFolder(fs::path(o.models) / "rejected");
  } else if (has_incumbent) {
    // A copy, so that there is an accepted policy at every moment.
    CopyFolder(accepted, FreeFolder(fs::path(o.models) / "former"));
  }
  Keep(candidate, kept, verdict, evaluation, o.candidate);
  if (globals.json) {
    Json json = ToJson(verdict);
    json["kept_in"] = kept.string();
    std::printf("%s\n", JsonText(json).c_str());
  } else {
    std::printf("%s", GateReport(verdict, evaluation, o.candidate).c_str());
  }
  if (!globals.quiet) std::fprintf(stderr, "kept with its report in %s\n", kept.c_str());
  return static_cast<int>(verdict.accepted ? ExitCode::kOk : ExitCode::kCheckFailed);
}

ALLOT_REGISTER(
    CommandInfo,
    (CommandInfo{
        "gate", "accept a checkpoint if it beats the accepted one and the best heuristic",
        [](CommandLine& line, const GlobalOptions& globals) {
          auto o = std::make_shared<GateOptions>();
          line.Footer(
              "The 95 % interval of the ratio of mean JCTs (paired by workload, geometric) must\n"
              "lie below --max-ratio, against DIR/accepted if there is one and against the best "
              "of\n"
              "--against. Then the candidate becomes DIR/accepted and a copy of the former one\n"
              "stays in DIR/former/NNN; otherwise it is kept in DIR/rejected/NNN. Both get the\n"
              "report, gate.json and gate.md. Exit code 0: accepted, 4: rejected.");
          DeclareWorld(line, o->world);
          line.Option("--candidate", o->candidate, "checkpoint folder").Required();
          line.Option("--models", o->models, "folder that holds accepted/, former/ and rejected/")
              .Required();
          line.Option("--against", o->heuristics, "heuristics, joined by commas").ShowDefault();
          line.Option("--max-ratio", o->bar, "the upper end of the interval must be below this")
              .Range(0.1, 2.0)
              .ShowDefault();
          line.Flag("--allow-seen", o->seen, "also accept workloads that training has seen");
          return [o, &globals] { return Gate(*o, globals); };
        }}));

}  // namespace
}  // namespace allot
