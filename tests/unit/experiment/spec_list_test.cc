#include "experiment/spec_list.h"

#include <gtest/gtest.h>

#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

using Specs = std::vector<std::string>;

TEST(SplitSpecs, ACommaInsideParametersBelongsToTheSpec) {
  EXPECT_EQ(SplitSpecs("fifo,las:queues=3600,backfill=false,srtf"),
            (Specs{"fifo", "las:queues=3600,backfill=false", "srtf"}));
  EXPECT_EQ(SplitSpecs(" fifo , las"), (Specs{"fifo", "las"}));
  EXPECT_EQ(SplitSpecs("las:queues=1,index:alpha=2"), (Specs{"las:queues=1", "index:alpha=2"}));
}

TEST(SplitSpecs, APolicyWithALabelIsNoParameterOfTheOneBefore) {
  EXPECT_EQ(SplitSpecs("las:queues=3600,mine=srtf,late=fifo"),
            (Specs{"las:queues=3600", "mine=srtf", "late=fifo"}));
  EXPECT_EQ(SplitSpecs("a=srtf:sizing=hull,b=index:alpha=1,gamma=2"),
            (Specs{"a=srtf:sizing=hull", "b=index:alpha=1,gamma=2"}));
  // `ordering` is a parameter, whatever its value.
  EXPECT_EQ(SplitSpecs("fifo:backfill=false,ordering=index"),
            (Specs{"fifo:backfill=false,ordering=index"}));
}

TEST(SplitSettings, AParameterWhoseValueIsAPolicysNameIsNoLabel) {
  EXPECT_EQ(SplitSettings("pollux:load=1.0,beliefs=learned,dl2:size=S"),
            (Specs{"pollux:load=1.0,beliefs=learned", "dl2:size=S"}));
}

TEST(SplitSpecs, RefusesMissingNames) {
  for (const char* text : {"", "fifo,", ",fifo", "fifo,,las"}) {
    ExpectError(ExitCode::kUsage, {"a name is missing"}, [&] { SplitSpecs(text); });
  }
}

}  // namespace
}  // namespace allot
