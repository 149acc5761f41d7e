// Training and serving encode the same bytes: a moment of a live cluster as the daemon has it, as
// it is read back from a snapshot, and as the simulator has it.

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <cstring>
#include <filesystem>

#include "cluster/snapshot.h"
#include "core/json_text.h"
#include "features/encoder.h"
#include "live/port/live_cluster.h"
#include "sched/policy.h"
#include "sim/simulated_cluster.h"
#include "tests/unit/core/temp_folder.h"
#include "tests/unit/live/fake_runtime.h"

namespace allot {
namespace {

class LiveBytesTest : public testing::Test {
 protected:
  LiveBytesTest() : runtime_(&time_), clock_(kUnknown, 0, time_.source()) {
    spdlog::set_level(spdlog::level::off);
    journal_ = std::make_unique<Journal>(folder_ / "journal.jsonl");
    runtime_.AddNode("n1", 4, "v100");
    runtime_.AddNode("n2", 4, "k80");
    Submit("a", "resnet50:64", 2, 8, 500000);
    Submit("c", "resnet18:16", 4, 4, 90000);
  }

  void Submit(const std::string& id, const std::string& model, GpuCount gpus, GpuCount most,
              double work) {
    RuntimeJob& job = runtime_.AddJob(id, gpus, 1, most);
    job.model = model;
    job.user = id < "c" ? "ann" : "bob";
    job.total_work = work;
  }
  LiveCluster& Serve() {
    LiveOptions options;
    options.interval = 10;
    cluster_ = std::make_unique<LiveCluster>(runtime_, journal_.get(), clock_, options,
                                             std::vector<TimedRecord>{});
    cluster_->WaitForChange(0);
    return *cluster_;
  }

  FakeTime time_;
  FakeRuntime runtime_;
  LiveClock clock_;
  testing_support::TempFolder folder_;
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<LiveCluster> cluster_;
};

// An encoder that sees one way's observations, decision by decision.
class Way {
 public:
  const FeatureBatch& Encode(const Observation& o) {
    encoder_.Encode(o, &batch_);
    return batch_;
  }

 private:
  FeatureEncoder encoder_;
  FeatureBatch batch_;
};

std::string NameOf(const std::vector<std::string>* names, std::int32_t index) {
  return index < 0 ? "" : names->at(static_cast<std::size_t>(index));
}

std::string Bytes(const FeatureBatch& batch) {
  std::string bytes;
  for (const std::vector<float>* part : {&batch.jobs, &batch.context}) {
    bytes.append(reinterpret_cast<const char*>(part->data()), part->size() * sizeof(float));
  }
  return bytes;
}

TEST_F(LiveBytesTest, ALiveMomentIsTheSameInASnapshot) {
  Submit("b", "", 1, 4, kUnknown);  // neither model nor length is known
  LiveCluster& cluster = Serve();
  const auto policy = MakePolicy("index");
  policy->OnEpisodeStart({});
  Way direct, record;
  Allocation allocation;
  bool measured = false;
  bool ended = false;
  for (int decision = 0; decision < 40; ++decision) {
    const Observation& live = cluster.Observe();
    std::vector<std::string> names;
    for (const JobIndex job : live.job) names.push_back(std::to_string(job));
    const std::string text = JsonText(SnapshotJson(live, names));
    const std::unique_ptr<Snapshot> read = ParseSnapshot(text, "record");
    read->observation.job = live.job;  // in a record jobs are numbered by row,
    for (std::size_t r = 0; r < live.job.size(); ++r) {
      // and users and groups by name.
      ASSERT_EQ(read->users[read->observation.user[r]], NameOf(live.user_names, live.user[r]));
      ASSERT_EQ(read->groups[read->observation.group[r]], NameOf(live.group_names, live.group[r]));
    }
    read->observation.user = live.user;
    read->observation.group = live.group;

    const std::string bytes = Bytes(direct.Encode(live));
    ASSERT_EQ(Bytes(record.Encode(read->observation)), bytes) << text;

    if (decision == 20) runtime_.Finish("c");
    if (decision == 10) Submit("d", "resnet18:16", 1, 2, 40000);
    measured = measured || (live.rows() > 1 && live.done_work[1] > 0);
    ended = ended || (decision > 20 && live.rows() == 3);
    policy->Decide(live, &allocation);
    ASSERT_TRUE(cluster.Apply(allocation).refused.ok());
    cluster.WaitForChange(0);
  }
  EXPECT_TRUE(measured) << "jobs made progress";
  EXPECT_TRUE(ended) << "and one ended";
}

TEST_F(LiveBytesTest, AMomentIsTheSameOnALiveAndOnASimulatedCluster) {
  const Observation& live = Serve().Observe();
  Workload workload;
  workload.name = "the same jobs";
  for (const auto& [id, data] : runtime_.jobs) {
    Job job;
    job.id = id;
    job.gpus = data.job.requested;
    job.min_gpus = data.job.min_gpus;
    job.max_gpus = data.job.max_gpus;
    job.model = workload.models.Intern(data.job.model);
    job.work = data.job.total_work;
    job.user = workload.users.Intern(data.job.user);
    job.group = workload.groups.Intern(data.job.model);
    job.duration = 1;  // it has work instead
    workload.jobs.push_back(job);
  }
  workload.Finish();
  SimOptions options;
  options.interval = 10;
  options.restart_cost = 1;
  options.lengths = LengthEstimates::Parse("true");
  const Scenario scenario(std::move(workload), ClusterSpec::Parse("1x4x64:v100,1x4x64:k80"),
                          options);
  const SimulatedCluster simulated(scenario);

  Way here, there;
  const Observation& o = simulated.Observe();
  EXPECT_EQ(live.rows(), 2);
  EXPECT_EQ(live.now, o.now);
  EXPECT_EQ(live.user, o.user);
  EXPECT_EQ(live.group, o.group);
  EXPECT_EQ(*live.user_names, *o.user_names);
  EXPECT_EQ(*live.group_names, *o.group_names);
  EXPECT_EQ(Bytes(here.Encode(live)), Bytes(there.Encode(o)));
}

}  // namespace
}  // namespace allot
