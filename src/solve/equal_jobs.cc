#include "solve/equal_jobs.h"

#include <bit>

namespace allot::internal {
namespace {

std::uint64_t Mix(std::uint64_t hash, double value) {
  hash ^= std::bit_cast<std::uint64_t>(value);
  hash *= 0x9e3779b97f4a7c15ULL;
  return hash ^ hash >> 29;
}

}  // namespace

EqualJobs FindEqualJobs(const ShareProblem& problem, std::span<const double> further) {
  const std::size_t jobs = problem.jobs();
  const std::size_t types = problem.types();
  const std::size_t more = jobs == 0 ? 0 : further.size() / jobs;
  const std::size_t slots = std::bit_ceil(2 * jobs + 1);
  std::vector<std::int32_t> table(slots, -1);
  EqualJobs equal;
  equal.class_of.resize(jobs);
  const auto same = [&](std::size_t a, std::size_t b) {
    if (problem.gpus[a] != problem.gpus[b] || problem.weight[a] != problem.weight[b]) return false;
    for (std::size_t g = 0; g < types; ++g) {
      if (problem.rate[a * types + g] != problem.rate[b * types + g]) return false;
    }
    for (std::size_t k = 0; k < more; ++k) {
      if (further[a * more + k] != further[b * more + k]) return false;
    }
    return true;
  };
  for (std::size_t i = 0; i < jobs; ++i) {
    std::uint64_t hash = Mix(Mix(0, problem.gpus[i]), problem.weight[i]);
    for (std::size_t g = 0; g < types; ++g) hash = Mix(hash, problem.rate[i * types + g]);
    for (std::size_t k = 0; k < more; ++k) hash = Mix(hash, further[i * more + k]);
    std::size_t slot = hash & (slots - 1);
    while (table[slot] >= 0 && !same(equal.first[static_cast<std::size_t>(table[slot])], i)) {
      slot = (slot + 1) & (slots - 1);
    }
    if (table[slot] < 0) {
      table[slot] = static_cast<std::int32_t>(equal.first.size());
      equal.first.push_back(i);
      equal.count.push_back(0);
    }
    equal.class_of[i] = table[slot];
    equal.count[static_cast<std::size_t>(table[slot])] += 1;
  }
  return equal;
}

BlockProblem BlocksOf(const ShareProblem& problem, const EqualJobs& equal) {
  BlockProblem blocks;
  blocks.capacity = problem.capacity;
  blocks.blocks.resize(equal.classes());
  blocks.rate.reserve(equal.classes() * problem.types());
  for (std::size_t c = 0; c < equal.classes(); ++c) {
    const std::size_t job = equal.first[c];
    blocks.blocks[c].use = problem.gpus[job] * equal.count[c];
    const auto rates = problem.rates(job);
    blocks.rate.insert(blocks.rate.end(), rates.begin(), rates.end());
  }
  return blocks;
}

std::vector<double> SharesOfJobs(const EqualJobs& equal, std::span<const double> of_classes,
                                 std::size_t types) {
  std::vector<double> shares;
  shares.reserve(equal.class_of.size() * types);
  for (const std::int32_t of : equal.class_of) {
    const auto row = of_classes.subspan(static_cast<std::size_t>(of) * types, types);
    shares.insert(shares.end(), row.begin(), row.end());
  }
  return shares;
}

}  // namespace allot::internal
