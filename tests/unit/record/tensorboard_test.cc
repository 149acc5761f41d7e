#include "record/tensorboard.h"

#include <gtest/gtest.h>

#include <cstring>
#include <iterator>

#include "tests/unit/core/expect_error.h"
#include "tests/unit/core/temp_folder.h"

namespace allot {
namespace {

using testing_support::Bytes;
using testing_support::TempFolder;

namespace fs = std::filesystem;

TEST(Crc32c, HasTheStandardCheckValue) {
  EXPECT_EQ(Crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(Crc32c(""), 0U);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8A9136AAU);  // RFC 3720 B.4
}

TEST(Tensorboard, FramesAreWholeRecords) {
  const TempFolder folder;
  TensorboardWriter writer(folder / "run", "0");
  writer.Add("charts/loss", 0.5, 300);
  writer.Flush();
  const std::string bytes = Bytes(folder / "run/events.out.tfevents.0");
  int records = 0;
  std::size_t at = 0;
  std::string last;
  while (at < bytes.size()) {
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data() + at, sizeof(length));
    last = bytes.substr(at + 12, length);
    at += 12 + length + 4;
    ++records;
  }
  EXPECT_EQ(at, bytes.size());
  EXPECT_EQ(records, 2);  // the version, one scalar
  EXPECT_NE(last.find("charts/loss"), std::string::npos);
}

TEST(Tensorboard, EqualCurvesGiveEqualBytes) {
  const TempFolder folder;
  for (const char* run : {"a", "b"}) {
    TensorboardWriter writer(folder / run, "0");
    for (int step = 0; step < 5000; ++step) writer.Add("charts/loss", 1.0 / (1 + step), step);
  }
  const std::string bytes = Bytes(folder / "a/events.out.tfevents.0");
  EXPECT_GT(bytes.size(), 5000U * 30);
  EXPECT_TRUE(bytes == Bytes(folder / "b/events.out.tfevents.0"));
}

TEST(Tensorboard, UnwritableFileIsAnError) {
  const TempFolder folder;
  fs::create_symlink("/dev/full", folder / "events.out.tfevents.0");
  ExpectError(ExitCode::kRunFailed, {"events.out.tfevents.0", "No space left"},
              [&] { TensorboardWriter(folder.path(), "0"); });
  std::ofstream(folder / "file") << "not a folder";
  ExpectError(ExitCode::kRunFailed, {"cannot create"},
              [&] { TensorboardWriter(folder / "file", "0"); });
}

}  // namespace
}  // namespace allot
