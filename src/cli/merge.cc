// allot merge: one checkpoint of worlds that were trained apart.

#include <cstdio>

#include "cli/command.h"
#include "cli/typed_command.h"
#include "experiment/training/merge_worlds.h"

namespace allot {
namespace {

struct MergeCommand {
  std::string base;
  std::vector<std::string> worlds;
  std::string out;
};

ALLOT_REGISTER(CommandInfo,
               (CommandInfo{
                   "merge", "put worlds that were trained apart into one checkpoint",
                   [](CommandLine& line, const GlobalOptions& globals) {
                     auto o = std::make_shared<MergeCommand>();
                     line.Option("checkpoint", o->base,
                                 "folder of the checkpoint that keeps its other worlds")
                         .Required();
                     line.Option(
                             "--world", o->worlds,
                             "WORLD=CHECKPOINT: take this world's index and own part from there "
                             "(repeatable)")
                         .Required();
                     line.Option("-o,--out", o->out, "folder of the new checkpoint").Required();
                     return [o, &globals] {
                       std::vector<WorldFrom> from;
                       for (const std::string& text : o->worlds)
                         from.push_back(ParseWorldFrom(text));
                       SaveCheckpoint(MergeWorlds(o->base, from, TypedCommand()), o->out);
                       if (!globals.quiet) std::fprintf(stderr, "checkpoint: %s\n", o->out.c_str());
                       return static_cast<int>(ExitCode::kOk);
                     };
                   }}));

}  // namespace
}  // namespace allot
