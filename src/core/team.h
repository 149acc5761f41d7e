#pragma once
// Processes that share one computation. Every process runs the same code on the same inputs. Each
// computes its share of a list of independent items; then all get all results, in the order of the
// items. So every process continues with the same bytes, the same as a single process would.

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace allot {

class Team {
 public:
  virtual ~Team() = default;
  virtual int rank() const = 0;  // in [0, size())
  virtual int size() const = 0;
  // The bytes of all processes in order of rank, at all of them; all must call it, in the same
  // order. RunError when one of them is gone.
  virtual std::vector<std::string> Gather(const std::string& mine) = 0;
};

// This process alone.
std::shared_ptr<Team> TeamOfOne();

// The items of [0, count) that this process computes: every size-th, from its rank on.
std::vector<std::size_t> ShareOf(const Team& team, std::size_t count);

// results[i] = compute(i) for i in [0, count), of its share by each, on up to `threads` threads
// (core/parallel.h) there. All results at all processes.
std::vector<std::vector<double>> ComputeShared(
    Team& team, std::size_t count, int threads,
    const std::function<std::vector<double>(std::size_t)>& compute);

// Whether it is true in any process.
bool AnyOf(Team& team, bool mine);

}  // namespace allot
