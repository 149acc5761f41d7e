#include "live/state/journal_repair.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/file.h"
#include "live/state/live_state.h"

namespace allot {

JournalState CheckJournal(const std::filesystem::path& journal) {
  JournalText text = ReadJournalText(ReadTextFile(journal.string()));
  JournalState state;
  state.damage = std::move(text.damage);
  state.torn = std::move(text.torn);
  LiveState live({});
  for (std::size_t i = 0; i < text.records.size(); ++i) {
    try {
      live.Apply(text.records[i]);
    } catch (const std::exception& error) {
      state.damage.push_back(
          {text.lines[i],
           fmt::format("'{}': {}", text.records[i]["what"].get<std::string>(), error.what())});
      continue;
    }
    state.kept.push_back(std::move(text.records[i]));
  }
  state.records = state.kept.size();
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
  std::string text;
  for (const JournalRecord& record : state.kept) text += JournalLine(record);
  std::filesystem::create_hard_link(journal, saved);  // there is always a journal
  WriteTextFile(journal, text);
  return saved;
}

}  // namespace allot
