// The Slurm runtime on a Slurm of no machines: what many jobs cost it. How it places, resizes and
// ends them is tested on real clusters (tests/unit/live/runtimes, tests/integration).

#include "live/runtimes/slurm/slurm_runtime.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "core/file.h"
#include "tests/unit/core/temp_folder.h"
#include "tests/unit/live/runtimes/slurm/fake_slurm.h"

namespace allot {
namespace {

class SlurmRuntimeTest : public testing::Test {
 protected:
  SlurmRuntimeTest() {
    spdlog::set_level(spdlog::level::off);
    SlurmNode node;
    node.name = "n1";
    node.gres = "gpu:4";
    node.cpus = 64;
    node.memory_mib = 100'000;
    node.features = {"v100"};
    node.partitions = {"main"};
    slurm_.nodes = {node};
    Serve("127.0.0.1");
  }

  // Another one on the same state folder, once the one before has ended.
  void Serve(const std::string& address, const std::string& home_partition = "") {
    runtime_.reset();
    SlurmOptions options;
    options.address = address;
    options.home_partition = home_partition;
    options.state = folder_ / "slurm";
    runtime_ = std::make_unique<SlurmRuntime>(
        std::move(options),
        OpenedSlurm{std::make_unique<testing_support::FakeSlurm>(&slurm_), "a test's"});
  }
  std::string Address() const { return ReadTextFile((folder_ / "slurm" / "address").string()); }

  // One that waits; as sbatch makes it.
  SlurmJob& Submit(std::uint32_t id, const std::string& comment) {
    SlurmJob& job = slurm_.jobs[id];
    job.id = id;
    job.user_id = 1000;
    job.partition = "elastic";
    job.comment = comment;
    job.submit = 1'700'000'000 + id;
    return job;
  }
  std::string NameOf(std::uint32_t id) const {
    const SlurmJob& job = slurm_.jobs.at(id);
    return JobName(job.known_as(), job.submit);
  }

  testing_support::TempFolder folder_;
  testing_support::FakeSlurmState slurm_;
  std::unique_ptr<SlurmRuntime> runtime_;
};

TEST_F(SlurmRuntimeTest, JobsWithoutGpusThatSlurmRefusesToMoveAreNotAskedForAtEachLook) {
  constexpr std::uint32_t kJobs = 300;
  for (std::uint32_t id = 1; id <= kJobs; ++id) Submit(id, "");
  slurm_.refuses = true;
  constexpr int kLooks = 20;
  for (int look = 0; look < kLooks; ++look) (void)runtime_->TakeSnapshot();
  EXPECT_LT(slurm_.changes, kLooks * int{kJobs} / 2);
  slurm_.refuses = false;
  Submit(kJobs + 1, "");
  (void)runtime_->TakeSnapshot();
  EXPECT_EQ(slurm_.jobs.at(kJobs + 1).partition, "main") << "the others hold it not up";
}

TEST_F(SlurmRuntimeTest, ADryRunAsksForNothing) {
  SlurmOptions options;
  options.address = "127.0.0.1";
  options.dry_run = true;
  options.state = folder_ / "dry";
  SlurmRuntime dry(std::move(options),
                   OpenedSlurm{std::make_unique<testing_support::FakeSlurm>(&slurm_), ""});
  Submit(1, "");
  Submit(2, "allot min=nonsense");
  (void)dry.TakeSnapshot();
  EXPECT_EQ(slurm_.changes, 0);
}

// Elastic jobs of two workers each, jobs that are not placed and jobs that Slurm does not take come
// and go, as many at a time as are listed.
TEST_F(SlurmRuntimeTest, OfJobsThatWereNothingIsKept) {
  constexpr std::uint32_t kRounds = 200;
  std::size_t after_one = 0;
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    const std::uint32_t first = 10'000 + 10 * round;
    slurm_.jobs.clear();
    Submit(first, "allot min=1 max=2").state = SlurmState::kRunning;
    Submit(first + 1, "allot min=nonsense");
    (void)runtime_->TakeSnapshot();
    const std::string job = NameOf(first);
    ASSERT_TRUE(
        runtime_
            ->Start(job, std::vector<WorkerRequest>{{job + ".0", "n1", 1}, {job + ".1", "n1", 2}})
            .ok());
    (void)runtime_->TakeSnapshot();
    ASSERT_TRUE(runtime_->Stop(job + ".0", StopMode::kKill).ok());
    for (auto& [id, record] : slurm_.jobs) {
      if (id == first + 1) continue;
      record.state = SlurmState::kFailed;
      record.ended = true;
    }
    const RuntimeSnapshot seen = runtime_->TakeSnapshot();
    EXPECT_EQ(seen.workers.size(), 2U);
    EXPECT_TRUE(std::ranges::all_of(seen.workers, [](const RuntimeWorker& worker) {
      return worker.state == WorkerState::kEnded;
    }));
    if (round % 2 == 0) runtime_->Forget(job);
    (void)runtime_->TakeSnapshot();
    EXPECT_GT(runtime_->remembered(), 0U) << "Slurm lists them";
    if (round == 0) after_one = runtime_->remembered();
    EXPECT_LE(runtime_->remembered(), 2 * after_one + 2) << round;
  }
  slurm_.jobs.clear();
  (void)runtime_->TakeSnapshot();
  EXPECT_EQ(runtime_->remembered(), 0U);
}

TEST_F(SlurmRuntimeTest, AWorkerThatOutlivedItsJobIsEndedOnce) {
  SlurmJob& stray = Submit(5, "");
  stray.partition = "main";
  stray.state = SlurmState::kRunning;
  stray.admin_comment = ToText(WorkerTag{4, "gone", "gone.0", 1});
  (void)runtime_->TakeSnapshot();
  EXPECT_EQ(slurm_.cancels, 1);
  stray.state = SlurmState::kCancelled;
  stray.ended = stray.completing = true;  // for as long as its node does not answer
  for (int look = 0; look < 5; ++look) (void)runtime_->TakeSnapshot();
  EXPECT_EQ(slurm_.cancels, 1);
}

TEST_F(SlurmRuntimeTest, TheAddressStaysUnlessAnotherOneIsNamed) {
  const std::string first = Address();
  Serve("127.0.0.1");
  EXPECT_EQ(Address(), first) << "workers know it";
  Serve("127.0.0.2");
  const std::string second = Address();
  EXPECT_TRUE(second.starts_with("tcp:127.0.0.2:")) << second;
  Serve("127.0.0.2");
  EXPECT_EQ(Address(), second);
}

TEST_F(SlurmRuntimeTest, WhyAJobFitsNowhereIsInItsAdminCommentUntilItFits) {
  SlurmJob& job = Submit(1, "allot min=1 max=2");
  const auto look_twice = [this] {
    (void)runtime_->TakeSnapshot();
    (void)runtime_->TakeSnapshot();
  };
  look_twice();
  runtime_->Explain(NameOf(1), {});
  look_twice();
  EXPECT_EQ(slurm_.changes, 0) << "there is nothing to say";
  runtime_->Explain(NameOf(1), JobTrouble{"no node is as large"});
  look_twice();
  EXPECT_EQ(job.admin_comment, "allot does not place this job: no node is as large");
  look_twice();
  EXPECT_EQ(slurm_.changes, 1);
  runtime_->Explain(NameOf(1), {});
  look_twice();
  EXPECT_EQ(job.admin_comment, "allot places this job when there are GPUs for it");
  look_twice();
  EXPECT_EQ(slurm_.changes, 2);
  EXPECT_EQ(runtime_->TakeSnapshot().jobs.at(0)->state, JobState::kActive);
}

// Its tag says which worker has what; what is wrong comes behind it.
TEST_F(SlurmRuntimeTest, ThatNobodyJoinsIsInTheAdminCommentOfAJobThatWasBegun) {
  SlurmJob& job = Submit(1, "allot min=1 max=2");
  const std::string name = NameOf(1);
  const auto look_twice = [this] {
    (void)runtime_->TakeSnapshot();
    (void)runtime_->TakeSnapshot();
  };
  look_twice();
  ASSERT_TRUE(runtime_->Start(name, std::vector<WorkerRequest>{{name + ".0", "n1", 1}}).ok());
  job.state = SlurmState::kRunning;
  runtime_->Explain(name, {});
  look_twice();
  const std::string tag = "allot job=" + name + " asked=0,1,0,";
  EXPECT_EQ(job.admin_comment, tag);
  const int before = slurm_.changes;
  runtime_->Explain(name, JobTrouble{"nobody joins", true});
  look_twice();
  EXPECT_EQ(job.admin_comment, tag + ": nobody joins");
  EXPECT_EQ(slurm_.changes, before + 1);
  EXPECT_EQ(runtime_->TakeSnapshot().jobs.at(0)->state, JobState::kActive) << "it is not given up";
  Serve("127.0.0.1");
  look_twice();
  runtime_->Explain(name, {});
  look_twice();
  EXPECT_EQ(job.admin_comment, tag) << "the next daemon takes it back";
}

class SlurmScriptTest : public SlurmRuntimeTest {
 protected:
  // An elastic job of eight cores and 3000 MiB a worker, which has one worker.
  SlurmJob& Begin(std::uint64_t memory) {
    SlurmJob& job = Submit(1, "allot min=1 max=2");
    job.cpus = job.cpus_per_node = job.cpus_per_task = 8;
    job.memory = memory;
    job.constraint = "v100";
    Start(0);
    return job;
  }
  // The worker's job.
  SlurmJob& Start(int worker) {
    (void)runtime_->TakeSnapshot();
    const std::string name = NameOf(1);
    const auto id = fmt::format("{}.{}", name, worker);
    EXPECT_TRUE(runtime_->Start(name, std::vector<WorkerRequest>{{id, "n1", 1}}).ok());
    return slurm_.jobs.at(slurm_.last);
  }
  void CountMemory(SlurmMemory memory) { slurm_.partitions = {{"main", true, memory}}; }
};

TEST_F(SlurmScriptTest, HasOneCoreAndLittleMemoryAndItsWorkersWhatItAskedFor) {
  CountMemory(SlurmMemory::kByDefault);
  const SlurmJob& script = Begin(3000);
  EXPECT_EQ(script.partition, "main");
  EXPECT_EQ(script.cpus_per_task, 1);
  EXPECT_EQ(script.memory, 512U);
  EXPECT_EQ(script.constraint, "v100");
  Serve("127.0.0.1");
  const SlurmJob& later = Start(1);
  EXPECT_EQ(later.cpus_per_task, 8) << "the next daemon knows it from the tag";
  EXPECT_EQ(later.memory, 3000U);
  slurm_.nodes.front().memory_mib = 2000;
  EXPECT_EQ(runtime_->TakeSnapshot().jobs.at(0)->state, JobState::kHeld)
      << "no node has the memory of a worker";
}

TEST_F(SlurmScriptTest, KeepsItsMemoryWhereNobodyCountsIt) { EXPECT_EQ(Begin(3000).memory, 3000U); }

TEST_F(SlurmScriptTest, RunsOnAnyNodeOfThePartitionThatIsNamedForScripts) {
  Serve("127.0.0.1", "home");
  const SlurmJob& script = Begin(0);
  EXPECT_EQ(script.partition, "home");
  EXPECT_EQ(script.constraint, "");
  EXPECT_EQ(Start(1).partition, "main");
  EXPECT_EQ(runtime_->TakeSnapshot().jobs.at(0)->limits, "") << "all nodes have v100";
}

TEST_F(SlurmScriptTest, AWorkerThatWouldGetAllMemoryOfItsNodeGetsThatOfItsGpus) {
  CountMemory(SlurmMemory::kWholeByNone);
  (void)Begin(0);
  EXPECT_EQ(Start(1).memory, 22'500U) << "nine tenths, by four GPUs";
}

TEST_F(SlurmRuntimeTest, APartitionThatShouldBeDownAndIsUpIsWarnedOf) {
  slurm_.partitions = {{"main", true}, {"elastic", false}};
  EXPECT_FALSE(runtime_->TakeSnapshot().warning);
  slurm_.partitions.back().up = true;
  EXPECT_NE(runtime_->TakeSnapshot().warning.value_or("").find("partition 'elastic' is up"),
            std::string::npos);
}

TEST_F(SlurmRuntimeTest, TasksOfAnArrayThatAreNoJobsYetAreCounted) {
  Submit(1, "allot min=1").tasks = "0-2,10-19:2%3";
  Submit(2, "allot min=1");
  const RuntimeSnapshot seen = runtime_->TakeSnapshot();
  EXPECT_EQ(seen.jobs.size(), 1U);
  EXPECT_EQ(seen.more, 8U);
}

class SlurmJobOfItsOwn : public SlurmRuntimeTest {
 protected:
  // One that is resized by being requeued, as it runs on n1.
  SlurmJob& Run(const std::string& comment) {
    SlurmJob& job = Submit(1, comment);
    job.gpus = "gres:gpu:1";
    (void)runtime_->TakeSnapshot();
    const std::string name = NameOf(1);
    EXPECT_TRUE(runtime_->Start(name, std::vector<WorkerRequest>{{name + ".0", "n1", 1}}).ok());
    job.state = SlurmState::kRunning;
    job.start = 1'700'000'500;
    return job;
  }
  RuntimeWorker Worker() { return runtime_->TakeSnapshot().workers.at(0); }
  Status Stop() { return runtime_->Stop(NameOf(1) + ".0", StopMode::kSave); }
};

TEST_F(SlurmJobOfItsOwn, WhileItIsRequeuedItWaitsForNobody) {
  SlurmJob& job = Run("allot min=1 max=2 resize=restart");
  EXPECT_EQ(Worker().state, WorkerState::kReady);
  EXPECT_EQ(Worker().began, 1'700'000'500);
  ASSERT_TRUE(Stop().ok());
  job.state = SlurmState::kPending;
  job.completing = job.on_hold = true;
  job.pending = "JobHeldUser";
  EXPECT_FALSE(Worker().pending);
  EXPECT_EQ(runtime_->TakeSnapshot().jobs.at(0)->state, JobState::kActive) << "the hold is ours";
}

TEST_F(SlurmJobOfItsOwn, BeforeItBeginsItWaitsForWhatSlurmSays) {
  SlurmJob& job = Run("allot min=1 max=2 resize=restart");
  job.state = SlurmState::kPending;
  job.pending = "Resources";
  EXPECT_EQ(Worker().pending->reason, "Resources");
}

TEST_F(SlurmJobOfItsOwn, WhileItsNodeIsNotDoneWithItsEndItHoldsItsGpusAndIsNotStopped) {
  SlurmJob& job = Run("");  // which may not be stopped
  EXPECT_EQ(Worker().state, WorkerState::kReady);
  job.state = SlurmState::kCompleted;
  job.completing = job.ended = true;
  EXPECT_EQ(Worker().state, WorkerState::kReady);
  const int before = slurm_.changes;
  EXPECT_TRUE(Stop().ok());
  EXPECT_EQ(slurm_.changes, before);
  job.completing = false;
  EXPECT_EQ(Worker().state, WorkerState::kEnded);
}

TEST_F(SlurmJobOfItsOwn, OneThatMayBeStoppedIsNotRunAgainAfterItsEnd) {
  SlurmJob& job = Run("allot min=1 max=2 resize=restart");
  (void)Worker();
  job.state = SlurmState::kCompleted;
  job.completing = job.ended = true;
  (void)Worker();
  EXPECT_TRUE(Stop().ok());
  EXPECT_EQ(job.admin_comment.find("stopping=1"), std::string::npos) << job.admin_comment;
}

// So that a look at many thousand jobs that wait costs little.
TEST_F(SlurmRuntimeTest, OfAJobThatWaitsTheRecordIsMadeAgainWhenItOrTheClusterChanges) {
  SlurmJob& job = Submit(1, "allot min=1 max=2");
  const auto look = [this] { return runtime_->TakeSnapshot().jobs.at(0); };
  const auto first = look();
  EXPECT_EQ(look(), first);
  job.nice = 5;
  const auto later = look();
  EXPECT_NE(later, first);
  EXPECT_EQ(later->priority, -5);
  job.constraint = "fast";
  const auto nowhere = look();
  EXPECT_EQ(nowhere->state, JobState::kHeld) << "no node is fast";
  slurm_.nodes[0].features = {"fast"};
  EXPECT_EQ(look()->state, JobState::kActive);
  SlurmQos one_gpu;
  one_gpu.a_job = 1;
  slurm_.limits.qos = {one_gpu};
  EXPECT_EQ(look()->at_most->gpus, 1);
  ASSERT_TRUE(runtime_->Fail(NameOf(1), "it always fails").ok());
  EXPECT_EQ(look()->state, JobState::kFailed);
  slurm_.jobs.clear();
  EXPECT_TRUE(runtime_->TakeSnapshot().jobs.empty());
}

}  // namespace
}  // namespace allot
