// The runtime "local" by itself; what it shares with others is in runtimes/conformance_test.cc.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/file.h"
#include "live/runtimes/runtime.h"
#include "tests/unit/core/temp_folder.h"

namespace allot {
namespace {

TEST(LocalRuntime, ListsAJobThatArrivedAlsoAfterTheClockWasSetBack) {
  const testing_support::TempFolder folder;
  const auto begin = [&] {
    return MakeRuntime("local:spool=" + (folder / "spool").string(), {folder / "state"});
  };
  std::unique_ptr<Runtime> runtime = begin();
  WriteTextFile(folder / "spool" / "jobs.toml", R"([[job]]
name = "now"
command = ["true"]
[[job]]
name = "later"
after = "1h"
command = ["true"]
)");
  ASSERT_EQ(runtime->TakeSnapshot().jobs.size(), 1U);
  runtime.reset();

  for (const char* job : {"now", "later"}) {  // as it looks when the clock is an hour behind
    const auto path = folder / "state" / "local" / "jobs" / job / "job.json";
    auto json = nlohmann::ordered_json::parse(ReadTextFile(path.string()));
    json["submit"] = json["submit"].get<double>() + 3600;
    WriteTextFile(path, json.dump());
  }
  const RuntimeSnapshot snapshot = begin()->TakeSnapshot();
  ASSERT_EQ(snapshot.jobs.size(), 1U);
  EXPECT_EQ(snapshot.jobs[0]->id, "now");
  EXPECT_EQ(snapshot.more, 1U);
}

}  // namespace
}  // namespace allot
