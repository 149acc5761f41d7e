// allot journal check and repair: for the journal of a daemon that does not run.

#include "live/state/journal.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/state_folder.h"
#include "core/counted.h"
#include "core/error.h"
#include "core/file_lock.h"
#include "core/json_text.h"
#include "live/state/journal_repair.h"

namespace allot {
namespace {

constexpr std::size_t kShown = 10;

std::filesystem::path JournalOf(const std::string& state) {
  return FindStateFolder(state) / "journal.jsonl";
}

void Print(const JournalState& state, const std::filesystem::path& journal,
           const std::filesystem::path& saved, const GlobalOptions& globals) {
  if (globals.json) {
    nlohmann::ordered_json json = {{"records", state.records}, {"damage", nlohmann::json::array()}};
    for (const JournalDamage& each : state.damage) {
      json["damage"].push_back({{"line", each.line}, {"why", each.why}});
    }
    json["torn_bytes"] = state.torn.size();
    if (!saved.empty()) json["damaged_journal"] = saved.string();
    std::printf("%s\n", JsonText(json).c_str());
    return;
  }
  std::printf("%s: %s, %s%s\n", journal.c_str(),
              Counted(static_cast<std::int64_t>(state.records), "record").c_str(),
              Counted(std::ssize(state.damage), "damaged line").c_str(),
              state.torn.empty() ? "" : ", a last line that was cut off (a daemon drops it)");
  for (std::size_t i = 0; i < std::min(kShown, state.damage.size()); ++i) {
    std::printf("  line %d: %s\n", state.damage[i].line, state.damage[i].why.c_str());
  }
  if (state.damage.size() > kShown) {
    std::printf("  and %zu more (--json names them all)\n", state.damage.size() - kShown);
  }
  if (!saved.empty()) {
    std::printf("repaired: without these lines; the damaged journal is %s\n", saved.c_str());
  }
}

CommandInfo OfJournal(const char* name, const char* summary,
                      int (*run)(const std::filesystem::path&, const GlobalOptions&)) {
  return {name, summary, [run](CommandLine& line, const GlobalOptions& globals) {
            auto state = std::make_shared<std::string>();
            line.Option("--state", *state, kStateHelp);
            return [=, &globals] { return run(JournalOf(*state), globals); };
          }};
}

int Check(const std::filesystem::path& journal, const GlobalOptions& globals) {
  const JournalState state = CheckJournal(journal);
  Print(state, journal, {}, globals);
  return state.damage.empty() ? 0 : static_cast<int>(ExitCode::kBadData);
}

// The daemon cannot start with files of another user.
void RequireOwner(const std::filesystem::path& journal) {
  struct stat owned {};
  if (::stat(journal.c_str(), &owned) != 0 || owned.st_uid == ::geteuid()) return;
  throw UsageError("the user of the daemon must repair '{}', which belongs to user {}, got user {}",
                   journal.string(), owned.st_uid, ::geteuid());
}

int Repair(const std::filesystem::path& journal, const GlobalOptions& globals) {
  RequireOwner(journal);
  const FileLock lock(journal.parent_path() / "lock",
                      "one daemon a state folder");  // keeps daemons from writing
  const JournalState state = CheckJournal(journal);
  Print(state, journal,
        state.damage.empty() ? std::filesystem::path() : ReplaceJournal(journal, state), globals);
  return 0;
}

ALLOT_REGISTER(CommandInfo,
               OfJournal("journal check", "whether a daemon can start on its journal", Check));
ALLOT_REGISTER(CommandInfo,
               OfJournal("journal repair", "keep what can be read of a damaged journal", Repair));

}  // namespace
}  // namespace allot
