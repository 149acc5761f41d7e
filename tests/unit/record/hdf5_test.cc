#include "record/hdf5.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <limits>

#include "core/rng.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/core/temp_folder.h"

namespace allot {
namespace {

using testing_support::Bytes;
using testing_support::TempFolder;

namespace fs = std::filesystem;

std::vector<float> Noise(std::size_t count) {
  Rng rng(1, "hdf5-test");
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(rng.Uniform());
  return values;
}

DataArray RoundTrip(const DataArray& array) {
  const TempFolder folder;
  Hdf5File file = Hdf5File::Create(folder / "a.h5");
  file.Write("group/deep/array", array);
  file.Close();
  return Hdf5File::Open(folder / "a.h5").Read("group/deep/array");
}

void ExpectSame(const DataArray& read, const DataArray& written) {
  EXPECT_EQ(read.shape, written.shape);
  EXPECT_EQ(read.units, written.units);
  EXPECT_TRUE(read.values == written.values)
      << "read as " << DtypeName(read.values) << ", written as " << DtypeName(written.values);
}

template <typename T>
class NumberRoundTrip : public testing::Test {};
using Numbers = testing::Types<float, double, std::int64_t, std::int32_t, std::int16_t, std::int8_t,
                               std::uint8_t, std::uint64_t>;
TYPED_TEST_SUITE(NumberRoundTrip, Numbers);

TYPED_TEST(NumberRoundTrip, KeepsExtremesAndShape) {
  using Limits = std::numeric_limits<TypeParam>;
  const DataArray array =
      MakeArray<TypeParam>({2, 2}, {Limits::lowest(), Limits::max(), Limits::min(), 0}, "GPU");
  ExpectSame(RoundTrip(array), array);
}

TEST(Hdf5, KeepsTruthValues) {
  const DataArray array = MakeColumn(std::vector<bool>{true, false, true});
  ExpectSame(RoundTrip(array), array);
}

TEST(Hdf5, KeepsText) {
  const DataArray array = MakeColumn(std::vector<std::string>{"", "größe", std::string(5000, 'x')});
  ExpectSame(RoundTrip(array), array);
}

TEST(Hdf5, KeepsArraysWithoutRows) {
  for (const DataArray& array : {MakeColumn(std::vector<float>{}, "s"),
                                 MakeArray<float>({0, 3}, {}), MakeArray<float>({3, 0}, {})}) {
    ExpectSame(RoundTrip(array), array);
  }
  const DataArray text = MakeColumn(std::vector<std::string>{});
  ExpectSame(RoundTrip(text), text);
  const DataArray truths = MakeColumn(std::vector<bool>{});
  ExpectSame(RoundTrip(truths), truths);
}

TEST(Hdf5, KeepsArraysOfSeveralChunks) {
  const DataArray array = MakeArray({700'001, 2}, Noise(1'400'002));
  ExpectSame(RoundTrip(array), array);
}

TEST(Hdf5, KeepsArraysWhoseRowsExceedAChunk) {
  const DataArray array = MakeArray({3, 500'000}, Noise(1'500'000));
  ExpectSame(RoundTrip(array), array);
}

TEST(Hdf5, KeepsAttributes) {
  const TempFolder folder;
  const AttributeMap attributes = {{"count", std::int64_t{-3}},
                                   {"share", 0.25},
                                   {"text", std::string(100'000, 'c')},
                                   {"empty", std::string()}};
  Hdf5File file = Hdf5File::Create(folder / "a.h5");
  file.MakeGroup("a/b");
  file.SetAttributes("a/b", {{"count", "replaced"}});
  file.SetAttributes("a/b", attributes);
  file.SetAttributes("/", {{"schema", "x"}});
  file.Close();
  const Hdf5File read = Hdf5File::Open(folder / "a.h5");
  EXPECT_EQ(read.Attributes("a/b"), attributes);
  EXPECT_EQ(read.Attributes("/").size(), 1U);
}

TEST(Hdf5, ListsNamesInOrder) {
  const TempFolder folder;
  Hdf5File file = Hdf5File::Create(folder / "a.h5");
  for (const char* name : {"g/c", "g/a", "g/b"})
    file.Write(name, MakeColumn(std::vector<double>{1}));
  EXPECT_EQ(file.List("g"), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_TRUE(file.Has("g/b"));
  EXPECT_FALSE(file.Has("g/d"));
  EXPECT_FALSE(file.Has("h/d/e"));
}

TEST(Hdf5, EqualContentGivesEqualBytes) {
  const TempFolder folder;
  for (const char* name : {"a.h5", "b.h5"}) {
    Hdf5File file = Hdf5File::Create(folder / name);
    file.Write("g/x", MakeColumn(Noise(1000)));
    file.Write("g/t", MakeColumn(std::vector<std::string>{"one", "two"}));
    file.SetAttributes("g", {{"text", "value"}});
    file.Close();
    ::usleep(name[0] == 'a' ? 1'100'000 : 0);  // time stamps would have whole seconds
  }
  EXPECT_TRUE(Bytes(folder / "a.h5") == Bytes(folder / "b.h5"));
}

TEST(Hdf5, RefusesWhatIsNotThere) {
  const TempFolder folder;
  ExpectError(ExitCode::kBadData, {"none.h5"}, [&] { Hdf5File::Open(folder / "none.h5"); });
  ExpectError(ExitCode::kBadData, {"something else"}, [&] { Hdf5File::Open(folder.path()); });
  Hdf5File file = Hdf5File::Create(folder / "a.h5");
  ExpectError(ExitCode::kBadData, {"a.h5", "g/x"}, [&] { file.Read("g/x"); });
  ExpectError(ExitCode::kBadData, {"a.h5", "'g'"}, [&] { file.List("g"); });
  ExpectError(ExitCode::kBadData, {"a.h5", "'g'"}, [&] { file.Attributes("g"); });
}

TEST(Hdf5, RefusesToWriteTwice) {
  const TempFolder folder;
  Hdf5File file = Hdf5File::Create(folder / "a.h5");
  file.Write("x", MakeColumn(std::vector<double>{1}));
  ExpectError(ExitCode::kRunFailed, {"a.h5", "'x'"},
              [&] { file.Write("x", MakeColumn(std::vector<double>{1})); });
}

TEST(Hdf5, RefusesTextAsFile) {
  const TempFolder folder;
  std::ofstream(folder / "a.h5") << "not HDF5";
  ExpectError(ExitCode::kBadData, {"a.h5", "HDF5"}, [&] { Hdf5File::Open(folder / "a.h5"); });
}

TEST(Hdf5, RefusesTruncatedFile) {
  const TempFolder folder;
  Hdf5File file = Hdf5File::Create(folder / "a.h5");
  file.Write("x", MakeColumn(Noise(10'000)));
  file.Close();
  const auto size = fs::file_size(folder / "a.h5");
  for (const auto kept : {size - 1, size / 2, std::uintmax_t{40}, std::uintmax_t{0}}) {
    fs::resize_file(folder / "a.h5", kept);
    ExpectError(ExitCode::kBadData, {"a.h5"}, [&] { Hdf5File::Open(folder / "a.h5"); });
  }
}

TEST(Hdf5, RefusesCorruptedChunk) {
  const TempFolder folder;
  Hdf5File file = Hdf5File::Create(folder / "a.h5");
  file.Write("g/x", MakeColumn(Noise(50'000)));
  file.Close();
  std::fstream bytes(folder / "a.h5", std::ios::binary | std::ios::in | std::ios::out);
  const auto middle = static_cast<std::streamoff>(fs::file_size(folder / "a.h5") / 2);
  bytes.seekg(middle);
  const int byte = bytes.get();
  bytes.seekp(middle);
  bytes.put(static_cast<char>(byte ^ 0x10));
  bytes.close();
  const Hdf5File read = Hdf5File::Open(folder / "a.h5");
  ExpectError(ExitCode::kBadData, {"a.h5", "g/x", "checksum"}, [&] { read.Read("g/x"); });
}

// In a child whose files may not grow beyond `limit`: writes until it fails, ends normally (exit
// handlers of HDF5 included) and returns 0 when the failure was a RunError naming file and system
// message.
int WriteOnFullDisk(const fs::path& path, rlim_t limit) {
  std::fflush(nullptr);  // lest the child, too, prints what is buffered
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit files{limit, limit};
    ::setrlimit(RLIMIT_FSIZE, &files);
    int result = 1;
    try {
      Hdf5File file = Hdf5File::Create(path);
      for (int i = 0; i < 100; ++i) {
        file.Write(fmt::format("episode_{}/x", i), MakeColumn(Noise(20'000)));
        file.Flush();
      }
    } catch (const Error& error) {
      const std::string what = error.what();
      const bool names = what.find(path.string()) != std::string::npos &&
                         what.find("File too large") != std::string::npos;
      result = error.code() == ExitCode::kRunFailed && names ? 0 : 2;
    }
    std::exit(result);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

TEST(Hdf5, FullDiskIsAnErrorWhereverItStrikes) {
  const TempFolder folder;
  for (const rlim_t limit : {0, 10, 47, 100, 600, 2'000, 50'000, 90'000, 300'000, 1'000'001}) {
    EXPECT_EQ(WriteOnFullDisk(folder / "a.h5", limit), 0) << "at " << limit << " bytes";
  }
}

}  // namespace
}  // namespace allot
