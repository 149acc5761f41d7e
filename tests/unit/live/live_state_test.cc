#include "live/state/live_state.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

// Two nodes of 4 GPUs; job 'a' may have 1 to 8 GPUs.
class LiveStateTest : public testing::Test {
 protected:
  LiveStateTest() : state_(JobTable::Options{}) {
    state_.Apply({0, record::Serve{0}});
    RuntimeNode node{.name = "n1", .gpu_type = "v100", .capacity = {.gpus = 4, .cpus = 32}};
    record::Nodes nodes{{node, node}};
    nodes.nodes[1].name = "n2";
    state_.Apply({0, nodes});
    Submit(0, 2, 1, 8);
  }
  void Submit(Seconds at, GpuCount requested, GpuCount least, GpuCount most) {
    record::NewJob job;
    job.asked.id = "a";
    job.asked.requested = requested;
    job.asked.min_gpus = least;
    job.asked.max_gpus = most;
    job.submit = at;
    state_.Apply({at, job});
  }
  void Give(std::optional<std::string> key, std::vector<record::NamedGpus> nodes) {
    state_.Apply({1, record::Give{"a", {std::move(key), std::move(nodes)}, "because"}});
  }
  std::string Key() {
    const LiveJob& job = *state_.job_table().Find("a");
    return job.table->KeyText(job.running, state_.job_table().nominal().types());
  }
  std::string Refusal(const std::string& key) {
    return ErrorOf(ExitCode::kBadData, [&] { Give(key, {{"n1", 7}}); });
  }

  LiveState state_;
};

TEST_F(LiveStateTest, TheJournalKeepsTheConfigurationsKey) {
  const std::vector<NodeShare> shares = {{0, {2}, 0b0011}, {1, {1}, 0b1000}};
  const record::Allocated allocated = state_.Named("gpus=3 type=v100", shares);
  EXPECT_EQ(allocated.nodes[1].node, "n2");
  Give(allocated.configuration, allocated.nodes);
  EXPECT_EQ(Key(), "gpus=3 type=v100");
  EXPECT_EQ(state_.job_table().Find("a")->shares, shares);
}

TEST_F(LiveStateTest, JournalsWithoutKeysAreRead) {
  Give(std::nullopt, {{"n1", 3}, {"n2", 1}});
  EXPECT_EQ(Key(), "gpus=3 type=v100");
}

TEST_F(LiveStateTest, KeysThatTheJobDoesNotHaveAreRefused) {
  EXPECT_EQ(Refusal("gpus=3 type=v100 nodes=1"),
            "job 'a' is given 'gpus=3 type=v100 nodes=1', which is none of its 8 configurations");
  EXPECT_EQ(Refusal("gpus=3 type=h100"),
            "a configuration names one of the GPU types v100, got 'h100' in 'gpus=3 type=h100'");
}

// The daemon had forgotten it (keep_ended); its journal had not.
TEST_F(LiveStateTest, TheNameOfAJobThatIsOverComesAgain) {
  state_.Apply({2, record::Over{.job = "a", .gpu_seconds = 1, .run_time = 1}});
  state_.Apply({2, record::Retire{"a"}});
  const auto first = state_.job_table().Find("a")->index;
  Submit(3, 4, 4, 4);
  const LiveJob& second = *state_.job_table().Find("a");
  EXPECT_NE(second.index, first);
  EXPECT_FALSE(second.over);
  EXPECT_EQ(second.asked->requested, 4);
  EXPECT_EQ(state_.job_table().jobs().size(), 1U);
  EXPECT_EQ(state_.job_table().finished(), 1);
}

}  // namespace
}  // namespace allot
