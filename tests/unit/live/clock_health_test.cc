#include <gtest/gtest.h>

#include "core/file.h"
#include "core/wall_clock.h"
#include "live/health/health_check.h"
#include "live/state/journal_text.h"
#include "tests/unit/core/temp_folder.h"

namespace allot {
namespace {

HealthFinding FindingOf(double journal_begins) {
  const testing_support::TempFolder folder;
  WriteTextFile(folder / "journal.jsonl", JournalLine({0, record::Serve{journal_begins}}));
  const HealthGroup* clock = Registry<HealthGroup>::Global().Find("clock");
  for (HealthFinding& finding : clock->run({folder.path(), std::nullopt}, Params())) {
    if (finding.check == "clock.journal") return finding;
  }
  return {};
}

TEST(ClockHealth, AJournalOfThePastIsFine) {
  EXPECT_EQ(FindingOf(WallSeconds() - 3600).health, Health::kFine);
}

TEST(ClockHealth, AJournalOfTheFutureIsWrong) {
  const HealthFinding found = FindingOf(WallSeconds() + 86400);
  EXPECT_EQ(found.health, Health::kWrong);
  EXPECT_NE(found.seen.find("in the future"), std::string::npos) << found.seen;
}

}  // namespace
}  // namespace allot
