#pragma once
// A LiveCluster on two nodes, with decisions by hand.

#include <bit>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/live/daemon_fixture.h"

namespace allot {

// A daemon's inside on two nodes of four GPUs, driven by hand.
class LiveClusterFixture : public DaemonTest {
 protected:
  LiveClusterFixture() {
    options_.interval = 10;
    runtime_.AddNode("n1", 4);
    runtime_.AddNode("n2", 4);
  }

  // Gives each job in the order of rows so many GPUs, first free ones first.
  Allocation Of(const std::vector<std::pair<std::string, GpuCount>>& wants) {
    const Observation& o = port_->Observe();
    std::vector<std::uint64_t> free;
    for (const Node& node : o.cluster->nodes()) free.push_back(GpuMask(node.capacity.gpus));
    Allocation allocation;
    for (std::int32_t row = 0; row < o.rows(); ++row) {
      const auto& id = cluster_->state().job_table().jobs().at(o.job[std::size_t(row)]).asked->id;
      for (const auto& [name, gpus] : wants) {
        if (name != id) continue;
        std::vector<NodeShare> shares;
        GpuCount left = gpus;
        for (std::size_t n = 0; n < free.size() && left > 0; ++n) {
          std::uint64_t mask = 0;
          for (; left > 0 && free[n] != 0; --left) {
            mask |= free[n] & -free[n];
            free[n] &= free[n] - 1;
          }
          if (mask == 0) continue;
          shares.push_back({NodeIndex(n), {std::int16_t(std::popcount(mask)), 0}, mask});
        }
        const auto& table = *o.table[std::size_t(row)];
        allocation.Add(o.job[std::size_t(row)], table.Find({std::int16_t(gpus), 0}, 0), shares);
      }
    }
    return allocation;
  }

  void Decide(const std::vector<std::pair<std::string, GpuCount>>& wants) {
    const ApplyReport report = port_->Apply(Of(wants));
    EXPECT_TRUE(report.refused.ok()) << report.refused.message();
  }

  // Looks until the condition holds; the test fails after a thousand looks.
  template <typename Condition>
  void Until(const char* what, const Condition& condition) {
    for (int i = 0; i < 1000; ++i) {
      if (condition()) return;
      port_->WaitForChange(0);  // every interval at the latest
    }
    FAIL() << "never came: " << what << "\n" << JournalEnd();
  }
  // For the message of a test that failed: the journal explains what happened.
  std::string JournalEnd() const {
    std::ifstream in(folder_ / "journal.jsonl");
    std::string text((std::istreambuf_iterator<char>(in)), {});
    return text.substr(text.size() - std::min<std::size_t>(text.size(), 3000));
  }
  bool Trains(const std::string& id, std::size_t gpus) {
    const LiveJob* job = const_cast<LiveState&>(cluster_->state()).job_table().Find(id);
    return job != nullptr && job->worker_group.workers().size() == gpus &&
           job->worker_group.training(runtime_.jobs.at(id).progress);
  }
  // Decides so, and polls until each job trains on its GPUs.
  void TrainOn(const std::vector<std::pair<std::string, GpuCount>>& wants) {
    Decide(wants);
    for (const auto& want : wants) {
      const auto gpus = static_cast<std::size_t>(want.second);
      Until((want.first + " trains").c_str(), [&] { return Trains(want.first, gpus); });
    }
  }
  void ServeAndTrain(const std::vector<std::pair<std::string, GpuCount>>& wants) {
    Serve();
    ASSERT_TRUE(port_->WaitForChange(0));
    TrainOn(wants);
  }
};

}  // namespace allot
