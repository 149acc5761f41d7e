#include "core/inputs.h"

#include <gtest/gtest.h>

#include "core/file.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/core/temp_folder.h"

namespace allot {
namespace {

using testing_support::TempFolder;

Inputs InputsOf(const std::filesystem::path& path) {
  Inputs inputs;
  AddInputs({path.string()}, &inputs);
  return inputs;
}

TEST(Inputs, AreTheContentOfFiles) {
  const TempFolder folder;
  WriteTextFile(folder / "a.csv", "foobar");
  // FNV-1a of "foobar", from its authors' test vectors.
  EXPECT_EQ(InputsOf(folder / "a.csv").begin()->second, "85944171f73967e8");
}

TEST(Inputs, OfFoldersChangeWithEachFileInThem) {
  const TempFolder folder;
  WriteTextFile(folder / "in" / "b" / "c.csv", "1");
  const Inputs first = InputsOf(folder / "in");
  EXPECT_EQ(InputsOf(folder / "in"), first);
  WriteTextFile(folder / "in" / "b" / "c.csv", "2");
  const Inputs second = InputsOf(folder / "in");
  EXPECT_NE(second, first);
  WriteTextFile(folder / "in" / "empty.csv", "");
  EXPECT_NE(InputsOf(folder / "in"), second);
}

TEST(Inputs, LeaveOutWhatIsNotThereOrCanBeReadOnlyOnce) {
  Inputs inputs;
  AddInputs({"16x8", "no such file", "/dev/stdin"}, &inputs);
  EXPECT_TRUE(inputs.empty());
}

TEST(Inputs, ThatDifferAreNamed) {
  const Inputs there = {{"a.csv", "aa"}, {"b.csv", "bb"}};
  EXPECT_NO_THROW(RequireSameInputs(there, there, "cells"));
  ExpectError(ExitCode::kBadData, {"'cells'", "'b.csv'", "fingerprint bb, now fingerprint cc"},
              [&] {
                RequireSameInputs(there, {{"a.csv", "aa"}, {"b.csv", "cc"}}, "cells");
              });
  ExpectError(ExitCode::kBadData, {"'b.csv'", "fingerprint bb, now no such input"}, [&] {
    RequireSameInputs(there, {{"a.csv", "aa"}}, "cells");
  });
}

}  // namespace
}  // namespace allot
