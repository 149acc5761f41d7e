// The C interface as a host calls it, through the functions that are linked in.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cluster/snapshot.h"
#include "core/json_text.h"
#include "plugin/allot_plugin.h"
#include "tests/unit/core/temp_folder.h"
#include "tests/unit/sched/world.h"

namespace allot {
namespace {

using Json = nlohmann::json;

// Jobs of three tables on two GPU types; the first runs on half of node 0.
class PluginTest : public testing::Test {
 protected:
  PluginTest() : world_("1x4:v100,1x4:k80") {
    world_.Add({{1, 1.8, 2.4, 2.9}, {0.5, 0.9}});
    world_.Add({{1, 1.5}, {0.5}}, 2);
    world_.Add({{2}, {1}});
    world_.Run(0, 1, {{0, 0b0011}});
    world_.o.now = 600;
    world_.o.estimated_work = {9000, 4000, kUnknown};
    Describe();
  }
  ~PluginTest() override { allot_policy_destroy(policy_); }

  void Describe() {
    snapshot_ = Json::parse(JsonText(SnapshotJson(world_.o, {"a", "b", "c"}), -1));
  }
  void Create(const char* spec) {
    ASSERT_EQ(allot_policy_create(spec, &policy_), ALLOT_OK) << allot_last_error();
  }
  // The code; on success decision_ is the answer.
  std::int32_t Decide() {
    const char* answer = nullptr;
    const auto code = allot_policy_decide_json(policy_, snapshot_.dump().c_str(), &answer);
    if (code == ALLOT_OK) decision_ = Json::parse(answer);
    return code;
  }

  testing_support::World world_;
  Json snapshot_;
  allot_policy* policy_ = nullptr;
  Json decision_;
};

TEST_F(PluginTest, DecidesAndSaysHowLongItHolds) {
  Create("drf");
  ASSERT_EQ(Decide(), ALLOT_OK) << allot_last_error();
  ASSERT_EQ(decision_["jobs"].size(), 3U);
  std::set<std::pair<int, int>> taken;
  for (const Json& job : decision_["jobs"]) {
    for (const Json& share : job["shares"]) {
      for (const int gpu : share["gpus"]) {
        EXPECT_TRUE(taken.emplace(share["node"].get<int>(), gpu).second);
      }
    }
  }
  EXPECT_TRUE(decision_["holds_until"].is_null()) << "drf does not change its mind with time alone";
}

// Of two users one has always been short, the other long.
TEST_F(PluginTest, ForecastsKnowUsersByName) {
  const testing_support::TempFolder folder;
  const std::string history = (folder / "history.csv").string();
  {
    std::ofstream csv(history);
    csv << "job_id,submit_s,gpus,duration_s,user\n";
    for (int i = 0; i < 40; ++i) csv << "s" << i << ",0,1,30,ann\nl" << i << ",0,1,90000,bob\n";
  }
  Create(("index:basis=gittins,alpha=5,beta=0,kappa=0,history=" + history).c_str());
  testing_support::World world("1x1");
  world.Add({{1}});
  world.Add({{1}});
  const auto first = [&](const std::string& a, const std::string& b) {
    snapshot_ = Json::parse(JsonText(SnapshotJson(world.o, {"a", "b"}), -1));
    snapshot_["jobs"][0]["user"] = a;
    snapshot_["jobs"][1]["user"] = b;
    EXPECT_EQ(Decide(), ALLOT_OK) << allot_last_error();
    return decision_["jobs"].size() == 1 ? decision_["jobs"][0]["job"].get<std::string>() : "";
  };
  EXPECT_EQ(first("ann", "bob"), "a");
  ASSERT_EQ(allot_policy_reset(policy_), ALLOT_OK);
  EXPECT_EQ(first("bob", "ann"), "b");
}

TEST_F(PluginTest, ARefusedSnapshotChangesNothing) {
  Create("index");
  snapshot_["interval"] = -1;
  EXPECT_EQ(Decide(), ALLOT_BAD_DATA);
  const char* why = nullptr;
  EXPECT_EQ(allot_policy_explain(policy_, &why), ALLOT_USAGE) << "nothing was decided";
  Describe();
  EXPECT_EQ(Decide(), ALLOT_OK) << allot_last_error();
}

TEST_F(PluginTest, TimeDoesNotGoBackUntilAReset) {
  Create("index");
  ASSERT_EQ(Decide(), ALLOT_OK);
  snapshot_["now"] = 599;
  EXPECT_EQ(Decide(), ALLOT_BAD_DATA);
  EXPECT_STREQ(allot_last_error(), "'now' must not fall, got 599 after 600");
  ASSERT_EQ(allot_policy_reset(policy_), ALLOT_OK);
  EXPECT_EQ(Decide(), ALLOT_OK) << allot_last_error();
}

TEST_F(PluginTest, ExplainsByNameAndSummaryWhatIsNoNetwork) {
  Create("las");
  ASSERT_EQ(Decide(), ALLOT_OK);
  const char* why = nullptr;
  ASSERT_EQ(allot_policy_explain(policy_, &why), ALLOT_OK) << allot_last_error();
  EXPECT_EQ(Json::parse(why).at("policy"), "las");
}

TEST_F(PluginTest, ExplainsEveryJobOfANetwork) {
  const std::string checkpoint = std::string(ALLOT_TEST_GOLDEN) + "/checkpoint";
  ASSERT_EQ(allot_policy_create_from_checkpoint(checkpoint.c_str(), &policy_), ALLOT_OK)
      << allot_last_error();
  ASSERT_EQ(Decide(), ALLOT_OK) << allot_last_error();
  std::set<std::string> given, gets;
  for (const Json& job : decision_["jobs"]) given.insert(job["job"].get<std::string>());
  const char* why = nullptr;
  ASSERT_EQ(allot_policy_explain(policy_, &why), ALLOT_OK) << allot_last_error();
  const Json explanation = Json::parse(why);
  for (const Json& job : explanation.at("jobs")) {
    if (job.at("gets") != "nothing") gets.insert(job.at("job").get<std::string>());
  }
  EXPECT_EQ(gets, given) << why;
}

TEST_F(PluginTest, JobsAreKnownByName) {
  Create("fifo");
  ASSERT_EQ(Decide(), ALLOT_OK);
  const Json before = decision_.at("jobs");
  std::swap(snapshot_["jobs"][0], snapshot_["jobs"][2]);  // other rows, the same jobs
  ASSERT_EQ(Decide(), ALLOT_OK);
  const auto by_name = [](const Json& jobs) {
    std::map<std::string, Json> result;
    for (const Json& job : jobs) result[job.at("job")] = job;
    return result;
  };
  EXPECT_EQ(by_name(decision_.at("jobs")), by_name(before));
  snapshot_["jobs"][1]["job"] = "a";
  EXPECT_EQ(Decide(), ALLOT_BAD_DATA);
  EXPECT_STREQ(allot_last_error(), "snapshot: job 2: each job once, 'a' is there twice");
}

TEST_F(PluginTest, CallsThatMakeNoSense) {
  const auto refused = [](std::int32_t code, const std::string& words) {
    EXPECT_EQ(code, ALLOT_USAGE);
    EXPECT_NE(std::string(allot_last_error()).find(words), std::string::npos) << allot_last_error();
  };
  EXPECT_EQ(allot_plugin_version(), ALLOT_PLUGIN_VERSION);
  refused(allot_policy_create(nullptr, &policy_), "'spec' must not be NULL");
  refused(allot_policy_create("las", nullptr), "'policy' must not be NULL");
  refused(allot_policy_create("lass", &policy_), "did you mean 'las'");
  refused(allot_policy_create("clairvoyant", &policy_), "needs to know the future");
  refused(allot_policy_create_from_checkpoint(nullptr, &policy_), "'folder' must not be NULL");
  EXPECT_EQ(policy_, nullptr);
  EXPECT_EQ(allot_policy_create_from_checkpoint("/no/such", &policy_), ALLOT_BAD_DATA);
  refused(allot_policy_reset(nullptr), "'policy' must not be NULL");
  refused(Decide(), "'policy' must not be NULL");
  Create("las");
  const char* text = nullptr;
  refused(allot_policy_decide_json(policy_, nullptr, &text), "'snapshot' must not be NULL");
  refused(allot_policy_decide_json(policy_, "{}", nullptr), "'decision' must not be NULL");
  refused(allot_policy_explain(policy_, &text), "no decision to explain");
  refused(allot_policy_explain(policy_, nullptr), "'explanation' must not be NULL");
  EXPECT_EQ(allot_policy_decide_json(policy_, "{\"snapshot\": 1", &text), ALLOT_BAD_DATA);
}

// ---- what a snapshot must not say ----

TEST_F(PluginTest, ASnapshotThatBreaksARuleIsRefusedByName) {
  const struct {
    const char* key;  // of the first job
    double value;
    const char* words;
  } faults[] = {{"table", 3, "'table' must be one of 3 tables, got 3"},
                {"requested", -1, "'requested' must be one of 6 configurations, got -1"},
                {"running", 9, "'running' must be one of 6 configurations, got 9"},
                {"done_work", -1, "'done_work' must be finite and >= 0, got -1"}};
  Create("index");
  for (const auto& fault : faults) {
    Describe();
    snapshot_["jobs"][0][fault.key] = fault.value;
    EXPECT_EQ(Decide(), ALLOT_BAD_DATA) << fault.key;
    EXPECT_NE(std::string(allot_last_error()).find(fault.words), std::string::npos)
        << fault.key << ": " << allot_last_error();
  }
}

// Their reader would cut off what a number has too many of: 2^32 + 1 GPUs would be one.
TEST_F(PluginTest, NumbersOfTextsAreNotCutOff) {
  Create("index");
  const auto said = [this](const std::string& gpus, const std::string& units,
                           const std::string& requested) {
    const std::string text = fmt::format(
        R"({{"snapshot":1,"now":0,"interval":60,"cluster":"1x4","tables":[{{"kinds":[{{"name":"gpu",)"
        R"("gpus":{}}}],"configurations":[{{"units":[{}],"rate":1}}]}}],"jobs":[{{"job":"a",)"
        R"("submit":0,"table":0,"requested":{}}}]}})",
        gpus, units, requested);
    const char* decision = nullptr;
    const bool ok = allot_policy_decide_json(policy_, text.c_str(), &decision) == ALLOT_OK;
    return ok ? std::string() : std::string(allot_last_error());
  };
  EXPECT_EQ(said("1", "1", "0"), "");
  EXPECT_NE(said("4294967297", "1", "0").find("'gpus' must be a whole number from 0 to 64, got 4"),
            std::string::npos);
  EXPECT_NE(said("1", "65537", "0").find("'units' must be a whole number from 0 to 32767"),
            std::string::npos);
  EXPECT_NE(said("1", "1", "4294967296").find("'requested' must be a whole number"),
            std::string::npos);
  EXPECT_NE(said("0.5", "1", "0").find("got 0.5"), std::string::npos);
}

TEST_F(PluginTest, AJobNamesANodeOnce) {
  Create("index");
  world_.Run(2, 1, {{0, 0b0100}, {0, 0b1000}});
  Describe();
  EXPECT_EQ(Decide(), ALLOT_BAD_DATA);
}

TEST_F(PluginTest, AGpuIsHeldOnce) {
  Create("index");
  world_.Run(2, 0, {{0, 0b0010}});
  Describe();
  EXPECT_EQ(Decide(), ALLOT_BAD_DATA);
}

TEST_F(PluginTest, AJobMayStillBeOnANodeThatIsDown) {
  Create("index");
  snapshot_["cluster"] = "1x0:v100,1x4:k80";
  ASSERT_EQ(Decide(), ALLOT_OK) << allot_last_error();
}

}  // namespace
}  // namespace allot
