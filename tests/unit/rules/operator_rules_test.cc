#include "rules/operator_rules.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

OperatorRules Rules(const std::string& text) { return OperatorRules::Parse(text, "rules.toml"); }

std::string Refusal(const std::string& text) {
  return ErrorOf(ExitCode::kBadData, [&] { Rules(text); });
}

TEST(OperatorRulesTest, NothingSaidIsNoRule) {
  EXPECT_TRUE(OperatorRules().RulesFor("a", "b").sizes.any());
  EXPECT_TRUE(Rules("").RulesFor("a", "b").sizes.any());
}

TEST(OperatorRulesTest, TheLastPartThatSaysSomethingOfAJobHolds) {
  const OperatorRules rules = Rules(R"(
sizes = "powers-of-two"

[[jobs]]
account = "vision*"
sizes = [1, 2, 4, 12]

[[jobs]]
user = "ops-?"
sizes = "any"

[[jobs]]
account = "vision-2"
)");
  EXPECT_EQ(rules.RulesFor("language", "eve").sizes.ToString(), "powers-of-two");
  EXPECT_EQ(rules.RulesFor("", "").sizes.ToString(), "powers-of-two") << "not known";
  EXPECT_EQ(rules.RulesFor("vision-1", "eve").sizes.ToString(), "1|2|4|12");
  EXPECT_EQ(rules.RulesFor("vision-2", "eve").sizes.ToString(), "1|2|4|12")
      << "the last says nothing";
  EXPECT_EQ(rules.RulesFor("vision-1", "ops-a").sizes.ToString(), "any");
}

TEST(OperatorRulesTest, ErrorsNameTheLineAndTheNearestKey) {
  EXPECT_EQ(Refusal("\nsises = \"any\"\n"),
            "rules.toml:2: unknown key 'sises' (did you mean 'sizes'?)");
  EXPECT_EQ(Refusal("[[jobs]]\nacount = \"a\"\n"),
            "rules.toml:2: unknown key 'acount' (did you mean 'account'?)");
  EXPECT_EQ(Refusal("sizes = 4\n"), "rules.toml:1: 'sizes' must be text, got 4");
  EXPECT_EQ(Refusal("sizes = [1, \"two\"]\n"),
            "rules.toml:1: 'sizes' must be text or a list of whole numbers");
  EXPECT_TRUE(Refusal("sizes = \"even\"\n").starts_with("rules.toml:1: 'sizes': sizes must be"))
      << Refusal("sizes = \"even\"\n");
  EXPECT_EQ(Refusal("[jobs]\n"), "rules.toml:1: 'jobs' must be tables [[jobs]]");
  EXPECT_TRUE(Refusal("sizes = \n").starts_with("rules.toml:1: must be TOML: "));
}

TEST(OperatorRulesTest, RulesOfChangesAreRead) {
  const OperatorRules rules = Rules(R"(
cooldown = "2m"
restarts_per_hour = 6

[[jobs]]
account = "prod"
moves = false
cooldown = 0
)");
  const JobRules all = rules.RulesFor("dev", "eve");
  EXPECT_EQ(all.cooldown, 120);
  EXPECT_EQ(all.restarts_per_hour, 6);
  EXPECT_TRUE(all.moves);
  EXPECT_TRUE(all.may_pin());
  const JobRules prod = rules.RulesFor("prod", "eve");
  EXPECT_EQ(prod.cooldown, 0);
  EXPECT_FALSE(prod.moves);
  EXPECT_FALSE(JobRules().may_pin());
  EXPECT_EQ(Refusal("cooldown = \"soon\"\n"),
            "rules.toml:1: 'cooldown' must be a time like 90 (seconds), 250ms, 5m, 1h30m, 2d, 1 "
            "week or 1-02:03:04, from 0 to 100000000000 s, got 'soon'");
  EXPECT_EQ(Refusal("restarts_per_hour = -1\n"),
            "rules.toml:1: 'restarts_per_hour' must be a whole number from 0 to 3600, got -1");
  EXPECT_EQ(Refusal("moves = 1\n"), "rules.toml:1: 'moves' must be true or false, got 1");
}

TEST(OperatorRulesTest, MaintenanceIsOfNodesAndTimes) {
  const auto window = [](const std::string& from, const std::string& to) {
    return "[[maintenance]]\nnodes = [\"n[1-3]\", \"gpu-*\"]\nfrom = \"" + from + "\"\nto = \"" +
           to + "\"\nlead = \"2h\"\n";
  };
  const OperatorRules rules = Rules(window("2026-12-01 08:00:00", "2026-12-01 12:00:00"));
  const Maintenance& read = rules.maintenance().at(0);
  EXPECT_TRUE(read.AppliesTo("n2"));
  EXPECT_TRUE(read.AppliesTo("gpu-17"));
  EXPECT_FALSE(read.AppliesTo("n4"));
  EXPECT_EQ(read.lead, 7200);
  EXPECT_EQ(Refusal(window("2026-12-01 08:00:00", "2026-12-01 07:00:00")),
            "rules.toml:3: 'from' must be before 'to', got '2026-12-01 08:00:00' and '2026-12-01 "
            "07:00:00'");
  EXPECT_EQ(Refusal(window("2026-12-01", "14d")),
            "rules.toml:3: 'from' and 'to' must both be dates or both be times from the begin, got "
            "'2026-12-01' and '14d'");
  EXPECT_EQ(Refusal(window("soon", "14d")),
            "rules.toml:3: 'from' must be \"YYYY-MM-DD HH:MM:SS\", or a time like 90 (seconds), "
            "250ms, 5m, 1h30m, 2d, 1 week or 1-02:03:04 from the begin, got 'soon'");
  // Numbers are seconds from the begin, in every place.
  const OperatorRules numbers =
      Rules("[[maintenance]]\nnodes = \"n1\"\nfrom = 90\nto = \"1 week\"\nlead = 30\n");
  EXPECT_EQ(numbers.maintenance().at(0).from, "90");
  EXPECT_EQ(numbers.maintenance().at(0).lead, 30);
}

TEST(OperatorRulesTest, GuaranteesAreOfAccounts) {
  const OperatorRules rules = Rules(R"(
[[guarantees]]
account = "vision"
gpus = 16

[[guarantees]]
account = "language"
gpus = 8
type = "a100"
)");
  EXPECT_EQ(rules.RulesFor("vision", "eve").guarantee, 0);
  EXPECT_EQ(rules.RulesFor("language", "").guarantee, 1);
  EXPECT_EQ(rules.RulesFor("other", "vision").guarantee, -1);
  rules.CheckGuarantees(ClusterSpec::Parse("2x8:a100,1x8:v100"));
  EXPECT_THROW(rules.CheckGuarantees(ClusterSpec::Parse("2x8:a100")), Error);
  EXPECT_THROW(rules.CheckGuarantees(ClusterSpec::Parse("4x8:v100")), Error);
  EXPECT_EQ(Refusal("[[guarantees]]\naccount = \"a\"\n"), "rules.toml:1: 'gpus' is missing");
  EXPECT_EQ(Refusal("[[guarantees]]\naccount = \"a\"\ngpus = 1\n"
                    "[[guarantees]]\naccount = \"a\"\ngpus = 2\n"),
            "rules.toml:5: 'account' must have one guarantee, got two of 'a'");
}

TEST(OperatorRulesTest, FairSharesAreOnUnlessSwitchedOff) {
  EXPECT_EQ(OperatorRules().fair_share()->half_life, 86400);
  EXPECT_TRUE(OperatorRules::Parse("cooldown = 60\n", "rules.toml").fair_share());
  EXPECT_FALSE(OperatorRules::Parse("fair_share = false\n", "rules.toml").fair_share());
  const auto rules = OperatorRules::Parse(
      "[fair_share]\nhalf_life = \"7d\"\nweights = { vision = 2, alice = 0.5 }\n", "rules.toml");
  EXPECT_EQ(rules.fair_share()->half_life, 7 * 86400);
  EXPECT_EQ(rules.RulesFor("vision", "alice").account_weight, 2);
  EXPECT_EQ(rules.RulesFor("vision", "alice").user_weight, .5);
  EXPECT_EQ(rules.RulesFor("speech", "bob").account_weight, 1);
  EXPECT_EQ(Refusal("fair_share = true\n"),
            "rules.toml:1: 'fair_share' must be false or a table [fair_share], got true");
  EXPECT_EQ(Refusal("[fair_share]\nweights = { a = 0 }\n"),
            "rules.toml:2: 'weights' of 'a' must be a number from 0.001 to 1000, got 0");
}

TEST(OperatorRulesTest, SuspectNodesAreAvoidedUnlessSaidOtherwise) {
  EXPECT_EQ(Rules("").failures().then, SuspectAction::kAvoid);
  EXPECT_EQ(Rules("").failures().suspect, 0.99);
  const FailureRule rule =
      Rules("[failures]\nthen = \"drain\"\nsuspect = 0.9\nat_most = 0.1\n").failures();
  EXPECT_EQ(rule.then, SuspectAction::kDrain);
  EXPECT_EQ(rule.suspect, 0.9);
  EXPECT_EQ(rule.at_most, 0.1);
  EXPECT_EQ(Refusal("[failures]\nthen = \"drian\"\n"),
            "rules.toml:2: 'then' must be 'tell' or 'avoid' or 'drain', got 'drian' (did you mean "
            "'drain'?)");
  EXPECT_EQ(Refusal("[failures]\nsuspect = 1\n"),
            "rules.toml:2: 'suspect' must be a number from 0.5 to 0.999999, got 1");
  EXPECT_EQ(Refusal("failures = false\n"),
            "rules.toml:1: 'failures' must be a table [failures], got false");
}

TEST(OperatorRulesTest, MismatchesNameWhatTheClusterHasNot) {
  ClusterSpec cluster;
  cluster.AddNodes(2, {4, 8}, "v100");
  const std::vector<std::string> nodes = {"n1", "n2"};
  const auto of = [&](const std::string& text) {
    return OperatorRules::Parse(text, "rules").FindMismatches(cluster, nodes);
  };
  const std::string times = "from = \"2026-12-01\"\nto = \"2026-12-02\"\n";
  EXPECT_TRUE(of("[[maintenance]]\nnodes = \"n[2-9]\"\n" + times +
                 "[[guarantees]]\naccount = \"a\"\ngpus = 8\ntype = \"v100\"\n")
                  .empty());
  EXPECT_EQ(of("[[maintenance]]\nnodes = [\"m1\", \"m2\"]\n" + times),
            std::vector<std::string>{
                "rules:3: 'from': the window must be of nodes of the cluster, got 'm1', 'm2'"});
  EXPECT_EQ(of("[[guarantees]]\naccount = \"a\"\ngpus = 4\ntype = \"v10\"\n"),
            std::vector<std::string>{"guarantees must not be more than the cluster has, got 4 GPUs "
                                     "'v10' of 0 (did you mean 'v100'?) with that of account 'a'"});
}

}  // namespace
}  // namespace allot
