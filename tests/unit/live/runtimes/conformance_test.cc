// What the daemon relies on, of every runtime (live/runtimes/runtime.h): the same tests on all of
// them. The suite is the daemon here. Nothing depends on how long things take: it polls until they
// are so.

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "tests/unit/live/runtimes/runtime_place.h"

namespace allot {
namespace {

class RuntimeConformance : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    spdlog::set_level(spdlog::level::off);
    const RuntimePlaceInfo& info = Registry<RuntimePlaceInfo>::Global().Get("place", GetParam());
    const std::string missing = info.missing();
    if (!missing.empty()) GTEST_SKIP() << missing;
    place_ = info.make();
    Until("two nodes that are up", [&] { return UpNodes().size() >= 2; });
  }

  // Nothing is left running for the next test.
  void TearDown() override {
    if (place_ == nullptr) return;
    Poll();
    for (const std::string& worker : Living()) (void)runtime().Stop(worker, StopMode::kKill);
    Until("the end of all workers", [&] { return Living().empty(); });
  }

  Runtime& runtime() { return place_->runtime(); }

  // ---- polling ----

  void Poll() {
    runtime().Wait(0.02);
    snapshot_ = runtime().TakeSnapshot();
    for (const RuntimeWorker& worker : snapshot_.workers) {
      if (started_.contains(worker.id)) last_[worker.id] = worker;
    }
  }
  template <typename Condition>
  void Until(const char* what, const Condition& condition) {
    for (int i = 0; i < 10'000; ++i) {
      Poll();
      if (condition()) return;
    }
    FAIL() << "never came: " << what;
  }

  // ---- what the latest snapshot shows ----

  std::vector<std::string> UpNodes() const {
    std::vector<std::string> names;
    for (const RuntimeNode& node : snapshot_.nodes) {
      if (node.up() && node.capacity.gpus >= 4) names.push_back(node.name);
    }
    return names;
  }
  std::string TypeOf(const std::string& node) const {
    for (const RuntimeNode& one : snapshot_.nodes) {
      if (one.name == node) return one.gpu_type;
    }
    return "";
  }
  // The places of UpNodes of two nodes of different types.
  std::pair<std::size_t, std::size_t> TwoTypes() const {
    const std::vector<std::string> nodes = UpNodes();
    for (std::size_t other = 1; other < nodes.size(); ++other) {
      if (TypeOf(nodes[other]) != TypeOf(nodes[0])) return {0, other};
    }
    ADD_FAILURE() << "the place has GPUs of one type";
    return {0, 0};
  }
  // "2 GPUs" of "v100 0,1", what a worker was told.
  static std::size_t CountOf(const std::string& told) {
    const std::vector<std::string_view> words = Split(told, ' ');
    return words.size() < 2 ? 0 : Split(words[1], ',').size();
  }
  const RuntimeJob* Find(const std::string& job) const {
    for (const auto& one : snapshot_.jobs) {
      if (one->id == job) return one.get();
    }
    return nullptr;
  }
  JobState StateOf(const std::string& job) const {
    const RuntimeJob* found = Find(job);
    EXPECT_NE(found, nullptr) << "job " << job << " is not listed";
    return found == nullptr ? JobState::kActive : found->state;
  }
  const RuntimeWorker* FindWorker(const std::string& id) const {
    for (const RuntimeWorker& worker : snapshot_.workers) {
      if (worker.id == id) return &worker;
    }
    return nullptr;
  }
  bool Ready(const std::string& id) const {
    const RuntimeWorker* worker = FindWorker(id);
    return worker != nullptr && worker->state == WorkerState::kReady;
  }
  // kEnded, or no longer listed.
  bool Ended(const std::string& id) const {
    const RuntimeWorker* worker = FindWorker(id);
    return worker == nullptr || worker->state == WorkerState::kEnded;
  }
  // As it was listed last: it is asked of workers that have ended.
  bool Failed(const std::string& id) const {
    const auto found = last_.find(id);
    return found != last_.end() && found->second.failed;
  }
  std::vector<std::string> Living() const {
    std::vector<std::string> living;
    for (const RuntimeWorker& worker : snapshot_.workers) {
      if (started_.contains(worker.id) && worker.state != WorkerState::kEnded) {
        living.push_back(worker.id);
      }
    }
    return living;
  }

  // ---- doing ----

  std::string Submit(ResizeMode mode = ResizeMode::kHot, GpuCount gpus = 1, GpuCount most = 4,
                     const std::string& types = "") {
    std::string job = place_->Submit(mode, gpus, most, types);
    Until("the job is listed", [&] { return Find(job) != nullptr; });
    return job;
  }

  // Until it is accepted: a runtime may refuse for a while.
  std::vector<std::string> Start(const std::string& job,
                                 const std::vector<std::uint64_t>& gpus_of_node) {
    std::vector<WorkerRequest> requests;
    const std::vector<std::string> nodes = UpNodes();
    for (std::size_t n = 0; n < gpus_of_node.size(); ++n) {
      if (gpus_of_node[n] == 0) continue;
      requests.push_back({fmt::format("{}.{}", job, number_++), nodes.at(n), gpus_of_node[n]});
    }
    std::vector<std::string> workers;
    workers.reserve(requests.size());
    for (const WorkerRequest& request : requests) workers.push_back(request.worker);
    started_.insert(workers.begin(), workers.end());
    requests_ = requests;
    Status done = Status::Refused("not asked yet");
    Until("the start is accepted", [&] {
      done = runtime().Start(job, requests);
      return done.ok();
    });
    EXPECT_TRUE(done.ok()) << done.message();
    return workers;
  }

  void UntilReady(const std::vector<std::string>& workers) {
    Until("all workers have joined", [&] {
      return std::all_of(workers.begin(), workers.end(),
                         [this](const auto& w) { return Ready(w); });
    });
  }

  void Announce(const std::string& job, std::int64_t epoch,
                const std::vector<std::string>& members) {
    const Status done = runtime().Announce(job, {epoch, members});
    EXPECT_TRUE(done.ok()) << done.message();
    Until("the epoch is reached", [&] { return runtime().Progress(job).epoch == epoch; });
  }

  // A hot job with a worker on each of two nodes, which trains.
  std::string Train(std::vector<std::string>* workers) {
    std::string job = Submit();
    *workers = Start(job, {1, 1});
    UntilReady(*workers);
    Announce(job, 0, *workers);
    return job;
  }

  void UntilEnded(const std::string& worker) {
    Until("the worker has ended", [&] { return Ended(worker); });
  }

  std::unique_ptr<RuntimePlace> place_;
  RuntimeSnapshot snapshot_;
  std::vector<WorkerRequest> requests_;  // of the last start
  std::set<std::string> started_;
  std::map<std::string, RuntimeWorker> last_;  // workers as they were listed last
  int number_ = 0;
};

// ---- nodes and jobs ----

TEST_P(RuntimeConformance, NodesKeepTheirOrder) {
  const auto names = [this] {
    std::vector<std::string> result;
    for (const RuntimeNode& node : snapshot_.nodes) result.push_back(node.name);
    return result;
  };
  const std::vector<std::string> before = names();
  Poll();
  EXPECT_EQ(names(), before);
}

TEST_P(RuntimeConformance, AJobIsListedAsItsUserAskedForIt) {
  const std::string job = Submit(ResizeMode::kHot, 2, 3);
  const RuntimeJob* seen = Find(job);
  ASSERT_NE(seen, nullptr);
  EXPECT_EQ(seen->state, JobState::kActive);
  EXPECT_EQ(seen->requested, 2);
  EXPECT_EQ(seen->min_gpus, 2);
  EXPECT_EQ(seen->max_gpus, 3);
  EXPECT_EQ(seen->mode, ResizeMode::kHot);
  EXPECT_FALSE(seen->user.empty());
  const std::string other = Submit(ResizeMode::kRestart, 1, 1);
  ASSERT_NE(Find(other), nullptr);
  EXPECT_EQ(Find(other)->mode, ResizeMode::kRestart);
}

TEST_P(RuntimeConformance, ANodeThatGoesDownIsShownAndComesBack) {
  const std::string node = UpNodes().back();
  if (!place_->SetNodeUp(node, false)) GTEST_SKIP() << "nodes of this runtime never go";
  const auto up = [&] {
    const std::vector<std::string> names = UpNodes();
    return std::find(names.begin(), names.end(), node) != names.end();
  };
  const std::size_t nodes = snapshot_.nodes.size();
  Until("the node is down", [&] { return !up(); });
  EXPECT_EQ(snapshot_.nodes.size(), nodes) << "a node never leaves";
  EXPECT_TRUE(place_->SetNodeUp(node, true));
  Until("the node is back", up);
}

// ---- starting ----

TEST_P(RuntimeConformance, WorkersStartWhereTheyAreToAndJoin) {
  const std::string job = Submit();
  const std::vector<std::string> workers = Start(job, {0b10, 0b1});
  UntilReady(workers);
  for (std::size_t w = 0; w < workers.size(); ++w) {
    const RuntimeWorker* seen = FindWorker(workers[w]);
    ASSERT_NE(seen, nullptr);
    EXPECT_EQ(seen->job, job);
    EXPECT_EQ(seen->node, requests_[w].node);
    EXPECT_EQ(seen->gpus, requests_[w].gpus);
    EXPECT_FALSE(seen->failed);
  }
}

TEST_P(RuntimeConformance, WorkersThatAreStartedTwiceAreThereOnce) {
  const std::string job = Submit();
  const std::vector<std::string> workers = Start(job, {1, 1});
  EXPECT_TRUE(runtime().Start(job, requests_).ok());
  UntilReady(workers);
  EXPECT_TRUE(runtime().Start(job, requests_).ok());
  Poll();
  EXPECT_EQ(Living().size(), 2U);
}

TEST_P(RuntimeConformance, AnUnknownJobStartsNothing) {
  const WorkerRequest request{"9-1.0", UpNodes().front(), 1};
  EXPECT_FALSE(runtime().Start("9-1", std::span(&request, 1)).ok());
  Poll();
  EXPECT_EQ(FindWorker("9-1.0"), nullptr);
}

// ---- epochs ----

TEST_P(RuntimeConformance, AnEpochIsReachedByItsMembersAndTheJobTrains) {
  std::vector<std::string> workers;
  const std::string job = Train(&workers);
  const std::int64_t step = runtime().Progress(job).step;
  Until("a step further", [&] { return runtime().Progress(job).step > step; });
  EXPECT_FALSE(runtime().Progress(job).broken);
}

TEST_P(RuntimeConformance, AJobTrainsWithTheBatchThatItIsTold) {
  std::vector<std::string> workers;
  const std::string job = Train(&workers);
  const WorkerBatchOrder batch{2, 7, 1};
  EXPECT_TRUE(runtime().SetBatch(job, batch).ok());
  Until("it trains so", [&] { return runtime().Progress(job).batch.present == batch; });
}

TEST_P(RuntimeConformance, AJobThatNeverSaidAnythingHasNoProgress) {
  const JobProgress progress = runtime().Progress(Submit());
  EXPECT_EQ(progress.epoch, -1);
  EXPECT_EQ(progress.step, 0);
  EXPECT_FALSE(progress.broken);
}

TEST_P(RuntimeConformance, AnEpochMayBeAnnouncedAgainButNoneBeforeIt) {
  std::vector<std::string> workers;
  const std::string job = Train(&workers);
  EXPECT_TRUE(runtime().Announce(job, {0, workers}).ok());
  Announce(job, 1, workers);
  EXPECT_FALSE(runtime().Announce(job, {0, workers}).ok());
  Poll();
  EXPECT_EQ(runtime().Progress(job).epoch, 1);
  EXPECT_EQ(Living().size(), 2U);
}

TEST_P(RuntimeConformance, AJobGrows) {
  std::vector<std::string> workers;
  const std::string job = Train(&workers);
  const std::vector<std::string> more = Start(job, {0b10});
  UntilReady(more);
  workers.push_back(more.front());
  Announce(job, 1, workers);
  EXPECT_EQ(Living().size(), 3U);
}

TEST_P(RuntimeConformance, AWorkerThatAnEpochLeavesOutEndsAndHasNotFailed) {
  std::vector<std::string> workers;
  const std::string job = Train(&workers);
  Announce(job, 1, {workers[1]});  // rank 0 goes
  UntilEnded(workers[0]);
  EXPECT_FALSE(Failed(workers[0])) << last_[workers[0]].reason;
  EXPECT_TRUE(Ready(workers[1]));
  EXPECT_EQ(StateOf(job), JobState::kActive);
}

// ---- stopping ----

TEST_P(RuntimeConformance, AStoppedWorkerEndsAndHasNotFailed) {
  for (const StopMode mode : {StopMode::kSave, StopMode::kKill}) {
    std::vector<std::string> workers;
    const std::string job = Train(&workers);
    EXPECT_TRUE(runtime().Stop(workers[0], mode).ok());
    EXPECT_TRUE(runtime().Stop(workers[0], mode).ok()) << "asked for twice";
    UntilEnded(workers[0]);
    EXPECT_FALSE(Failed(workers[0])) << last_[workers[0]].reason;
    EXPECT_TRUE(runtime().Stop(workers[0], mode).ok()) << "it is gone";
    EXPECT_TRUE(Ready(workers[1])) << "the other stays";
    EXPECT_EQ(StateOf(job), JobState::kActive);
    EXPECT_TRUE(runtime().Stop(workers[1], StopMode::kKill).ok());
    UntilEnded(workers[1]);
  }
}

TEST_P(RuntimeConformance, AWorkerIsStoppedBeforeItHasJoined) {
  const std::string job = Submit();
  const std::vector<std::string> workers = Start(job, {1});
  EXPECT_TRUE(runtime().Stop(workers[0], StopMode::kKill).ok());
  Poll();
  UntilEnded(workers[0]);
  EXPECT_FALSE(Failed(workers[0])) << last_[workers[0]].reason;
}

TEST_P(RuntimeConformance, NobodyIsStoppedForAnUnknownName) {
  std::vector<std::string> workers;
  const std::string job = Train(&workers);
  EXPECT_TRUE(runtime().Stop(job + ".99", StopMode::kKill).ok());
  Poll();
  EXPECT_EQ(Living().size(), 2U);
}

// ---- failing ----

TEST_P(RuntimeConformance, AWorkerThatIsKilledHasFailedAndIsReplaced) {
  std::vector<std::string> workers;
  const std::string job = Train(&workers);
  place_->Kill(workers[0]);
  UntilEnded(workers[0]);
  EXPECT_TRUE(Failed(workers[0]));
  EXPECT_NE(last_[workers[0]].reason, "");
  EXPECT_EQ(StateOf(job), JobState::kActive);
  const std::vector<std::string> more = Start(job, {1});
  UntilReady(more);
  Announce(job, 1, {workers[1], more[0]});
}

TEST_P(RuntimeConformance, AMemberThatEndsWithSuccessForNoReasonHasFailed) {
  std::vector<std::string> workers;
  Train(&workers);
  place_->ExitWithSuccess(workers[0]);
  UntilEnded(workers[0]);
  EXPECT_TRUE(Failed(workers[0]));
  EXPECT_NE(last_[workers[0]].reason.find("member"), std::string::npos) << last_[workers[0]].reason;
}

TEST_P(RuntimeConformance, AJobThatIsGivenUpHasFailed) {
  std::vector<std::string> workers;
  const std::string job = Train(&workers);
  EXPECT_TRUE(runtime().Fail(job, "it never worked").ok());
  Until("it has failed", [&] { return StateOf(job) == JobState::kFailed; });
  EXPECT_EQ(Find(job)->reason, "it never worked");
}

// ---- ending ----

TEST_P(RuntimeConformance, AJobThatFinishesIsOverAndNobodyHasFailed) {
  std::vector<std::string> workers;
  const std::string job = Train(&workers);
  place_->Finish(job);
  Until("it has finished", [&] { return StateOf(job) == JobState::kFinished; });
  for (const std::string& worker : workers) (void)runtime().Stop(worker, StopMode::kSave);
  for (const std::string& worker : workers) {
    UntilEnded(worker);
    EXPECT_FALSE(Failed(worker)) << last_[worker].reason;
  }
  runtime().Forget(job);
  runtime().Forget(job);
  Poll();
  EXPECT_EQ(Find(job), nullptr) << "it was to be forgotten";
}

TEST_P(RuntimeConformance, AJobThatIsCancelledIsOverAndNobodyHasFailed) {
  std::vector<std::string> workers;
  const std::string job = Train(&workers);
  if (!runtime().Cancel(job).ok()) {
    ASSERT_TRUE(place_->CancelByUser(job)) << "neither the daemon nor a user can cancel it";
  }
  Until("it is cancelled", [&] { return StateOf(job) == JobState::kCancelled; });
  for (const std::string& worker : workers) (void)runtime().Stop(worker, StopMode::kSave);
  for (const std::string& worker : workers) {
    UntilEnded(worker);
    EXPECT_FALSE(Failed(worker)) << last_[worker].reason;
  }
}

TEST_P(RuntimeConformance, AUserCancelsByTheClustersOwnMeans) {
  const std::string job = Submit();
  if (!place_->CancelByUser(job)) GTEST_SKIP() << "the cluster has none";
  Until("it is cancelled", [&] { return StateOf(job) == JobState::kCancelled; });
}

// ---- jobs that are resized by a restart ----

TEST_P(RuntimeConformance, ARestartedJobStopsStartsElsewhereAndFinishes) {
  const std::string job = Submit(ResizeMode::kRestart, 2, 4);
  const std::vector<std::string> first = Start(job, {0b11});
  UntilReady(first);
  EXPECT_TRUE(runtime().Stop(first[0], StopMode::kSave).ok());
  UntilEnded(first[0]);
  EXPECT_FALSE(Failed(first[0])) << last_[first[0]].reason;
  EXPECT_EQ(StateOf(job), JobState::kActive) << "it goes on later";
  const std::vector<std::string> second = Start(job, {0, 0b1111});
  UntilReady(second);
  place_->Finish(job);
  Until("it has finished", [&] { return StateOf(job) == JobState::kFinished; });
  UntilEnded(second[0]);
  EXPECT_FALSE(Failed(second[0])) << last_[second[0]].reason;
}

// ---- types of GPUs ----

TEST_P(RuntimeConformance, AJobIsListedWithTheTypesThatItAccepts) {
  const auto [one, other] = TwoTypes();
  const std::string types = TypeOf(UpNodes()[one]) + "|" + TypeOf(UpNodes()[other]);
  const std::string job = Submit(ResizeMode::kHot, 1, 4, types);
  ASSERT_NE(Find(job), nullptr);
  EXPECT_EQ(Find(job)->gpu_types, types);
  EXPECT_EQ(Find(job)->state, JobState::kActive) << Find(job)->reason;
  EXPECT_EQ(Find(Submit())->gpu_types, "") << "any";
}

TEST_P(RuntimeConformance, WorkersAreToldTheTypeAndAsManyGpusAsTheyWereGiven) {
  const auto [one, other] = TwoTypes();
  const std::string job = Submit();
  std::vector<std::uint64_t> gpus(other + 1, 0);
  gpus[one] = gpus[other] = 0b10;
  const std::vector<std::string> workers = Start(job, gpus);
  UntilReady(workers);
  for (std::size_t w = 0; w < workers.size(); ++w) {
    std::optional<std::string> told;
    Until("the worker has written it down", [&] {
      told = place_->Told(job, workers[w]);
      return told != "";
    });
    if (!told) GTEST_SKIP() << "no processes";
    EXPECT_TRUE(told->starts_with(TypeOf(requests_[w].node) + " ")) << *told;
    EXPECT_EQ(CountOf(*told), 1U) << *told;
  }
}

TEST_P(RuntimeConformance, ARestartedJobGoesToGpusOfAnotherType) {
  const auto [one, other] = TwoTypes();
  const std::string types = TypeOf(UpNodes()[one]) + "|" + TypeOf(UpNodes()[other]);
  const std::string job = Submit(ResizeMode::kRestart, 2, 4, types);
  std::vector<std::uint64_t> first_gpus(one + 1, 0), second_gpus(other + 1, 0);
  first_gpus[one] = 0b11;
  second_gpus[other] = 0b1111;
  const auto told = [&](const std::string& worker) {
    return place_->Told(job, worker).value_or("none 0,1,2,3");
  };
  const std::vector<std::string> first = Start(job, first_gpus);
  UntilReady(first);
  Until("its GPUs are told", [&] { return CountOf(told(first[0])) >= 2; });
  EXPECT_TRUE(runtime().Stop(first[0], StopMode::kSave).ok());
  UntilEnded(first[0]);
  const std::vector<std::string> second = Start(job, second_gpus);
  UntilReady(second);
  Until("it has four GPUs", [&] { return CountOf(told(second[0])) == 4; });
  EXPECT_EQ(FindWorker(second[0])->node, requests_[0].node);
  ASSERT_NE(Find(job), nullptr);
  EXPECT_EQ(Find(job)->gpu_types, types) << "as its user said, wherever it runs";
  EXPECT_EQ(StateOf(job), JobState::kActive);
}

// ---- the next daemon ----

TEST_P(RuntimeConformance, TheNextDaemonFindsWorkersAndGoesOn) {
  std::vector<std::string> workers;
  const std::string job = Train(&workers);
  const std::vector<WorkerRequest> requests = requests_;
  place_->EndDaemon();
  place_->BeginDaemon();
  UntilReady(workers);
  for (std::size_t w = 0; w < workers.size(); ++w) {
    EXPECT_EQ(FindWorker(workers[w])->node, requests[w].node);
    EXPECT_EQ(FindWorker(workers[w])->gpus, requests[w].gpus);
  }
  EXPECT_EQ(StateOf(job), JobState::kActive);
  Until("the epoch is told", [&] { return runtime().Progress(job).epoch == 0; });
  EXPECT_TRUE(runtime().Start(job, requests).ok()) << "they are there";
  EXPECT_TRUE(runtime().Announce(job, {0, workers}).ok());
  Announce(job, 1, {workers[0]});
  UntilEnded(workers[1]);
  EXPECT_FALSE(Failed(workers[1])) << last_[workers[1]].reason;
  EXPECT_EQ(Living(), std::vector<std::string>{workers[0]});
}

TEST_P(RuntimeConformance, TheNextDaemonLearnsWhatDiedMeanwhile) {
  std::vector<std::string> workers;
  const std::string job = Train(&workers);
  place_->EndDaemon();
  place_->Kill(workers[0]);
  place_->BeginDaemon();
  UntilEnded(workers[0]);
  EXPECT_TRUE(Failed(workers[0]));
  UntilReady({workers[1]});
  EXPECT_EQ(StateOf(job), JobState::kActive);
}

TEST_P(RuntimeConformance, TheNextDaemonLearnsThatAJobFinished) {
  std::vector<std::string> workers;
  const std::string job = Train(&workers);
  place_->EndDaemon();
  place_->Finish(job);
  place_->BeginDaemon();
  Until("it has finished", [&] { return StateOf(job) == JobState::kFinished; });
}

TEST_P(RuntimeConformance, AJobThatWasStoppedStaysStoppedForTheNextDaemon) {
  const std::string job = Submit();
  const std::vector<std::string> workers = Start(job, {1});
  UntilReady(workers);
  EXPECT_TRUE(runtime().Stop(workers[0], StopMode::kSave).ok());
  UntilEnded(workers[0]);
  place_->EndDaemon();
  place_->BeginDaemon();
  Poll();
  EXPECT_TRUE(Ended(workers[0]));
  EXPECT_FALSE(Failed(workers[0])) << last_[workers[0]].reason;
  EXPECT_EQ(StateOf(job), JobState::kActive);
}

INSTANTIATE_TEST_SUITE_P(AllRuntimes, RuntimeConformance,
                         testing::ValuesIn(Registry<RuntimePlaceInfo>::Global().ids()),
                         [](const auto& place) { return place.param; });

}  // namespace
}  // namespace allot
