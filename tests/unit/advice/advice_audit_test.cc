// What the record of advice knows after a process was killed at any moment.

#include "advice/advice_audit.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/core/temp_folder.h"

namespace allot {
namespace {

using testing_support::Bytes;
using testing_support::TempFolder;

void Replace(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

NiceChange Change(const std::string& job, int before, int after) {
  return {.job = job, .user = "ann", .before = before, .after = after, .submit = 5, .why = "test"};
}

TEST(AdviceAudit, KnowsWhatWasThereBeforeTheFirstChange) {
  const TempFolder folder;
  {
    AdviceAudit audit(folder / "advice.jsonl");
    audit.Intend(Change("7", 0, 40), 100);
    audit.Done(Change("7", 0, 40), 100);
    audit.Intend(Change("7", 40, 90), 160);
    audit.Done(Change("7", 40, 90), 160);
  }
  const AdviceAudit audit(folder / "advice.jsonl");
  const AdviceAudit::Trace& trace = audit.traces().at("7");
  EXPECT_EQ(trace.original, 0);
  EXPECT_TRUE(trace.MayHaveLeft(90));
  EXPECT_FALSE(trace.MayHaveLeft(40));
  EXPECT_EQ(audit.ChangesSince(120), 1);
}

// Cut off anywhere, the file says that the job may have what it has.
TEST(AdviceAudit, CoversTheNiceOfAJobWhereverAProcessWasKilled) {
  const TempFolder folder;
  const auto path = folder / "advice.jsonl";
  struct Step {
    std::size_t written;  // bytes on disk before it
    int nice;             // of the job from then on
  };
  std::vector<Step> steps;
  {
    AdviceAudit audit(path);
    int nice = 0;
    for (const int next : {40, 90, 0, 10}) {
      audit.Intend(Change("7", nice, next), 100);
      steps.push_back({Bytes(path).size(), next});  // the change itself
      audit.Done(Change("7", nice, next), 100);
      nice = next;
    }
  }
  const std::string whole = Bytes(path);
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    const bool at_border = cut == 0 || whole[cut - 1] == '\n' || whole[cut] == '\n';
    if (!at_border && cut % 16 != 0) continue;
    // The process may have been killed before or after a change that its intent announces.
    std::vector<int> possible = {0};
    for (const Step& step : steps) {
      if (cut < step.written) break;
      if (cut > step.written) possible.clear();
      possible.push_back(step.nice);
    }
    Replace(path, whole.substr(0, cut));
    const AdviceAudit audit(path);
    const auto found = audit.traces().find("7");
    for (const int nice : possible) {
      EXPECT_TRUE(found == audit.traces().end() ? nice == 0 : found->second.MayHaveLeft(nice))
          << "cut at " << cut << ", Nice " << nice;
    }
    if (found != audit.traces().end()) {
      EXPECT_EQ(found->second.original, 0);
    }
  }
}

TEST(AdviceAudit, GoesOnBehindARecordThatWasCutOff) {
  const TempFolder folder;
  const auto path = folder / "advice.jsonl";
  {
    AdviceAudit audit(path);
    audit.Intend(Change("7", 0, 40), 100);
    audit.Done(Change("7", 0, 40), 100);
  }
  const std::string whole = Bytes(path);
  Replace(path, whole.substr(0, whole.size() - 5));
  {
    AdviceAudit audit(path);
    audit.Done(Change("7", 0, 40), 100);
  }
  EXPECT_EQ(Bytes(path), whole);
}

TEST(AdviceAudit, ForgetsAJobThatIsAsBefore) {
  const TempFolder folder;
  AdviceAudit audit(folder / "advice.jsonl");
  audit.Intend(Change("7", 0, 40), 100);
  audit.Done(Change("7", 0, 40), 100);
  audit.Intend(Change("7", 40, 0), 200);
  audit.Done(Change("7", 40, 0), 200);
  EXPECT_TRUE(audit.traces().empty());
}

TEST(AdviceAudit, NamesTheLineOfADamagedRecord) {
  const TempFolder folder;
  Replace(folder / "advice.jsonl", "{\"step\": 3}\n");
  ExpectError(ExitCode::kBadData, {"advice.jsonl:1", "step"},
              [&] { const AdviceAudit audit(folder / "advice.jsonl"); });
}

}  // namespace
}  // namespace allot
