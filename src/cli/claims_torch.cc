// allot reproduce claims: repeats the results that this project claims of its learned policy.

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/typed_command.h"
#include "core/error.h"
#include "core/file.h"
#include "core/json_text.h"
#include "experiment/claims/claims_run.h"
#include "models/torch/configure.h"

namespace allot {
namespace {

struct ClaimsCommand {
  ClaimsOptions run;
  std::string markdown;
};

int ReproduceClaims(ClaimsCommand& o, const GlobalOptions& globals) {
  ConfigureTorch();
  o.run.command = TypedCommand();
  if (o.run.claims.quick) o.run.seeds = 1;
  const std::vector<FamilyFindings> families = RunClaims(o.run, globals);
  const nlohmann::ordered_json result = ClaimsJson(families);
  const TextTable table = ClaimsTable(families, o.run);
  WriteTextFile(std::filesystem::path(o.run.out) / "claims.json", JsonText(result) + "\n");
  if (!o.markdown.empty()) WriteTextFile(o.markdown, table.ToMarkdown());
  const int missed = MissedOf(families);
  if (globals.json) {
    std::printf("%s\n", JsonText(result).c_str());
  } else {
    std::printf("%s", table.ToText().c_str());
    std::printf("\n%d of %zu figures missed\n", missed, result["findings"].size());
  }
  return missed > 0 ? static_cast<int>(ExitCode::kCheckFailed) : 0;
}

ALLOT_REGISTER(
    CommandInfo,
    (CommandInfo{
        "reproduce claims", "train, and compare with every heuristic, what this project claims",
        [](CommandLine& line, const GlobalOptions& globals) {
          auto o = std::make_shared<ClaimsCommand>();
          line.Option("-o,--out", o->run.out,
                      "folder of the training runs and claims.json; a stopped run continues there")
              .Required();
          line.Flag("--quick", o->run.claims.quick, "one seed, few settings: minutes, not hours");
          line.Option("--only", o->run.only,
                      "families whose name holds this: dl2, philly-E-K, ...");
          line.Option("--seeds", o->run.seeds, "training seeds").Range(1, 1000);
          line.Option("--workloads", o->run.workloads, "test workloads of each setting")
              .Range(2, 100000)
              .ShowDefault();
          line.Option("--philly", o->run.claims.philly, "Philly trace").ShowDefault();
          line.Option("--philly-from", o->run.claims.philly_from, "its first training week")
              .ShowDefault();
          line.Option("--helios", o->run.claims.helios,
                      "Helios' Venus, from its first job on: the same families there");
          line.Option("--pai", o->run.claims.pai, "Alibaba PAI 2020: a world never trained in");
          line.Option("--openb", o->run.claims.openb, "Alibaba openb 2023: likewise");
          line.Option("--universal", o->run.claims.universal, "the policy for all worlds")
              .ShowDefault();
          line.Option("--markdown", o->markdown, "write the table there");
          return [o, &globals] { return ReproduceClaims(*o, globals); };
        }}));

}  // namespace
}  // namespace allot
