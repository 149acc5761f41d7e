#include "core/labelled_spec.h"

#include <gtest/gtest.h>

#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

TEST(LabelledSpec, ALabelStandsBeforeTheSpec) {
  EXPECT_EQ(ReadLabel("mine=index:alpha=1,beta=2").label, "mine");
  EXPECT_EQ(ReadLabel("mine=index:alpha=1,beta=2").spec, "index:alpha=1,beta=2");
  EXPECT_EQ(ReadLabel(" big jobs = fifo").label, "big jobs");
  EXPECT_EQ(ReadLabel("index:alpha=1").label, "index:alpha=1");
  EXPECT_EQ(ReadLabel("fifo").spec, "fifo");
  for (const char* text : {"=fifo", "a=", "a/b=fifo"}) {
    ExpectError(ExitCode::kUsage, {"NAME=SPEC", text}, [&] { ReadLabel(text); });
  }
}

TEST(LabelledSpec, LongSpecsGetNamesThatTellThemApart) {
  const std::string index = "index:basis=remaining,service=0.1,alpha=";
  EXPECT_EQ(NamesForTables({"fifo", index + "0.4"}), (std::vector<std::string>{"fifo", "index:…"}));
  EXPECT_EQ(NamesForTables({index + "0.4", index + "0.5", "index:alpha=1"}),
            (std::vector<std::string>{"index:…,alpha=0.4", "index:…,alpha=0.5", "index:alpha=1"}));
  const std::string path = "learned:checkpoint=runs/a/very/long/path/to/weights/";
  EXPECT_EQ(NamesForTables({path + "1", path + "2"}),
            (std::vector<std::string>{"learned:…", "learned:… (2)"}));
}

}  // namespace
}  // namespace allot
