#include "live/state/journal_repair.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/file.h"
#include "live/state/live_state.h"
#include "live/state/records_json.h"

namespace allot {

JournalState CheckJournal(const std::filesystem::path& journal) {
  const std::string bytes = ReadTextFile(journal.string());
  JournalText text = ReadJournalText(bytes);
  JournalState state;
  state.damage = std::move(text.damage);
  state.torn = std::move(text.torn);
  LiveState live({});
  for (std::size_t i = 0; i < text.records.size(); ++i) {
    const auto& [number, line] = text.lines[i];
    try {
      live.Apply(text.records[i]);
    } catch (const std::exception& error) {
      state.damage.push_back(
          {number, fmt::format("'{}': {}", KindOf(text.records[i].record), error.what())});
      continue;
    }
    state.kept += line;
    ++state.records;
  }
  std::sort(state.damage.begin(), state.damage.end(),
            [](const JournalDamage& a, const JournalDamage& b) { return a.line < b.line; });
  return state;
}

std::filesystem::path ReplaceJournal(const std::filesystem::path& journal,
                                     const JournalState& state) {
  std::filesystem::path saved;
  for (int number = 1; saved.empty() || std::filesystem::exists(saved); ++number) {
    saved = journal;
    saved += fmt::format(".damaged-{}", number);
  }
  std::filesystem::create_hard_link(journal, saved);  // there is always a journal
  WriteTextFile(journal, state.kept);
  return saved;
}

}  // namespace allot
