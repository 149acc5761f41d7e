// The inputs that fuzzing kept and, of every sample, some mutations: no reader does anything but
// read or refuse (tests/fuzz/read_one.cc, which ends the program otherwise).

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "core/file.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/mutate.h"
#include "workload/trace_reader.h"

namespace allot {
namespace {

constexpr int kMutations = 200;  // of each sample

void RunInput(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

std::vector<std::string> Samples() { return SampleInputs(ALLOT_SOURCE_DIR "/traces/samples"); }

TEST(FuzzReaders, CorpusIsReadOrRefused) {
  int inputs = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(ALLOT_SOURCE_DIR "/tests/fuzz/corpus")) {
    SCOPED_TRACE(entry.path());
    RunInput(ReadTextFile(entry.path().string()));
    ++inputs;
  }
  EXPECT_GT(inputs, 0);
}

TEST(FuzzReaders, MutatedSamplesAreReadOrRefused) {
  const std::vector<std::string> samples = Samples();
  for (std::size_t s = 0; s < samples.size(); ++s) {
    for (int i = 0; i < kMutations; ++i) {
      Rng rng(1, "fuzz-test", s, static_cast<std::uint64_t>(i));
      RunInput(Mutated(samples[s], samples, &rng));
    }
  }
}

TEST(FuzzReaders, EveryFormatIsAmongTheSamples) {
  std::set<std::string> named;
  for (const std::string& input : Samples()) named.insert(input.substr(0, input.find('\n')));
  const auto ids = Registry<TraceFormat>::Global().ids();
  EXPECT_EQ(named, std::set<std::string>(ids.begin(), ids.end()));
}

}  // namespace
}  // namespace allot
