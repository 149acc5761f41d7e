#include "live/runtimes/slurm/job_place.h"

#include <gtest/gtest.h>

#include "clients/slurm/resources.h"

namespace allot {
namespace {

// n1 and n2 have GPUs of one type each, n3 has two types, which are nodes to the daemon.
class JobPlaceTest : public testing::Test {
 protected:
  std::string RefusalOf(const std::string& asked, const std::vector<WorkerRequest>& workers) {
    return PlaceJob("7", asked, workers, parts_, &change_).message();
  }

  const NodeParts parts_ = {{"n1", {.node = "n1", .gpu_type = "a100"}},
                            {"n2", {.node = "n2", .gpu_type = "a100"}},
                            {"n3:a100", {.node = "n3", .gpu_type = "a100", .whole = false}},
                            {"n3:v100", {.node = "n3", .gpu_type = "v100", .whole = false}}};
  SlurmChange change_;
};

TEST_F(JobPlaceTest, OfSeveralNodesEachGivesAsMany) {
  ASSERT_EQ(RefusalOf("gres:gpu:4", {{"7.0", "n1", 0x3}, {"7.1", "n2", 0x5}}), "");
  EXPECT_EQ(change_.nodes, "n1,n2");
  EXPECT_EQ(change_.node_count, 2U);
  EXPECT_EQ(change_.gres, GresRequest(2, ""));
}

TEST_F(JobPlaceTest, AJobThatNamedATypeKeepsIt) {
  ASSERT_EQ(RefusalOf("gres:gpu:a100:4", {{"7.0", "n3:a100", 0x1}}), "");
  EXPECT_EQ(change_.nodes, "n3");
  EXPECT_EQ(change_.gres, GresRequest(1, "a100"));
  EXPECT_NE(RefusalOf("gres:gpu:a100:4", {{"7.0", "n3:v100", 0x1}})
                .find("job 7 asks for 'gres:gpu:a100:4', n3:v100 has 'v100'"),
            std::string::npos);
}

TEST_F(JobPlaceTest, AJobThatNamedNoTypeGetsNoPartOfANode) {
  EXPECT_NE(RefusalOf("gres:gpu:4", {{"7.0", "n3:v100", 0x1}}), "");
}

TEST_F(JobPlaceTest, UnequalNumbersAreRefused) {
  EXPECT_EQ(RefusalOf("gres:gpu:4", {{"7.0", "n1", 0x3}, {"7.1", "n2", 0x1}}),
            "Slurm gives a job the same GPUs on each of its nodes, not 2 'a100' on n1 and 1 'a100' "
            "on n2");
}

TEST_F(JobPlaceTest, SoAreUnequalTypes) {
  EXPECT_NE(RefusalOf("gres:gpu:a100:2", {{"7.0", "n1", 0x1}, {"7.1", "n3:v100", 0x1}}), "");
}

}  // namespace
}  // namespace allot
