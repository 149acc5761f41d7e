#include "sched/policy_family.h"

#include <gtest/gtest.h>

#include "sim/profile.h"
#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

class Named : public Policy {
 public:
  explicit Named(std::string_view spec) { info_.id = spec; }
  const PolicyInfo& info() const override { return info_; }
  void Decide(const Observation&, Allocation* allocation) override { allocation->Clear(); }

 private:
  PolicyInfo info_;
};

ALLOT_REGISTER(PolicyFamily,
               (PolicyFamily{"tests", "of this test",
                             [] {
                               return std::vector<std::string>{"kindred", "fifo"};
                             },
                             [](std::string_view spec) { return std::make_unique<Named>(spec); }}));

TEST(PolicyFamily, GetsTheWholeSpecOfItsNames) {
  EXPECT_EQ(MakePolicy("kindred")->info().id, "kindred");
  EXPECT_EQ(MakePolicy("kindred:a:b,c=1")->info().id, "kindred:a:b,c=1");
}

TEST(PolicyFamily, RegisteredPoliciesComeFirst) {
  EXPECT_EQ(FamilyOf("fifo"), nullptr);
  EXPECT_EQ(MakePolicy("fifo")->info().id, "fifo");
}

TEST(PolicyFamily, SpecsMeanTheSameUnderEveryProfile) {
  for (const ProfileInfo& profile : Registry<ProfileInfo>::Global().entries()) {
    EXPECT_EQ(PolicySpecUnder(profile, "kindred:a:b"), "kindred:a:b") << profile.id;
  }
}

TEST(PolicyFamily, NamesAreSuggested) {
  EXPECT_EQ(ErrorOf(ExitCode::kUsage, [&] { MakePolicy("kindre"); }),
            "unknown policy 'kindre' (did you mean 'kindred'?)");
}

}  // namespace
}  // namespace allot
