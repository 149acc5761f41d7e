#include "live/state/live_state.h"

#include <gtest/gtest.h>

#include <string>

#include "core/error.h"

namespace allot {
namespace {

// Two nodes of 4 GPUs; job 'a' may have 1 to 8 GPUs.
class LiveStateTest : public testing::Test {
 protected:
  LiveStateTest() : state_(JobTable::Options{}) {
    state_.Apply(JournalRecord::parse(R"({"at": 0, "what": "serve", "origin": 0})"));
    state_.Apply(JournalRecord::parse(R"({"at": 0, "what": "nodes", "nodes": [
      {"node": "n1", "type": "v100", "gpus": 4, "cpus": 32, "up": true},
      {"node": "n2", "type": "v100", "gpus": 4, "cpus": 32, "up": true}]})"));
    RuntimeJob asked;
    asked.id = "a";
    asked.requested = 2;
    asked.min_gpus = 1;
    asked.max_gpus = 8;
    JournalRecord record = record::Job(asked, 0, kNever);
    record["at"] = 0;
    record["what"] = "job";
    state_.Apply(record);
  }
  void Give(JournalRecord record) {
    record["at"] = 1;
    record["what"] = "give";
    state_.Apply(record);
  }
  std::string Key() {
    const LiveJob& job = *state_.job_table().Find("a");
    return job.table->KeyText(job.running, state_.job_table().nominal().types());
  }
  std::string Refusal(const char* record) {
    try {
      Give(JournalRecord::parse(record));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  LiveState state_;
};

TEST_F(LiveStateTest, TheJournalKeepsTheConfigurationsKey) {
  const std::vector<NodeShare> shares = {{0, {2}, 0b0011}, {1, {1}, 0b1000}};
  const JournalRecord record =
      record::Give("a", "gpus=3 type=v100", shares, state_.nodes(), "because");
  EXPECT_EQ(record.at("configuration"), "gpus=3 type=v100");
  Give(record);
  EXPECT_EQ(Key(), "gpus=3 type=v100");
  EXPECT_EQ(state_.job_table().Find("a")->shares, shares);
}

TEST_F(LiveStateTest, JournalsWithoutKeysAreRead) {
  Give(JournalRecord::parse(R"({"job": "a", "shares": [["n1", 3], ["n2", 1]], "why": "old"})"));
  EXPECT_EQ(Key(), "gpus=3 type=v100");
}

TEST_F(LiveStateTest, KeysThatTheJobDoesNotHaveAreRefused) {
  EXPECT_EQ(Refusal(R"({"job": "a", "configuration": "gpus=3 type=v100 nodes=1",
                        "shares": [["n1", 7]], "why": "x"})"),
            "job 'a' is given 'gpus=3 type=v100 nodes=1', which is none of its 8 configurations");
  EXPECT_EQ(Refusal(R"({"job": "a", "configuration": "gpus=3 type=h100",
                        "shares": [["n1", 7]], "why": "x"})"),
            "a configuration names one of the GPU types v100, got 'h100' in 'gpus=3 type=h100'");
}

// The daemon had forgotten it (keep_ended); its journal had not.
TEST_F(LiveStateTest, TheNameOfAJobThatIsOverComesAgain) {
  const auto apply = [this](const char* text) { state_.Apply(JournalRecord::parse(text)); };
  apply(R"({"at": 2, "what": "over", "job": "a", "state": "finished", "gpu_seconds": 1,
            "run_time": 1})");
  apply(R"({"at": 2, "what": "retire", "job": "a"})");
  const auto first = state_.job_table().Find("a")->index;
  RuntimeJob again;
  again.id = "a";
  again.requested = again.min_gpus = again.max_gpus = 4;
  JournalRecord record = record::Job(again, 3, kNever);
  record["at"] = 3;
  record["what"] = "job";
  state_.Apply(record);
  const LiveJob& second = *state_.job_table().Find("a");
  EXPECT_NE(second.index, first);
  EXPECT_FALSE(second.over);
  EXPECT_EQ(second.asked->requested, 4);
  EXPECT_EQ(state_.job_table().jobs().size(), 1U);
  EXPECT_EQ(state_.job_table().finished(), 1);
}

}  // namespace
}  // namespace allot
