// What fuzzing kept of what is said to a daemon and of its journals, and mutations of it, lead to
// what tests/fuzz/live_one.cc says, which ends the program otherwise.

#include <gtest/gtest.h>

#include "tests/fuzz/replay.h"

namespace allot {
namespace {

constexpr int kMutationsOfSaid = 30;

TEST(FuzzedLive, TheCorpusAndItsMutationsLeadToWhatTheyMust) {
  testing_support::RunCorpus("corpus-live", kMutationsOfSaid);
}

}  // namespace
}  // namespace allot
