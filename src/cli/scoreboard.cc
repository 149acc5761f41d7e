// allot scoreboard: results of allot score as one board, and as the page and figure of the docs.

#include "experiment/score/scoreboard.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "core/error.h"
#include "core/file.h"
#include "core/json_text.h"
#include "core/strings.h"
#include "metrics/json_field.h"

namespace allot {
namespace {

struct ScoreboardCommand {
  std::vector<std::string> results;
  std::string page;
  std::string figure;
  std::string claim;
};

constexpr std::string_view kBegin = "<!-- begin of what allot scoreboard writes -->\n";
constexpr std::string_view kEnd = "<!-- end of what allot scoreboard writes -->\n";

// The page with the part between its marks replaced.
std::string FilledPage(const std::string& path, const std::string& part) {
  const std::string page = ReadTextFile(path);
  const std::size_t begin = page.find(kBegin);
  const std::size_t end = page.find(kEnd);
  if (begin == std::string::npos || end == std::string::npos || end < begin) {
    throw DataError("{}: the page must hold the lines '{}' and '{}', in this order", path,
                    Trim(kBegin), Trim(kEnd));
  }
  return page.substr(0, begin + kBegin.size()) + "\n" + part + "\n" + page.substr(end);
}

// Exit code of the claim that a policy is first, and near the first in every task.
int Check(const Scoreboard& board, const std::string& claim) {
  const auto verdict = board.VerdictOf(claim);
  if (!verdict)
    throw UsageError("--claim must name a policy that played every task, got '{}'", claim);
  if (board.IsFirst(claim) && verdict->behind.empty()) return 0;
  std::fprintf(stderr, "%s is %s, and behind by more than 0.5 %% in: %s\n", claim.c_str(),
               board.IsFirst(claim) ? "first" : "not first",
               verdict->behind.empty() ? "no task" : Join(verdict->behind, ", ").c_str());
  return static_cast<int>(ExitCode::kCheckFailed);
}

int ShowScoreboard(const ScoreboardCommand& o, const GlobalOptions& globals) {
  std::vector<ScoreResult> results;
  results.reserve(o.results.size());
  for (const std::string& path : o.results) {
    results.push_back(ScoreResultFromJson(ParseJson(ReadTextFile(path), path), path));
  }
  const Scoreboard board(std::move(results));
  if (!o.page.empty()) WriteTextFile(o.page, FilledPage(o.page, board.ToMarkdown()));
  if (!o.figure.empty()) WriteTextFile(o.figure, board.ToSvg());
  if (globals.json) {
    std::printf("%s\n", JsonText(board.ToJson()).c_str());
  } else {
    std::printf("%s", board.ToText().c_str());
  }
  return o.claim.empty() ? 0 : Check(board, o.claim);
}

ALLOT_REGISTER(
    CommandInfo,
    (CommandInfo{
        "scoreboard", "results of allot score as one table, policies by tasks",
        [](CommandLine& line, const GlobalOptions& globals) {
          auto o = std::make_shared<ScoreboardCommand>();
          line.Option("results", o->results, "files of allot score with one suite and one salt")
              .Required();
          line.Option("--page", o->page,
                      "Markdown file: what stands between its two marks becomes the board");
          line.Option("--figure", o->figure, "write the ranked policies by tasks to this SVG file");
          line.Option("--claim", o->claim,
                      "exit code 4 unless this policy is first, and within 0.5 % of the fastest in "
                      "every task");
          return [o, &globals] { return ShowScoreboard(*o, globals); };
        }}));

}  // namespace
}  // namespace allot
