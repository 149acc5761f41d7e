#pragma once
// Rows of an observation as a problem of shares (solve/share_problem.h), and shares back as those
// of rows. A job is one of its requested size, on every type of the cluster that could hold it and
// on which it has a rate; a type without one is not a variable. Jobs come in order of their numbers
// whatever the order of rows; those that fit no type at present (nodes are down) are left out.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cluster/observation.h"
#include "solve/share_problem.h"
#include "stages/rounds/sharing.h"

namespace allot {

struct ShareRows {
  ShareProblem problem;
  std::vector<std::int32_t> row;            // by job of the problem
  std::vector<std::int32_t> configuration;  // [job][type]; -1: none

  std::size_t jobs() const { return row.size(); }
};

ShareRows ReadShareRows(const Observation& observation, std::span<const std::int32_t> rows);

// What else problems read of rows, by job of the problem.
std::vector<double> WorkLeft(const Observation& observation, const ShareRows& rows);  // > 0
std::vector<double> SinceSubmit(const Observation& observation, const ShareRows& rows);

// Appends every share > 0. `of`: [job][type].
void AppendShares(const ShareRows& rows, std::span<const double> of,
                  std::vector<TimeShare>* shares);

// Which speeds a problem is to assume: "known" (each job's own on each type), "alike" (all types as
// fast as the job's best), or a type's name (all types as fast as that one, where the job has it).
// UsageError for a type that the cluster has not. Replaces the rates of the problem.
void AssumeSpeeds(const std::string& speeds, const Observation& observation, ShareProblem* problem);
inline constexpr const char* kSpeedsHelp =
    "speeds that it assumes: known, alike (all types as fast as the job's best), or a GPU type's "
    "name (all types as fast as that)";

}  // namespace allot
