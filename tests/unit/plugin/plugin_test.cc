// The C interface as a host calls it, through the functions that are linked in.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cluster/snapshot.h"
#include "core/json_text.h"
#include "plugin/allot_plugin.h"
#include "plugin/snapshot_arrays.h"
#include "tests/unit/core/temp_folder.h"
#include "tests/unit/sched/world.h"

namespace allot {
namespace {

using Json = nlohmann::json;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

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
    snapshot_ = arrays_.Of(world_.o);
  }
  ~PluginTest() override { allot_policy_destroy(policy_); }

  void Create(const char* spec) {
    ASSERT_EQ(allot_policy_create(spec, &policy_), ALLOT_OK) << allot_last_error();
  }
  // The code; on success decision_ is the answer.
  std::int32_t Decide() { return allot_policy_decide(policy_, &snapshot_, &decision_); }
  std::string Text() const { return JsonText(SnapshotJson(world_.o, {"a", "b", "c"}), -1); }

  testing_support::World world_;
  SnapshotArrays arrays_;
  allot_snapshot snapshot_;
  allot_policy* policy_ = nullptr;
  const allot_decision* decision_ = nullptr;
};

TEST_F(PluginTest, DecidesAndSaysHowLongItHolds) {
  Create("drf");
  ASSERT_EQ(Decide(), ALLOT_OK) << allot_last_error();
  EXPECT_EQ(decision_->struct_size, sizeof(allot_decision));
  ASSERT_EQ(decision_->job_count, 3);
  std::uint64_t held[2] = {};
  for (std::int32_t i = 0; i < decision_->share_begin[3]; ++i) {
    const std::int32_t node = decision_->share_node[i];
    EXPECT_EQ(held[node] & decision_->share_gpus[i], 0U);
    held[node] |= decision_->share_gpus[i];
  }
  EXPECT_EQ(decision_->holds_until, kNever) << "drf does not change its mind with time alone";
}

TEST_F(PluginTest, TextIsDecidedAsArraysAre) {
  Create("index");
  ASSERT_EQ(Decide(), ALLOT_OK) << allot_last_error();
  Json of_arrays = Json::array();
  const std::string names[] = {"a", "b", "c"};
  for (std::int32_t i = 0; i < decision_->job_count; ++i) {
    of_arrays.push_back({names[decision_->job[i]], decision_->configuration[i]});
  }
  ASSERT_EQ(allot_policy_reset(policy_), ALLOT_OK);
  const char* text = nullptr;
  ASSERT_EQ(allot_policy_decide_json(policy_, Text().c_str(), &text), ALLOT_OK)
      << allot_last_error();
  Json of_text = Json::array();
  const Json answer = Json::parse(text);
  for (const Json& job : answer.at("jobs")) {
    of_text.push_back({job.at("job"), job.at("configuration")});
    std::size_t gpus = 0;
    for (const Json& share : job.at("shares")) gpus += share.at("gpus").size();
    EXPECT_GT(gpus, 0U);
  }
  EXPECT_EQ(of_text, of_arrays);
}

TEST_F(PluginTest, WhatIsLeftOutHasItsDefault) {
  Create("las");
  snapshot_.node_type = nullptr;
  snapshot_.type_count = 1;
  static const std::int32_t begin[] = {0, 2};
  static const std::int32_t units[] = {1, 0, 2, 0};
  static const double rates[] = {1, 1.8};
  static const std::int32_t zero[] = {0, 0, 0};
  snapshot_.table_count = 1;
  snapshot_.table_name = nullptr;
  snapshot_.table_kinds = nullptr;
  snapshot_.kind_name = nullptr;
  snapshot_.table_most_units = nullptr;
  snapshot_.configuration_begin = begin;
  snapshot_.configuration_type = nullptr;
  snapshot_.configuration_units = units;
  snapshot_.configuration_rate = rates;
  snapshot_.table = snapshot_.requested = zero;
  for (const double** column :
       {&snapshot_.done_work, &snapshot_.estimated_work, &snapshot_.attained_gpu_seconds,
        &snapshot_.attained_seconds, &snapshot_.restart_cost, &snapshot_.waiting_since,
        &snapshot_.priority, &snapshot_.deadline}) {
    *column = nullptr;
  }
  snapshot_.node_cpus = snapshot_.running = snapshot_.changes = snapshot_.tenant = nullptr;
  snapshot_.share_begin = nullptr;
  ASSERT_EQ(Decide(), ALLOT_OK) << allot_last_error();
  EXPECT_EQ(decision_->job_count, 3);
}

TEST_F(PluginTest, AHostOfALaterVersionMayHaveLargerStructs) {
  Create("fifo");
  snapshot_.struct_size += 64;
  EXPECT_EQ(Decide(), ALLOT_OK) << allot_last_error();
}

// What it has no room for it does not tell.
TEST_F(PluginTest, AHostOfVersionOneHasSmallerStructs) {
  Create("index:basis=gittins");
  std::vector<char> old(offsetof(allot_snapshot, user_count));
  snapshot_.struct_size = static_cast<std::uint32_t>(old.size());
  std::memcpy(old.data(), &snapshot_, old.size());
  const auto* snapshot = reinterpret_cast<const allot_snapshot*>(old.data());
  EXPECT_EQ(allot_policy_decide(policy_, snapshot, &decision_), ALLOT_OK) << allot_last_error();
}

// Of two users one has always been short, the other long: by the names of the last reset.
TEST_F(PluginTest, NamesOfUsersBelongToNumbersUntilAReset) {
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
  world.o.user = {0, 1};
  const auto first = [&](const std::vector<std::string>& names) {
    world.o.user_names = &names;
    const allot_snapshot snapshot = arrays_.Of(world.o);
    EXPECT_EQ(allot_policy_decide(policy_, &snapshot, &decision_), ALLOT_OK) << allot_last_error();
    EXPECT_EQ(decision_->job_count, 1);
    return decision_->job[0];
  };
  EXPECT_EQ(first({"ann", "bob"}), 0);
  EXPECT_EQ(first({"bob", "ann"}), 0) << "numbers keep their names";
  ASSERT_EQ(allot_policy_reset(policy_), ALLOT_OK);
  EXPECT_EQ(first({"bob", "ann"}), 1);
}

TEST_F(PluginTest, ARefusedSnapshotChangesNothing) {
  Create("index");
  snapshot_.interval = -1;
  EXPECT_EQ(Decide(), ALLOT_BAD_DATA);
  const char* why = nullptr;
  EXPECT_EQ(allot_policy_explain(policy_, &why), ALLOT_USAGE) << "nothing was decided";
  snapshot_ = arrays_.Of(world_.o);
  EXPECT_EQ(Decide(), ALLOT_OK) << allot_last_error();
}

// Nor does it name anybody: the next one may.
TEST_F(PluginTest, ARefusedSnapshotNamesNobody) {
  Create("index");
  const std::vector<const char*> half = {"ann", nullptr};
  const std::vector<const char*> whole = {"eve", "bob"};
  snapshot_.user_count = 2;
  snapshot_.user_name = half.data();
  EXPECT_EQ(Decide(), ALLOT_USAGE);
  EXPECT_STREQ(allot_last_error(), "'user_name' must name each of its 2 numbers, 1 is NULL");
  snapshot_.user_name = whole.data();
  EXPECT_EQ(Decide(), ALLOT_OK) << allot_last_error();
}

TEST_F(PluginTest, TimeDoesNotGoBackUntilAReset) {
  Create("index");
  ASSERT_EQ(Decide(), ALLOT_OK);
  snapshot_.now = 599;
  EXPECT_EQ(Decide(), ALLOT_BAD_DATA);
  EXPECT_STREQ(allot_last_error(), "'now' must not fall, got 599 after 600");
  ASSERT_EQ(allot_policy_reset(policy_), ALLOT_OK);
  EXPECT_EQ(Decide(), ALLOT_OK) << allot_last_error();
}

TEST_F(PluginTest, OneKindOfSnapshotsUntilAReset) {
  Create("index");
  ASSERT_EQ(Decide(), ALLOT_OK);
  const char* text = nullptr;
  EXPECT_EQ(allot_policy_decide_json(policy_, Text().c_str(), &text), ALLOT_USAGE);
  ASSERT_EQ(allot_policy_reset(policy_), ALLOT_OK);
  EXPECT_EQ(allot_policy_decide_json(policy_, Text().c_str(), &text), ALLOT_OK);
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
  std::vector<std::int32_t> given(decision_->job, decision_->job + decision_->job_count);
  std::sort(given.begin(), given.end());
  const char* why = nullptr;
  ASSERT_EQ(allot_policy_explain(policy_, &why), ALLOT_OK) << allot_last_error();
  std::vector<std::int32_t> gets;
  const Json explanation = Json::parse(why);
  for (const Json& job : explanation.at("jobs")) {
    if (job.at("gets") != "nothing") gets.push_back(job.at("job"));
  }
  std::sort(gets.begin(), gets.end());
  EXPECT_EQ(gets, given) << why;
}

TEST_F(PluginTest, JobsOfATextAreKnownByName) {
  Create("fifo");
  const char* text = nullptr;
  ASSERT_EQ(allot_policy_decide_json(policy_, Text().c_str(), &text), ALLOT_OK);
  const Json before = Json::parse(text).at("jobs");
  Json other = Json::parse(Text());
  std::swap(other["jobs"][0], other["jobs"][2]);  // other rows, the same jobs
  ASSERT_EQ(allot_policy_decide_json(policy_, other.dump().c_str(), &text), ALLOT_OK);
  const auto by_name = [](const Json& jobs) {
    std::map<std::string, Json> result;
    for (const Json& job : jobs) result[job.at("job")] = job;
    return result;
  };
  EXPECT_EQ(by_name(Json::parse(text).at("jobs")), by_name(before));
  other["jobs"][1]["job"] = "a";
  EXPECT_EQ(allot_policy_decide_json(policy_, other.dump().c_str(), &text), ALLOT_BAD_DATA);
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
  refused(allot_policy_decide(policy_, nullptr, &decision_), "'snapshot' must not be NULL");
  refused(allot_policy_decide(policy_, &snapshot_, nullptr), "'decision' must not be NULL");
  const char* text = nullptr;
  refused(allot_policy_decide_json(policy_, nullptr, &text), "'snapshot' must not be NULL");
  refused(allot_policy_explain(policy_, &text), "no decision to explain");
  refused(allot_policy_explain(policy_, nullptr), "'explanation' must not be NULL");
  EXPECT_EQ(allot_policy_decide_json(policy_, "{\"snapshot\": 1", &text), ALLOT_BAD_DATA);
}

// ---- what a snapshot must not say ----

struct Fault {
  const char* name;
  std::function<void(allot_snapshot*)> make;
  std::int32_t code;
  const char* words;
};

// The array with one element changed; kept for the life of the program, as a host's would be.
template <typename T>
const T* With(const T* array, std::size_t length, std::size_t at, T value) {
  auto* copy = new std::vector<T>(array, array + length);
  static std::vector<std::unique_ptr<std::vector<T>>> kept;
  kept.emplace_back(copy);
  copy->at(at) = value;
  return copy->data();
}

constexpr const char* kNoName = nullptr;

const Fault kFaults[] = {
    {"size", [](auto* s) { s->struct_size = 8; }, ALLOT_USAGE, "'struct_size' of a snapshot"},
    {"now", [](auto* s) { s->now = kNan; }, ALLOT_BAD_DATA, "'now' must be finite, got nan"},
    {"interval", [](auto* s) { s->interval = 0; }, ALLOT_BAD_DATA, "'interval' must be > 0, got 0"},
    {"no nodes", [](auto* s) { s->node_count = 0; }, ALLOT_BAD_DATA, "'node_count' must be 1 to"},
    {"nodes", [](auto* s) { s->node_gpus = nullptr; }, ALLOT_USAGE, "'node_gpus' must not be NULL"},
    {"gpus", [](auto* s) { s->node_gpus = With(s->node_gpus, 2, 1, 65); }, ALLOT_BAD_DATA,
     "'node_gpus' must be 0 to 64, got 65"},
    {"type", [](auto* s) { s->node_type = With(s->node_type, 2, 1, 2); }, ALLOT_BAD_DATA,
     "'node_type' must be 0 to 1, got 2"},
    {"type order", [](auto* s) { s->node_type = With(s->node_type, 2, 0, 1); }, ALLOT_BAD_DATA,
     "node 0 is of type 1, none of type 0"},
    {"type unused", [](auto* s) { s->node_type = With(s->node_type, 2, 1, 0); }, ALLOT_BAD_DATA,
     "'type_count' must be the 1 types that nodes have, got 2"},
    {"type names", [](auto* s) { s->type_name = With(s->type_name, 2, 1, s->type_name[0]); },
     ALLOT_BAD_DATA, "'v100' is of two"},
    {"gpus overflow", [](auto* s) { s->node_gpus = With(s->node_gpus, 2, 0, INT32_MAX); },
     ALLOT_BAD_DATA, "'node_gpus' must be 0 to 64, got 2147483647"},
    {"type name", [](auto* s) { s->type_name = With(s->type_name, 2, 1, kNoName); }, ALLOT_USAGE,
     "'type_name' must name each of its 2 numbers, 1 is NULL"},
    {"table name", [](auto* s) { s->table_name = With(s->table_name, 3, 2, kNoName); }, ALLOT_USAGE,
     "'table_name' must name each of its 3 numbers, 2 is NULL"},
    {"kind name", [](auto* s) { s->kind_name = With(s->kind_name, 6, 2, kNoName); }, ALLOT_USAGE,
     "table 1: 'kind_name' must name each of its 1 kinds, 0 is NULL"},
    {"first share", [](auto* s) { s->share_begin = With(s->share_begin, 4, 0, -1); },
     ALLOT_BAD_DATA, "'share_begin' must begin with 0, got -1"},
    {"share of nobody",
     [](auto* s) {
       s->share_begin = With(s->share_begin, 4, 0, -1);
       s->job_count = 0;
     },
     ALLOT_BAD_DATA, "'share_begin' must begin with 0, got -1"},
    {"kinds", [](auto* s) { s->table_kinds = With(s->table_kinds, 3, 2, 3); }, ALLOT_BAD_DATA,
     "table 2: 'table_kinds' must be 1 to 2, got 3"},
    {"offsets", [](auto* s) { s->configuration_begin = With(s->configuration_begin, 4, 2, 1); },
     ALLOT_BAD_DATA, "'configuration_begin' must not fall, got 1 after 6"},
    {"units", [](auto* s) { s->configuration_units = With(s->configuration_units, 22, 0, -1); },
     ALLOT_BAD_DATA, "table 0: 'configuration_units' of kind 0 must be 0 to 32767, got -1"},
    {"kind", [](auto* s) { s->configuration_units = With(s->configuration_units, 22, 1, 1); },
     ALLOT_BAD_DATA, "'configuration_units' of kind 1 must be 0 to 0, got 1"},
    {"twice", [](auto* s) { s->configuration_units = With(s->configuration_units, 22, 2, 1); },
     ALLOT_BAD_DATA, "table 0: each configuration once"},
    {"order", [](auto* s) { s->configuration_units = With(s->configuration_units, 22, 0, 9); },
     ALLOT_BAD_DATA, "table 0: configurations ascend by (type, price)"},
    {"rate", [](auto* s) { s->configuration_rate = With(s->configuration_rate, 11, 0, kNan); },
     ALLOT_BAD_DATA, "table 0: a configuration must cost something and have a finite rate"},
    {"no rate", [](auto* s) { s->table_most_units = With(s->table_most_units, 6, 4, 0); },
     ALLOT_BAD_DATA, "table 2: one of its 2 configurations must have 'configuration_rate' > 0"},
    {"price", [](auto* s) { s->kind_price = With(s->kind_price, 6, 0, -1.0); }, ALLOT_BAD_DATA,
     "table 0: 'kind_price' must be >= 0, got -1"},
    {"job", [](auto* s) { s->job = With(s->job, 3, 0, ALLOT_MOST_JOBS); }, ALLOT_BAD_DATA,
     "'job' must be 0 to 16777215, got 16777216"},
    {"job twice", [](auto* s) { s->job = With(s->job, 3, 0, 2); }, ALLOT_BAD_DATA,
     "each job once, 'job' has 2 twice"},
    {"table", [](auto* s) { s->table = With(s->table, 3, 1, 3); }, ALLOT_BAD_DATA,
     "'table' must be 0 to 2, got 3"},
    {"requested", [](auto* s) { s->requested = With(s->requested, 3, 1, -1); }, ALLOT_BAD_DATA,
     "row 1: 'requested' must be 0 to 2, got -1"},
    {"running", [](auto* s) { s->running = With(s->running, 3, 2, 9); }, ALLOT_BAD_DATA,
     "row 2: 'running' must be -1 to 1, got 9"},
    {"done", [](auto* s) { s->done_work = With(s->done_work, 3, 2, -1.0); }, ALLOT_BAD_DATA,
     "row 2: 'done_work' must be finite and >= 0, got -1"},
    {"estimate",
     [](auto* s) { s->estimated_work = With(s->estimated_work, 3, 0, double{INFINITY}); },
     ALLOT_BAD_DATA, "row 0: 'estimated_work' must be finite or NaN, got inf"},
    {"deadline", [](auto* s) { s->deadline = With(s->deadline, 3, 0, kNan); }, ALLOT_BAD_DATA,
     "row 0: 'deadline' must be finite or infinite, got nan"},
    {"user", [](auto* s) { s->user = With(s->user, 3, 1, 0); }, ALLOT_BAD_DATA,
     "'user' must be -1 to -1, got 0"},
    {"group", [](auto* s) { s->group = With(s->group, 3, 1, -2); }, ALLOT_BAD_DATA,
     "'group' must be -1 to -1, got -2"},
    {"node", [](auto* s) { s->share_node = With(s->share_node, 1, 0, 2); }, ALLOT_BAD_DATA,
     "'share_node' must be 0 to 1, got 2"},
    {"mask", [](auto* s) { s->share_gpus = With(s->share_gpus, 1, 0, std::uint64_t{1}); },
     ALLOT_BAD_DATA, "row 0: its units on node 0 need 2 GPUs, 'share_gpus' has 1"},
    {"shares", [](auto* s) { s->share_begin = nullptr; }, ALLOT_BAD_DATA,
     "row 0: its shares must add up to 2 units of kind 0, got 0"},
    {"waits", [](auto* s) { s->running = nullptr; }, ALLOT_BAD_DATA,
     "row 0: its shares must add up to 0 units of kind 0, got 2"},
};

TEST_F(PluginTest, ASnapshotThatBreaksARuleIsRefusedByName) {
  Create("index");
  for (const Fault& fault : kFaults) {
    snapshot_ = arrays_.Of(world_.o);
    fault.make(&snapshot_);
    EXPECT_EQ(Decide(), fault.code) << fault.name;
    EXPECT_NE(std::string(allot_last_error()).find(fault.words), std::string::npos)
        << fault.name << ": " << allot_last_error();
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
  snapshot_ = arrays_.Of(world_.o);
  EXPECT_EQ(Decide(), ALLOT_BAD_DATA);
  EXPECT_STREQ(allot_last_error(), "row 2: each node once, node 0 is named twice");
}

TEST_F(PluginTest, AGpuIsHeldOnce) {
  Create("index");
  world_.Run(2, 0, {{0, 0b0010}});
  snapshot_ = arrays_.Of(world_.o);
  EXPECT_EQ(Decide(), ALLOT_BAD_DATA);
  EXPECT_STREQ(allot_last_error(), "row 2: GPU 1 of node 0 is held by two jobs");
}

TEST_F(PluginTest, AJobMayStillBeOnANodeThatIsDown) {
  Create("index");
  snapshot_.node_gpus = With(snapshot_.node_gpus, 2, 0, 0);
  ASSERT_EQ(Decide(), ALLOT_OK) << allot_last_error();
}

}  // namespace
}  // namespace allot
