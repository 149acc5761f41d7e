#pragma once
// Turns a wanted order of jobs into Nice values. Pure.

#include <cstdint>
#include <span>
#include <vector>

namespace allot {

// A job as its scheduler orders it: the largest priority first, of equal ones the smallest number.
// Its priority without a Nice is priority + nice.
struct NicedJob {
  std::int64_t priority = 0;
  std::uint64_t number = 0;  // unique
  int nice = 0;
  bool fixed = false;  // keeps its Nice: others cannot go behind it where these bounds prevent it
};

// The Nice of each job, where the jobs are given in the wanted order. Guarantees:
//  - Every Nice is from 0 to `most`, and leaves a priority of at least 1; of fixed jobs it stays.
//  - Two jobs are in the wanted order unless these bounds prevent it.
//  - As few jobs as possible get another Nice than they have, and those the smallest that will do.
//    So a second call with the answer of the first changes nothing.
// O(jobs^2), far less where few jobs change places.
std::vector<int> PlanNice(std::span<const NicedJob> wanted, int most);

}  // namespace allot
