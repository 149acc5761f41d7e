#include "agents/lookahead/guarded_policy.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/rng.h"
#include "sim/run.h"

namespace allot {
namespace {

Scenario Rush() {
  Rng rng(1, "guarded-test");
  Workload workload;
  Seconds submit = 0;
  for (int i = 0; i < 120; ++i) {
    Job job;
    job.id = std::to_string(i);
    job.submit = submit;
    job.gpus = 1;
    job.duration = 200 + rng.Exponential(2500);
    workload.jobs.push_back(std::move(job));
    submit += rng.Exponential(600);
  }
  workload.Finish();
  SimOptions options;
  options.lengths = LengthEstimates::Parse("true");
  return {std::move(workload), ClusterSpec::Parse("1x4"), options};
}

// As another policy, except that some decisions are spoiled.
class Spoiled : public Policy {
 public:
  enum class How { kTwice, kThrows };
  Spoiled(const std::string& spec, How how, std::int64_t first, std::int64_t last)
      : inner_(MakePolicy(spec)), how_(how), first_(first), last_(last) {}
  const PolicyInfo& info() const override { return inner_->info(); }
  void OnEpisodeStart(const EpisodeContext& context) override { inner_->OnEpisodeStart(context); }
  void Decide(const Observation& o, Allocation* allocation) override {
    inner_->Decide(o, allocation);
    if (o.decision < first_ || o.decision > last_ || allocation->entries().empty()) return;
    if (how_ == How::kThrows) throw RunError("out of its mind");
    const Allocation::Entry entry = allocation->entries().front();
    const auto shares = allocation->shares(entry);
    const std::vector<NodeShare> copy(shares.begin(), shares.end());
    allocation->Add(entry.job, entry.configuration, copy);
  }

 private:
  std::unique_ptr<Policy> inner_;
  How how_;
  std::int64_t first_;
  std::int64_t last_;
};

PolicyInfo PlainInfo() {
  PolicyInfo info;
  info.id = "guarded";
  info.time_driven = true;
  return info;
}

struct Played {
  double mean_jct = 0;
  std::map<std::string, std::string> notes;
};

Played Play(std::unique_ptr<Policy> own, const GuardOptions& options) {
  const Scenario scenario = Rush();
  GuardedPolicy guarded(PlainInfo(), std::move(own), MakePolicy("srtf"), MakePolicy("srtf"),
                        options);
  const RunOutcome outcome = RunPolicy(scenario, guarded);
  Played played;
  for (const JobRecord& record : outcome.records) {
    played.mean_jct += (record.finish - record.submit) / 120;
  }
  for (const auto& [name, text] : guarded.notes()) played.notes[name] = text;
  return played;
}

TEST(GuardedPolicy, LeavesAGoodPolicyAlone) {
  Played played = Play(MakePolicy("srtf"), {.margin = 0.05, .every = 5, .min_jobs = 10});
  EXPECT_TRUE(played.notes["decisions by teacher"].starts_with("0 of "))
      << played.notes["fell back"];
  EXPECT_EQ(played.notes["invalid decisions"], "0");
  EXPECT_NE(played.notes["drift checks"], "0");
  EXPECT_FALSE(played.notes.contains("fell back"));
}

TEST(GuardedPolicy, OneInvalidDecisionIsTheTeachers) {
  Played played = Play(std::make_unique<Spoiled>("srtf", Spoiled::How::kTwice, 10, 10), {});
  EXPECT_TRUE(played.notes["decisions by teacher"].starts_with("1 of "));
  EXPECT_EQ(played.notes["invalid decisions"], "1");
  EXPECT_TRUE(played.notes["first invalid decision"].starts_with("decision 10 at "));
  EXPECT_FALSE(played.notes.contains("fell back"));
}

TEST(GuardedPolicy, ManyInvalidDecisionsEndItsTurn) {
  for (const auto how : {Spoiled::How::kTwice, Spoiled::How::kThrows}) {
    Played played = Play(std::make_unique<Spoiled>("fifo", how, 0, 1'000'000), {.most_invalid = 3});
    EXPECT_EQ(played.notes["invalid decisions"], "3");
    EXPECT_NE(played.notes["fell back"].find("3 invalid decisions"), std::string::npos);
    EXPECT_DOUBLE_EQ(played.mean_jct, Play(MakePolicy("srtf"), {}).mean_jct);
  }
}

TEST(GuardedPolicy, DriftBeyondTheMarginEndsItsTurn) {
  const GuardOptions watchful{.margin = 0.2, .every = 5, .min_jobs = 10};
  const GuardOptions blind{.min_jobs = 1'000'000};
  Played caught = Play(MakePolicy("srtf:sizing=requested"), watchful);
  EXPECT_FALSE(caught.notes.contains("fell back"));
  // The longest job first.
  Played bad = Play(MakePolicy("index:alpha=-1,beta=0,kappa=0"), blind);
  caught = Play(MakePolicy("index:alpha=-1,beta=0,kappa=0"), watchful);
  EXPECT_FALSE(bad.notes.contains("fell back"));
  EXPECT_NE(caught.notes["fell back"].find("more than 0.2 worse"), std::string::npos);
  EXPECT_LT(caught.mean_jct, 0.9 * bad.mean_jct);
}

TEST(GuardedPolicy, ANewEpisodeIsANewChance) {
  const Scenario scenario = Rush();
  GuardedPolicy guarded(PlainInfo(), std::make_unique<Spoiled>("srtf", Spoiled::How::kThrows, 0, 9),
                        MakePolicy("srtf"), MakePolicy("srtf"), {.most_invalid = 2});
  RunPolicy(scenario, guarded);
  const auto first = guarded.notes();
  RunPolicy(scenario, guarded);
  EXPECT_EQ(guarded.notes(), first);
}

// The simulated teacher on the arrivals of its own run: what was measured, up to what an end
// between two decisions leaves open.
TEST(ArrivalsReplay, OfTheSamePolicyAgreesWithWhatWasMeasured) {
  const Scenario scenario = Rush();
  SimulatedCluster cluster(scenario);
  ArrivalsReplay arrivals(scenario.options(), 1000);
  arrivals.OnEpisodeStart();
  const auto policy = MakePolicy("srtf");
  Allocation allocation;
  int compared = 0;
  do {
    const Observation& o = cluster.Observe();
    arrivals.Observe(o);
    if (arrivals.ended() > 20 && o.decision % 20 == 0) {
      const double measured = arrivals.MeasuredMeanJct(o);
      EXPECT_NEAR(arrivals.SimulatedMeanJct(o, *MakePolicy("srtf")), measured, 0.05 * measured)
          << "decision " << o.decision;
      ++compared;
    }
    policy->Decide(o, &allocation);
    cluster.Apply(allocation);
  } while (cluster.WaitForChange(0));
  EXPECT_GT(compared, 3);
}

TEST(ArrivalsReplay, BeginsAnewWhenItsMemoryIsFull) {
  const Scenario scenario = Rush();
  SimulatedCluster cluster(scenario);
  ArrivalsReplay arrivals(scenario.options(), 30);
  arrivals.OnEpisodeStart();
  const auto policy = MakePolicy("fifo");
  Allocation allocation;
  do {
    const Observation& o = cluster.Observe();
    arrivals.Observe(o);
    ASSERT_LE(arrivals.ended(), 31);
    policy->Decide(o, &allocation);
    cluster.Apply(allocation);
  } while (cluster.WaitForChange(0));
}

}  // namespace
}  // namespace allot
