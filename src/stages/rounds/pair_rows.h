#pragma once
// Rows of an observation as a problem of shares with pairs of jobs on the same GPUs
// (solve/packed_problem.h). Two jobs may share where both tables have a configuration of the
// requested units beside the other's profile, and both ask for as many GPUs.

#include <span>
#include <string>
#include <vector>

#include "solve/packed_problem.h"
#include "stages/rounds/share_rows.h"

namespace allot {

struct PairRows {
  ShareRows rows;  // its problem is that of `problem` too
  PackedProblem problem;
  std::vector<std::int32_t> configuration;  // [kind][kind][type] beside the other; -1: none
};

PairRows ReadPairRows(const Observation& observation, std::span<const std::int32_t> rows);

// Appends every share > 0, of jobs alone and of pairs.
void AppendShares(const PairRows& rows, const PackedShares& of, std::vector<TimeShare>* shares);

// UsageError where a sharing is to have pairs and speeds other than the known ones.
void RefusePairsOfAssumedSpeeds(const std::string& sharing, const std::string& speeds, bool pairs);

inline constexpr const char* kPairsHelp = "also pairs of jobs on the same GPUs";

}  // namespace allot
