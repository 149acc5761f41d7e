// A journal that is made anew: the same state, whatever happened before, and at every moment one
// journal that is whole.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/file.h"
#include "live/state/journal.h"
#include "tests/unit/live/daemon_fixture.h"
#include "workload/live_journal.h"
#include "workload/trace_reader.h"

namespace allot {
namespace {

// ---- the state ----

constexpr StepTiming kPassTimes{0.01, 0.0001, 0.004, 0.0005, 0.002, 0.0002, 1.5};

std::string TextOf(const LiveState& state) {
  std::string text;
  state.ForEachRecord(state.origin(), 0,
                      [&text](const TimedRecord& record) { text += JournalLine(record); });
  return text;
}

void ApplyAll(std::span<const TimedRecord> records, LiveState* state) {
  for (const TimedRecord& record : records) state->Apply(record);
}

// A daemon to which anything may happen, on two nodes of four GPUs.
class RandomHistory : public DaemonTest, public testing::WithParamInterface<int> {
 protected:
  RandomHistory() : random_(static_cast<unsigned>(GetParam())) {
    runtime_.AddNode("n1", 4);
    runtime_.AddNode("n2", 4);
  }
  int Below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }

  std::string AnyJob() {
    const auto& active = cluster_->state().job_table().active();
    return active.empty() ? "" : active[std::size_t(Below(int(active.size())))]->asked->id;
  }
  void Arrive() {
    const GpuCount gpus = 1 + Below(4);
    RuntimeJob& job = runtime_.AddJob("j" + std::to_string(jobs_++), gpus, 1, gpus + Below(4),
                                      Below(3) == 0 ? ResizeMode::kRestart : ResizeMode::kHot);
    job.user = Below(2) == 0 ? "ann" : "bob";
    job.model = Below(2) == 0 ? "resnet50:64" : "own";
    job.deadline = Below(3) == 0 ? time_.wall + 1000 : kNever;
  }
  // As a client library does of a job whose batch follows its workers.
  void Report(const std::string& id) {
    JobProgress& p = runtime_.jobs.at(id).progress;
    const GpuCount workers = std::max(1, runtime_.Alive(id));
    p.batch.initial = 64;
    p.batch.most = 4096;
    p.batch.least_local = 4;
    p.batch.most_local = 512;
    p.batch.timed = {workers, 64 / workers, 0};
    const auto local = static_cast<double>(p.batch.timed.local);
    p.batch.gradient = kPassTimes.Gradient(local);
    p.batch.iteration = kPassTimes.Iteration(false, workers, local, 0);
    p.noise_scale = 100.0 * (1 + Below(9));
  }
  void DecideAnything() {
    const LiveState& state = cluster_->state();
    const auto& active = state.job_table().active();
    if (state.drained() || active.empty()) return;
    port_->WaitForChange(0);
    const Observation& o = port_->Observe();
    std::vector<std::uint64_t> free;
    for (const Node& node : o.cluster->nodes()) free.push_back(GpuMask(node.capacity.gpus));
    Allocation allocation;
    for (std::size_t row = 0; row < o.job.size(); ++row) {
      GpuCount left = Below(5);
      std::vector<NodeShare> shares;
      GpuCount given = 0;
      for (std::size_t n = 0; n < free.size(); ++n) {
        std::uint64_t mask = 0;
        for (; left > 0 && free[n] != 0; --left, ++given) {
          mask |= free[n] & -free[n];
          free[n] &= free[n] - 1;
        }
        if (mask != 0) shares.push_back({NodeIndex(n), UnitCounts(std::popcount(mask)), mask});
      }
      const std::int32_t c = o.table[row]->Find(UnitCounts(given), 0, shares.size());
      if (given > 0 && c >= 0) allocation.Add(o.job[row], c, shares);
    }
    const ApplyReport report = port_->Apply(allocation);
    EXPECT_TRUE(report.refused.ok()) << report.refused.message();
  }
  void AnythingHappens() {
    const std::string job = AnyJob();
    const auto alive = runtime_.AliveIds(job);
    switch (Below(12)) {
      case 0:
        return Arrive();
      case 1:
        return job.empty() ? void() : runtime_.Finish(job);
      case 2:
        return alive.empty() ? void() : runtime_.Kill(alive.front());
      case 3:
        runtime_.nodes[std::size_t(Below(2))].state =
            Below(2) == 0 ? NodeState::kUp : NodeState::kDown;
        return;
      case 4:
        runtime_.refuse_starts = Below(2);
        return;
      case 5:
        return Below(2) == 0 ? cluster_->DrainNode("n2") : cluster_->UndrainNode("n2");
      case 6:
        return Below(2) == 0 ? cluster_->Drain() : cluster_->Undrain();
      case 7:
        return job.empty() ? void() : Report(job);
      case 8:
        return Serve();  // after a kill -9
      case 9:
        time_.Pass(31);
        return;
      default:
        return DecideAnything();
    }
  }

  std::mt19937 random_;
  int jobs_ = 0;
};

TEST_P(RandomHistory, TheRecordsOfAStateMakeTheSameState) {
  for (int i = 0; i < 4; ++i) Arrive();
  Serve();
  Look();
  for (int step = 0; step < 150; ++step) {
    AnythingHappens();
    for (int i = 0; i < 3; ++i) Look();
  }
  journal_->Commit();
  const auto all = ReadJournalText(ReadTextFile((folder_ / "journal.jsonl").string())).records;
  ASSERT_GT(all.size(), 100U);
  for (int part = 1; part <= 4; ++part) {
    const std::size_t cut = all.size() * std::size_t(part) / 4;
    const std::span<const TimedRecord> before(all.data(), cut);
    const std::span<const TimedRecord> after(all.data() + cut, all.size() - cut);
    LiveState whole(options_.job_table);
    ApplyAll(before, &whole);
    LiveState renewed(options_.job_table);
    whole.ForEachRecord(whole.origin(), whole.last(),
                        [&renewed](const TimedRecord& record) { renewed.Apply(record); });
    EXPECT_EQ(TextOf(renewed), TextOf(whole));
    for (const LiveJob* job : whole.job_table().active()) {
      const LiveJob* same = renewed.job_table().Find(job->asked->id);
      ASSERT_NE(same, nullptr);
      ASSERT_EQ(same->unfit, job->unfit);
      EXPECT_EQ(same->table->fingerprint(), job->table->fingerprint()) << job->asked->id;
    }
    ApplyAll(after, &whole);
    ApplyAll(after, &renewed);
    EXPECT_EQ(TextOf(renewed), TextOf(whole)) << "what follows is understood as before";
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomHistory, testing::Range(0, 6));

// ---- the file ----

class RenewalTest : public testing::Test {
 protected:
  RenewalTest() : path_(folder_ / kJournalName), archive_(folder_ / kJournalArchiveName) {}

  // So long that it is made anew when asked.
  void Fill(Journal* journal, const std::string& name) const {
    const TimedRecord record{1, record::Take{name, std::string(1000, 'x')}};
    while (!journal->long_enough()) journal->Append(record);
    journal->Commit();
  }
  std::string Text() const { return ReadTextFile(path_.string()); }
  std::string Past() const { return ReadTextFile(archive_.string()); }
  static std::string State(JournalRecord record) { return JournalLine({2, std::move(record)}); }

  testing_support::TempFolder folder_;
  std::filesystem::path path_, archive_;
};

TEST_F(RenewalTest, TheArchiveHasAllThatWas) {
  Journal journal(path_);
  Fill(&journal, "a");
  const std::string first = Text();
  journal.Renew(2, State(record::Pause{}));
  EXPECT_EQ(Past(), first);
  Fill(&journal, "b");
  const std::string second = Text();
  EXPECT_NE(second.find("pause"), std::string::npos);
  journal.Renew(3, State(record::Drain{}));
  EXPECT_EQ(Past(), first + second);
  journal.Append({4, record::Resume{}});
  const auto past = Journal(path_).TakePast();
  ASSERT_EQ(past.size(), 3U);
  EXPECT_TRUE(std::holds_alternative<record::Renewed>(past[0].record));
  EXPECT_TRUE(std::holds_alternative<record::Drain>(past[1].record));
  EXPECT_TRUE(std::holds_alternative<record::Resume>(past[2].record));
}

TEST_F(RenewalTest, WhatFailedIsNotInTheArchiveTwice) {
  const std::filesystem::path part = folder_ / (std::string(kJournalName) + ".part");
  Journal journal(path_);
  for (int renewals = 0; renewals < 2; ++renewals) {
    const std::string past = renewals == 0 ? "" : Past();
    Fill(&journal, "a");
    std::filesystem::create_directory(part);  // where the new journal is to be
    EXPECT_THROW(journal.Renew(2, State(record::Pause{})), Error);
    std::filesystem::remove(part);
    Fill(&journal, "b");
    const std::string whole = Text();
    journal.Renew(3, State(record::Pause{}));
    EXPECT_EQ(Past(), past + whole);
  }
}

TEST_F(RenewalTest, AJournalThatIsNotLongAgainstItsStateStays) {
  Journal journal(path_);
  Fill(&journal, "a");
  const std::string before = Text();
  journal.Renew(2, State(record::Take{"a", std::string(300000, 'x')}));
  EXPECT_EQ(Text(), before);
  EXPECT_FALSE(journal.long_enough()) << "it is asked at every look";
}

// Cut off while the first archive is written, while a later one grows, while the new journal is
// written, and before it has its name: the old journal is there, and the archive is what it was.
TEST_F(RenewalTest, ACutOffAtAnyPointLeavesTheOldJournal) {
  for (const int renewals : {0, 1}) {
    std::filesystem::remove(path_);
    std::filesystem::remove(archive_);
    std::string journal_before, past_before, bytes_before, bytes_after;
    {
      Journal journal(path_);
      for (int i = 0; i < renewals; ++i) {
        Fill(&journal, "a");
        journal.Renew(2, State(record::Pause{}));
      }
      Fill(&journal, "b");
      journal_before = Text();
      if (renewals > 0) past_before = Past();
      bytes_before = testing_support::Bytes(archive_);
      journal.Renew(3, State(record::Drain{}));
      bytes_after = testing_support::Bytes(archive_);
    }
    ASSERT_TRUE(bytes_after.starts_with(bytes_before));
    const std::string renewed = Text();
    const std::size_t added = bytes_after.size() - bytes_before.size();
    for (const std::size_t part : {std::size_t{0}, std::size_t{1}, added / 2, added - 1, added}) {
      for (const std::size_t written : {std::size_t{0}, renewed.size() / 2, renewed.size()}) {
        std::ofstream(path_, std::ios::binary) << journal_before;
        std::ofstream(path_.string() + ".part", std::ios::binary) << renewed.substr(0, written);
        // A first archive gets its name when it is whole.
        const bool named = renewals > 0 || part == added;
        std::ofstream(archive_, std::ios::binary)
            << (named ? bytes_after.substr(0, bytes_before.size() + part) : bytes_before);
        if (!named) std::filesystem::remove(archive_);
        Journal journal(path_);
        EXPECT_EQ(Text(), journal_before);
        if (renewals > 0) {
          EXPECT_EQ(Past(), past_before) << part;
        }
        journal.Append({5, record::Retire{"c"}});
        ASSERT_TRUE(journal.long_enough());
        journal.Renew(6, State(record::Drain{}));
        EXPECT_NE(Past().find(R"("job":"c")"), std::string::npos);
        EXPECT_EQ(Journal(path_).TakePast().size(), 2U);
      }
    }
  }
}

TEST_F(RenewalTest, AnArchiveThatSomebodyRemovedBeginsAnew) {
  Journal journal(path_);
  Fill(&journal, "a");
  journal.Renew(2, State(record::Pause{}));
  std::filesystem::remove(archive_);
  Fill(&journal, "b");
  const std::string second = Text();
  journal.Renew(3, State(record::Pause{}));
  EXPECT_EQ(Past(), second);
}

// ---- many jobs ----

class ManyJobs : public DaemonTest {
 protected:
  static constexpr int kAtOnce = 8;

  // They come, hold a GPU each, and finish.
  void Run(int first) {
    for (int i = 0; i < kAtOnce; ++i) runtime_.AddJob("j" + std::to_string(first + i), 1, 1, 1);
    Look();
    port_->WaitForChange(0);
    const Observation& o = port_->Observe();
    Allocation allocation;
    for (std::size_t row = 0; row < o.job.size(); ++row) {
      const NodeShare share{0, UnitCounts(1), std::uint64_t{1} << row};
      allocation.Add(o.job[row], o.table[row]->Find(UnitCounts(1), 0, 1), {&share, 1});
    }
    ASSERT_TRUE(port_->Apply(allocation).refused.ok());
    for (int i = 0; i < 3; ++i) Look();
    for (int i = 0; i < kAtOnce; ++i) runtime_.Finish("j" + std::to_string(first + i));
    while (!cluster_->state().job_table().active().empty()) Look();
    for (const std::string& job : std::exchange(runtime_.forgotten, {})) runtime_.jobs.erase(job);
    runtime_.workers.clear();
    runtime_.was_member.clear();
    runtime_.waits.clear();
  }
  static double ResidentMegabytes() {
    std::ifstream in("/proc/self/statm");
    double all = 0, resident = 0;
    in >> all >> resident;
    return resident * 4096 / 1e6;
  }
};

// ALLOT_ENDED_JOBS=100000 measures what a long run takes.
TEST_F(ManyJobs, MemoryAndJournalHoldTheNewestOnly) {
  const char* asked = std::getenv("ALLOT_ENDED_JOBS");
  const int jobs = asked == nullptr ? 4000 : std::atoi(asked);
  options_.job_table.keep_ended = asked == nullptr ? 50 : options_.job_table.keep_ended;
  const std::size_t kept = options_.job_table.keep_ended;
  runtime_.AddNode("n1", kAtOnce);
  Serve();
  std::size_t longest = 0;
  for (int first = 0; first < jobs; first += kAtOnce) {
    ASSERT_NO_FATAL_FAILURE(Run(first));
    longest = std::max(longest, journal_->size());
    ASSERT_LE(cluster_->state().job_table().jobs().size(), kept + 2 * kAtOnce);
    if (asked != nullptr && first % 10000 == 0) {
      std::printf("%6d jobs: %.1f MB resident, journal %.2f MB\n", first, ResidentMegabytes(),
                  static_cast<double>(journal_->size()) / 1e6);
    }
  }
  EXPECT_EQ(cluster_->state().job_table().finished(), jobs);
  if (asked == nullptr) {
    EXPECT_LT(longest, Journal::kLeast + (Journal::kLeast >> 3));
  }
  const double origin = clock_->origin();
  time_.wall += 5;  // so that a new one would be another
  Serve();          // a successor
  EXPECT_EQ(clock_->origin(), origin);
  EXPECT_EQ(cluster_->state().job_table().finished(), jobs);
  // With the archive beside it, the journal is still all of their story.
  const Workload workload = ReadTrace((folder_ / kJournalName).string());
  EXPECT_EQ(static_cast<int>(workload.jobs.size()), jobs);
}

}  // namespace
}  // namespace allot
