#include "live/runtimes/slurm/slurm_client.h"

#include <gtest/gtest.h>

#include <memory>

#include "live/runtimes/slurm/slurm_tags.h"
#include "tests/unit/live/runtimes/slurm/fake_slurm.h"

namespace allot {
namespace {

using testing_support::FakeSlurm;
using testing_support::FakeSlurmState;

class SlurmClientTest : public testing::Test {
 protected:
  SlurmJob& Add(std::uint32_t id) {
    SlurmJob& job = state_.jobs[id];
    job.id = id;
    return job;
  }
  // As a daemon leaves it that was killed between a worker's submission and its tag.
  void AddUntagged(std::uint32_t id) {
    SlurmJob& job = Add(id);
    job.on_hold = true;
    job.comment = ToText(WorkerTag{.user_job = 1, .job = "1-5f", .worker = "1-5f.0", .gpus = 1});
  }
  SlurmSnapshot Look(bool read_only) {
    SlurmClient client({std::make_unique<FakeSlurm>(&state_), "a fake"}, read_only);
    return client.TakeSnapshot();
  }

  FakeSlurmState state_;
};

TEST_F(SlurmClientTest, WorkersWithoutATagAreEndedAndInNoSnapshot) {
  AddUntagged(1);
  AddUntagged(2);
  Add(3).on_hold = true;  // somebody's own
  AddUntagged(4);
  state_.jobs.at(4).admin_comment = "elastic-of:1 job=1-5f worker=1-5f.0 gpus=1";
  const SlurmSnapshot seen = Look(false);
  EXPECT_EQ(state_.cancels, 2);
  ASSERT_EQ(seen.jobs.size(), 2U);
  EXPECT_EQ(seen.jobs[0]->id, 3U);
  EXPECT_EQ(seen.jobs[1]->id, 4U);
}

TEST_F(SlurmClientTest, WhoOnlyLooksEndsNothing) {
  AddUntagged(1);
  EXPECT_EQ(Look(true).jobs.size(), 1U);
  EXPECT_EQ(state_.cancels, 0);
}

}  // namespace
}  // namespace allot
