#include "plans/stated_plan.h"

#include <gtest/gtest.h>

#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

constexpr const char* kText =
    "dp=8 tp=4 pp=2 vp=5 cp=1 ep=1 zero=1 micro_batch=2 recompute=half global_batch=512 layers=80";

TEST(StatedPlan, ItsTextComesBack) {
  const StatedPlan stated{{.data = 8,
                           .tensor = 4,
                           .pipeline = 2,
                           .interleave = 5,
                           .micro_batch = 2,
                           .recompute = Recompute::kHalf},
                          512,
                          80};
  EXPECT_EQ(TextOf(stated), kText);
  EXPECT_EQ(ParsePlan(kText, "here"), stated);
}

std::string With(const std::string& part, const std::string& other) {
  std::string text = kText;
  return text.replace(text.find(part), part.size(), other);
}

TEST(StatedPlan, ATextThatIsNoneIsRefused) {
  const auto refuse = [](const std::string& text, const std::string& rule) {
    ExpectError(ExitCode::kBadData, {rule, "(ALLOT_PLAN)"},
                [&] { (void)ParsePlan(text, "ALLOT_PLAN"); });
  };
  refuse("", "a plan must have parts 'key=value', got ''");
  refuse("dp=8 tp=4", "a plan must have a part 'pp', got 'dp=8 tp=4'");
  refuse(With("tp=4", "tp=0"), "a plan must have a whole number from 1 as 'tp'");
  refuse(With("tp=4", "tp=4.5"), "a plan must have a whole number from 1 as 'tp'");
  refuse(With("tp=4", "tp=4 tp=4"), "a plan must have one 'tp'");
  refuse(With("tp=4", "tp=4 sp=4"), "a plan must have no part 'sp'");
  refuse(With("half", "some"), "'recompute' must be none, selective, half or full, got 'some'");
  refuse(With("=512", "=500"), "a 'global_batch' that 'dp' x 'micro_batch' divides");
}

}  // namespace
}  // namespace allot
