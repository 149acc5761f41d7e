// What fuzzing kept of the texts that users can give Slurm, and mutations of it, lead to what
// tests/fuzz/slurm_one.cc says, which ends the program otherwise.

#include <gtest/gtest.h>

#include "tests/fuzz/replay.h"

namespace allot {
namespace {

constexpr int kMutationsOfTexts = 500;

TEST(FuzzedTexts, TheCorpusAndItsMutationsLeadToWhatTheyMust) {
  testing_support::RunCorpus("corpus-slurm", kMutationsOfTexts);
}

}  // namespace
}  // namespace allot
