// What fuzzing kept of snapshots and mutations of it, lead to what
// tests/fuzz/snapshot_one.cc says, which ends the program otherwise.

#include <gtest/gtest.h>

#include "tests/fuzz/replay.h"

namespace allot {
namespace {

constexpr int kMutationsOfSnapshots = 100;

TEST(FuzzedSnapshot, TheCorpusAndItsMutationsLeadToWhatTheyMust) {
  testing_support::RunCorpus("corpus-snapshot", kMutationsOfSnapshots);
}

}  // namespace
}  // namespace allot
