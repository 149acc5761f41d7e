#pragma once
// What the ordinary tests run of a target of the fuzzer: the inputs of its corpus, and mutations of
// each. Used by the replay tests.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/rng.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/mutate.h"

namespace allot::testing_support {

inline void RunInput(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

// Of the folder `corpus` of tests/fuzz, whose samples are inputs.
inline void RunCorpus(const std::string& corpus, int mutations) {
  const std::vector<std::string> inputs =
      SampleInputs(std::string(ALLOT_SOURCE_DIR "/tests/fuzz/") + corpus);
  EXPECT_FALSE(inputs.empty());
  for (std::size_t s = 0; s < inputs.size(); ++s) {
    SCOPED_TRACE(inputs[s]);
    RunInput(inputs[s]);
    for (int i = 0; i < mutations; ++i) {
      Rng rng(1, corpus, s, static_cast<std::uint64_t>(i));
      RunInput(Mutated(inputs[s], inputs, &rng));
    }
  }
}

}  // namespace allot::testing_support
