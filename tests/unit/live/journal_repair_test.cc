// What power loss, full disks, editors and old faults leave, and what is kept of it.

#include "live/state/journal_repair.h"

#include <gtest/gtest.h>

#include <string>

#include "core/error.h"
#include "core/file.h"
#include "live/state/journal.h"
#include "tests/unit/core/temp_folder.h"

namespace allot {
namespace {

std::string Line(double at, JournalRecord record) { return JournalLine({at, std::move(record)}); }

struct Damage {
  const char* name;
  std::string text;  // between two good records
  int damaged;       // lines
};

class DamagedJournal : public testing::TestWithParam<Damage> {};

TEST_P(DamagedJournal, IsRepairedAndTheRestIsKept) {
  const testing_support::TempFolder folder;
  const auto path = folder / "journal.jsonl";
  const std::string damaged = Line(1, record::Pause{}) + GetParam().text + Line(9, record::Drain{});
  WriteTextFile(path, damaged);
  const JournalState state = CheckJournal(path);
  EXPECT_EQ(static_cast<int>(state.damage.size()), GetParam().damaged);
  for (const JournalDamage& each : state.damage) EXPECT_EQ(each.line, 2) << each.why;
  const auto saved = ReplaceJournal(path, state);
  EXPECT_EQ(ReadTextFile(saved.string()), damaged);
  Journal journal(path);
  const auto past = journal.TakePast();
  ASSERT_EQ(past.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<record::Pause>(past[0].record));
  EXPECT_TRUE(std::holds_alternative<record::Drain>(past[1].record));
}

const std::string kLine = Line(2, record::Resume{});
INSTANTIATE_TEST_SUITE_P(
    Each, DamagedJournal,
    testing::Values(Damage{"NulsAfterPowerLoss", std::string(512, '\0') + "\n", 1},
                    Damage{"FlippedDigit",
                           [] {
                             auto l = kLine;
                             l[6] ^= 1;
                             return l;
                           }(),
                           1},
                    Damage{"EmptyLine", "\n", 0},
                    Damage{"DoubledLine", Line(1, record::Pause{}), 0},
                    Damage{"HalfALine", kLine.substr(0, 20) + "\n", 1},
                    Damage{"TwoHalves", kLine.substr(0, 20) + kLine, 1},
                    Damage{"WrongType",
                           R"({"at":"2","what":"resume"})"
                           "\n",
                           1},
                    Damage{"NoTime",
                           R"({"what":"resume"})"
                           "\n",
                           1},
                    Damage{"Array", "[1,2]\n", 1}, Damage{"NotUtf8", "\xff\xfe{\n", 1},
                    Damage{"UnknownJob", Line(2, record::Take{"j"}), 1},
                    Damage{"JobBeforeNodes", Line(2, record::NewJob{}), 1},
                    Damage{"MissingField",
                           R"({"at":2,"what":"start"})"
                           "\n",
                           1},
                    Damage{"NumberForText",
                           R"({"at":2,"what":"take","job":7})"
                           "\n",
                           1},
                    Damage{"NullOrigin", Line(2, record::Serve{kUnknown}), 1}),
    [](const auto& param) { return std::string(param.param.name); });

TEST(JournalRepair, AnOlderJournalHasNoChecksums) {
  const testing_support::TempFolder folder;
  const auto path = folder / "journal.jsonl";
  WriteTextFile(path, R"({"at":1,"what":"pause"})"
                      "\n");
  EXPECT_TRUE(CheckJournal(path).damage.empty());
  EXPECT_EQ(Journal(path).TakePast().size(), 1U);
}

// A backup that was added to the journal, of it all or of its first lines.
TEST(JournalRepair, ACopyOfTheBeginningIsReportedOnceAndLeftOut) {
  const std::string lines[] = {Line(0, record::Serve{400}), Line(1, record::Pause{}),
                               Line(2, record::Drain{})};
  const std::string whole = lines[0] + lines[1] + lines[2];
  for (const std::string& text : {whole + whole, lines[0] + lines[1] + whole}) {
    const testing_support::TempFolder folder;
    const auto path = folder / "journal.jsonl";
    WriteTextFile(path, text);
    const JournalState state = CheckJournal(path);
    ASSERT_EQ(state.damage.size(), 1U);
    EXPECT_EQ(state.damage[0].why, "the journal begins anew here, as where a copy was appended");
    EXPECT_EQ(state.kept, whole);
  }
}

TEST(JournalRepair, AJobThatIsNamedTwiceIsDamage) {
  RuntimeNode node{"n1", "gpu", {4, 64}};
  RuntimeJob job;
  job.id = "a";
  job.requested = job.min_gpus = job.max_gpus = 1;
  const testing_support::TempFolder folder;
  const auto path = folder / "journal.jsonl";
  WriteTextFile(path, Line(0, record::Nodes{{node}}) + Line(1, record::NewJob{job, 1}) +
                          Line(2, record::NewJob{job, 2}));
  const JournalState state = CheckJournal(path);
  ASSERT_EQ(state.damage.size(), 1U);
  EXPECT_EQ(state.damage[0].why,
            "'job': a journal names a job once while it is there, got 'a' again");
}

TEST(JournalRepair, ASecondRepairKeepsBothDamagedOnes) {
  const testing_support::TempFolder folder;
  const auto path = folder / "journal.jsonl";
  WriteTextFile(path, "rubbish\n");
  const auto first = ReplaceJournal(path, CheckJournal(path));
  WriteTextFile(path, "more\n");
  const auto second = ReplaceJournal(path, CheckJournal(path));
  EXPECT_EQ(ReadTextFile(first.string()), "rubbish\n");
  EXPECT_EQ(ReadTextFile(second.string()), "more\n");
}

}  // namespace
}  // namespace allot
