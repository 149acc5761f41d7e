// What 'allot doctor' says of a Slurm that is to be advised.

#include "live/runtimes/slurm/advice_health.h"

#include <gtest/gtest.h>

namespace allot {
namespace {

AdviceFacts OfOperator() {
  AdviceFacts facts;
  facts.settings.user = "slurm";
  facts.settings.user_id = 64030;
  facts.settings.priority = "priority/multifactor";
  facts.settings.priority_weights = 12000;
  facts.user_id = 1000;
  facts.admin_level = "Operator";
  return facts;
}

Health HealthOf(const AdviceFacts& facts, const std::string& check) {
  for (const HealthFinding& one : CheckAdvice(facts)) {
    if (one.check == check) return one.health;
  }
  return Health::kUnchecked;
}

TEST(AdviceHealth, AllowsOperatorsSlurmUserAndRoot) {
  AdviceFacts facts = OfOperator();
  EXPECT_EQ(HealthOf(facts, "advice.rights"), Health::kFine);
  facts.admin_level = "None";
  EXPECT_EQ(HealthOf(facts, "advice.rights"), Health::kWarn);
  for (const std::uint32_t user : {0U, 64030U}) {
    facts.user_id = user;
    EXPECT_EQ(HealthOf(facts, "advice.rights"), Health::kFine);
  }
}

TEST(AdviceHealth, WarnsOfPrioritiesWithoutRoom) {
  AdviceFacts facts = OfOperator();
  EXPECT_EQ(HealthOf(facts, "advice.priority"), Health::kFine);
  facts.settings.priority_weights = 100;
  EXPECT_EQ(HealthOf(facts, "advice.priority"), Health::kWarn);
  facts.settings.priority = "priority/basic";
  EXPECT_EQ(HealthOf(facts, "advice.priority"), Health::kFine);
}

}  // namespace
}  // namespace allot
