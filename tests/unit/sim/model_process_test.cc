// Jobs whose throughput model varies: the model itself is what is played and what is shown.

#include "sim/model_process.h"

#include <gtest/gtest.h>

#include <utility>

#include "tests/unit/sim/small_world.h"

namespace allot {
namespace {

using testing_support::Fifo;
using testing_support::Jcts;
using testing_support::ScriptedPolicy;
using testing_support::SmallJob;
using testing_support::WorkloadOf;

using Times = std::vector<Seconds>;

// One unit of work a second for each GPU of the first node of the placement and half a unit for
// each other GPU; half of that before 600 units of work are done.
class FirstNodeCounts : public ThroughputModel {
 public:
  const std::string& name() const override { return name_; }
  const std::vector<UnitKind>& kinds() const override { return kinds_; }
  double Rate(const RunShape& shape, const TrainingState& state) const override {
    double rate = 0;
    for (const UnitCounts& units : shape.nodes) {
      rate += units.of(0) * (&units == shape.nodes.data() ? 1.0 : 0.5);
    }
    return state.done_work < kWarm ? rate / 2 : rate;
  }
  bool varies() const override { return true; }
  double ConstantUntil(double done) const override {
    return done < kWarm ? kWarm : ThroughputModel::ConstantUntil(done);
  }

  static constexpr double kWarm = 600;

 private:
  std::string name_ = "first";
  std::vector<UnitKind> kinds_{{"gpu", {1, 0}}};
};

Scenario Played(const std::vector<SmallJob>& jobs, const std::string& cluster, double work,
                SimOptions options = {}) {
  Workload workload = WorkloadOf(jobs);
  for (Job& job : workload.jobs) {
    job.model = workload.models.Intern("first");
    job.work = work;
  }
  Catalogue catalogue;
  catalogue.Add(std::make_shared<FirstNodeCounts>());
  return Scenario(std::move(workload), ClusterSpec::Parse(cluster), std::move(options), catalogue);
}

// Gives the only job units of the nodes in the order of the list.
class OrderedPlacement : public Policy {
 public:
  explicit OrderedPlacement(std::vector<NodeShare> shares) : shares_(std::move(shares)) {
    info_.id = "ordered";
  }
  const PolicyInfo& info() const override { return info_; }
  void Decide(const Observation& o, Allocation* allocation) override {
    allocation->Clear();
    UnitCounts units;
    for (const NodeShare& share : shares_) units += share.units;
    if (o.rows() > 0) allocation->Add(o.job[0], o.table[0]->Find(units, 0), shares_);
  }

 private:
  PolicyInfo info_;
  std::vector<NodeShare> shares_;
};

TEST(ModelProcessTest, StatesOfTrainingAreWalkedWithExactEnds) {
  // 600 units at 0.5 on one GPU, 100 at 1.
  const Scenario scenario = Played({{0, 1, 1}}, "1x1", 700);
  EXPECT_EQ(Jcts(RunPolicy(scenario, *Fifo())), (Times{1200 + 100}));
}

TEST(ModelProcessTest, TheRateIsThatOfThePlacementItself) {
  const Scenario scenario = Played({{0, 4, 1}}, "2x3", 700);
  // 3 and 1 GPUs: 3.5 a second; 1 and 3: 2.5. Half of that for the first 600.
  OrderedPlacement many_first({{0, 3, 0b111}, {1, 1, 0b1}});
  EXPECT_NEAR(Jcts(RunPolicy(scenario, many_first))[0], 600 / 1.75 + 100 / 3.5, 1e-9);
  OrderedPlacement few_first({{1, 1, 0b1}, {0, 3, 0b111}});
  EXPECT_NEAR(Jcts(RunPolicy(scenario, few_first))[0], 600 / 1.25 + 100 / 2.5, 1e-9);
}

TEST(ModelProcessTest, AJobGoesOnWhereItsTrainingWas) {
  SimOptions options;
  options.restart_cost = 0;
  const Scenario scenario = Played({{0, 2, 1, 1, 2}}, "1x2", 800, options);
  ScriptedPolicy policy({{2}, {1}, {0}, {2}});
  // 450 by 600 s; it waits until 900 s; 150 at 1, 200 at 2.
  EXPECT_EQ(Jcts(RunPolicy(scenario, policy)), (Times{900 + 150 + 100}));
}

TEST(ModelProcessTest, ExactBeliefsShowTheModelAtTheStateOfTrainingAsAnEvent) {
  class Watcher : public DecisionListener {
   public:
    void OnDecision(const Observation& o, const Allocation&) override {
      const ConfigurationTable& table = *o.table[0];
      seen.push_back({o.now, table[table.Find(1, 0)].rate, table[table.Find(4, 0)].rate,
                      static_cast<double>(table.version()),
                      static_cast<double>(o.events.table_changed.size())});
    }
    std::vector<std::vector<double>> seen;
  };
  Watcher watcher;
  DecisionListener* const listeners[] = {&watcher};
  RunPolicy(Played({{0, 1, 1, 1, 4}}, "2x3", 2000), *Fifo(), listeners);
  // At its arrival, and at the first instant after 1,200 s. 4 GPUs lie on 3 + 1.
  EXPECT_EQ(watcher.seen,
            (std::vector<std::vector<double>>{{0, 0.5, 1.75, 0, 0}, {1200, 1, 3.5, 1, 1}}));
}

TEST(ModelProcessTest, ADurationIsOfARunThroughTheStatesOfTraining) {
  // 2 GPUs for 1,000 s: 600 units in the first 600 s, then 800.
  const Scenario scenario = Played({{0, 2, 1000}}, "1x2", 0);
  EXPECT_EQ(scenario.facts(0).work, 1400);
  EXPECT_EQ(Jcts(RunPolicy(scenario, *Fifo())), (Times{1000}));
}

TEST(ModelProcessTest, ProgressChangesWhatTheModelSays) {
  SimOptions options;
  options.progress = "phases:at=0.2|0.5,factors=2|1";
  // 200 at 0.5, 300 at 1, 100 at 0.5, 400 at 1.
  const Scenario scenario = Played({{0, 1, 1}}, "1x1", 1000, options);
  EXPECT_EQ(Jcts(RunPolicy(scenario, *Fifo())), (Times{400 + 300 + 200 + 400}));
}

TEST(ModelProcessTest, JobsWithoutSuchAModelHaveNoProcess) {
  const Scenario plain(WorkloadOf({{0, 1, 10}}), ClusterSpec::Parse("1x1"), {});
  EXPECT_EQ(plain.facts(0).process(), nullptr);
  EXPECT_FALSE(plain.has_processes());
  EXPECT_TRUE(Played({{0, 1, 1}}, "1x1", 5).has_processes());
}

}  // namespace
}  // namespace allot
