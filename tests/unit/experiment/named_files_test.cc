// Which files options and policy specs name: what results are told apart by.

#include <gtest/gtest.h>

#include <regex>

#include "core/file.h"
#include "core/registry.h"
#include "envs/setting.h"
#include "experiment/world_options.h"
#include "sched/policy.h"
#include "sched/stages.h"
#include "sim/fault_law.h"
#include "sim/profile.h"
#include "tests/unit/core/temp_folder.h"

namespace allot {
namespace {

using Paths = std::vector<std::string>;

Paths FilesOf(const std::string& policy) {
  return FilesOfPolicyUnder(Registry<ProfileInfo>::Global().Get("profile", "default"), policy);
}

TEST(FilesOfPolicy, AreThoseOfItsParameters) {
  EXPECT_EQ(FilesOf("fifo"), Paths{});
  EXPECT_EQ(FilesOf("no such policy"), Paths{});
  EXPECT_EQ(FilesOf("learned:checkpoint=runs/a/best"), Paths{"runs/a/best"});
  EXPECT_EQ(FilesOf("index:basis=gittins,history=a/t.csv@2017-11-13"), Paths{"a/t.csv"});
  EXPECT_EQ(FilesOf("gittins:history=t.csv"), Paths{"t.csv"});
  EXPECT_EQ(FilesOf("gittins:history=embedded@7d"), Paths{});
}

TEST(FilesOfPolicy, AreThoseOfStagesAndInnerPolicies) {
  EXPECT_EQ(FilesOf("las:admission=tenant-quota/gpus=1/file=a/q.csv"), Paths{"a/q.csv"});
  EXPECT_EQ(FilesOf("fifo:ordering=gittins/history=a/t.csv@7d"), Paths{"a/t.csv"});
}

// Parameters and options whose help speaks of a file must say which one their value names.
const std::regex kSpeaksOfFiles(R"(\b(file|CSV|TOML|folder|TRACE@DATE)\b)");

void ExpectFilesDeclared(const std::string& owner, const std::vector<ParamSpec>& params) {
  for (const ParamSpec& param : params) {
    if (!std::regex_search(param.help, kSpeaksOfFiles)) continue;
    EXPECT_NE(param.files, nullptr) << owner << ": " << param.name << ": " << param.help;
  }
}

template <typename Info>
void ExpectFilesDeclaredInAll() {
  for (const Info& info : Registry<Info>::Global().entries())
    ExpectFilesDeclared(info.id, info.params);
}

TEST(NamedFiles, AreDeclaredByEveryParameterAndOption) {
  ExpectFilesDeclaredInAll<PolicyInfo>();
  ExpectFilesDeclaredInAll<AdmissionInfo>();
  ExpectFilesDeclaredInAll<OrderingInfo>();
  ExpectFilesDeclaredInAll<SizingInfo>();
  ExpectFilesDeclaredInAll<PlacementInfo>();
  ExpectFilesDeclaredInAll<SettingInfo>();
  ExpectFilesDeclaredInAll<FaultLawInfo>();
  for (const WorldOption& option : WorldOptionTable()) {
    const bool names_files = std::regex_search(option.help, kSpeaksOfFiles);
    EXPECT_EQ(names_files || std::string(option.name) == "setting", option.files != nullptr)
        << option.name << ": " << option.help;
  }
}

TEST(FilesOfWorld, AreThoseOfItsOptions) {
  const testing_support::TempFolder folder;
  const std::string nodes = (folder / "nodes.txt").string();
  WriteTextFile(nodes, "");
  const WorldSpec world = {.workload = "jobs.csv",
                           .model_map = "a=b",
                           .cluster = nodes,
                           .catalogue = "alone.csv,pairs.csv",
                           .node_events = "events.csv",
                           .rules = "rules.toml"};
  EXPECT_EQ(FilesOfWorld(world),
            (Paths{"jobs.csv", nodes, "alone.csv", "pairs.csv", "events.csv", "rules.toml"}));
  EXPECT_EQ(FilesOfWorld({.workload = "law:philly", .cluster = "2x4", .catalogue = "embedded"}),
            Paths{});
  EXPECT_EQ(FilesOfWorld({.setting = "trace:workload=t.csv,dl2:size=S"}), Paths{"t.csv"});
}

}  // namespace
}  // namespace allot
