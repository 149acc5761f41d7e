// Tables of configurations and graphs as tensors: WriteConfigurations, WriteGraph.

#include <gtest/gtest.h>

#include <vector>

#include "features/configuration_tensor.h"
#include "features/graph_tensors.h"
#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

// Two nodes of 4 GPUs of two types; one job runs on 2 GPUs of the second node, one waits.
class ObservationTensors : public ::testing::Test {
 protected:
  ObservationTensors()
      : cluster_(ClusterSpec::Parse("1x4:k80,1x8:v100")),
        table_("t", {{"gpu", {1, 0}}},
               {{.units = {1}, .gpu_type = 0, .demand = {1, 0}, .cost = 1, .rate = 0.5},
                {.units = {2},
                 .gpu_type = 1,
                 .span = {2, 2},
                 .demand = {2, 0},
                 .cost = 2,
                 .rate = 3}}) {
    o_.cluster = &cluster_;
    o_.ClearJobs();
    JobRow row;
    row.table = &table_;
    row.job = 7;
    row.running = 1;
    const NodeShare held{.node = 1, .units = {2}, .gpus = 0b101};
    o_.Append(row, std::span(&held, 1));
    row.job = 9;
    row.running = -1;
    o_.Append(row);
  }

  ClusterSpec cluster_;
  ConfigurationTable table_;
  Observation o_;
};

TEST_F(ObservationTensors, ConfigurationsHaveTheColumnsOfTheirTable) {
  std::vector<float> tensor(3 * 3 * kConfigurationColumns, 5);
  WriteConfigurations(o_, 3, 3, tensor);
  const std::vector<float> none = {0, -1, 0, 0, 0, 0};
  std::vector<float> expected;
  for (const std::vector<float>& row : std::vector<std::vector<float>>{{1, 0, 1, 0.5, 1, 0},
                                                                       {2, 1, 2, 3, 2, 0},
                                                                       none,  // the running job
                                                                       {1, 0, 1, 0.5, 1, 0},
                                                                       {2, 1, 2, 3, 2, 0},
                                                                       none,  // the waiting one
                                                                       none,
                                                                       none,
                                                                       none}) {  // no job
    expected.insert(expected.end(), row.begin(), row.end());
  }
  EXPECT_EQ(tensor, expected);
}

TEST_F(ObservationTensors, AWindowShowsItsFirstConfigurationsOnly) {
  std::vector<float> tensor(kConfigurationColumns);
  WriteConfigurations(o_, 1, 1, tensor);
  EXPECT_EQ(tensor, (std::vector<float>{1, 0, 1, 0.5, 1, 0}));
}

TEST_F(ObservationTensors, EdgesAreGpusOfJobsOnNodes) {
  std::vector<float> nodes(3 * kNodeColumns);
  std::vector<float> edges(2 * 3, 9);
  WriteGraph(o_, 2, 3, {.nodes = nodes, .edges = edges});
  EXPECT_EQ(nodes, (std::vector<float>{4, 4, 0, 8, 6, 1, 0, 0, -1}));
  EXPECT_EQ(edges, (std::vector<float>{0, 2, 0, 0, 0, 0}));
}

TEST_F(ObservationTensors, JobsBeyondTheWindowHoldGpusWithoutAnEdge) {
  o_.share_begin = {0, 0, 1};  // the second row holds them
  std::vector<float> nodes(2 * kNodeColumns);
  std::vector<float> edges(1 * 2, 9);
  WriteGraph(o_, 1, 2, {.nodes = nodes, .edges = edges});
  EXPECT_EQ(nodes[kNodeColumns + kNodeFreeGpus], 6);
  EXPECT_EQ(edges, (std::vector<float>{0, 0}));
}

TEST_F(ObservationTensors, AGraphOfTooFewNodesIsAUsageError) {
  std::vector<float> nodes(1 * kNodeColumns);
  std::vector<float> edges(2 * 1);
  ExpectError(ExitCode::kUsage, {"max_nodes=1"},
              [&] { WriteGraph(o_, 2, 1, {.nodes = nodes, .edges = edges}); });
}

}  // namespace
}  // namespace allot
