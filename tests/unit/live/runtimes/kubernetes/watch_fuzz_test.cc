// What fuzzing kept and, of every recorded answer, some mutations: nothing that an API server sends
// does anything but what tests/fuzz/watch_one.cc says, which ends the program otherwise.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "core/file.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/mutate.h"

namespace allot {
namespace {

constexpr int kMutationsOfEach = 134;

void RunWatch(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

std::vector<std::string> KeptInputs() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry :
       std::filesystem::directory_iterator(ALLOT_SOURCE_DIR "/tests/fuzz/corpus-watch")) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> inputs;
  inputs.reserve(paths.size());
  for (const auto& path : paths) inputs.push_back(ReadTextFile(path.string()));
  return inputs;
}

TEST(FuzzedWatch, KeptInputsLeadToWhatTheyMust) {
  const std::vector<std::string> kept = KeptInputs();
  EXPECT_FALSE(kept.empty());
  for (const std::string& input : kept) RunWatch(input);
}

TEST(FuzzedWatch, MutatedRecordingsLeadToWhatTheyMust) {
  std::vector<std::string> samples = SampleInputs(ALLOT_TEST_DATA "/kubernetes");
  for (std::string& input : KeptInputs()) samples.push_back(std::move(input));
  for (std::size_t s = 0; s < samples.size(); ++s) {
    for (int i = 0; i < kMutationsOfEach; ++i) {
      Rng rng(1, "fuzz-watch", s, static_cast<std::uint64_t>(i));
      RunWatch(Mutated(samples[s], samples, &rng));
    }
  }
}

}  // namespace
}  // namespace allot
