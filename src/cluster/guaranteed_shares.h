#pragma once
// Guarantees of accounts, in front of every policy. An account with a guarantee of G GPUs gets as
// many whenever its jobs ask for them; meanwhile others may use them, and give them back. A policy
// decides on all jobs and GPUs, as without guarantees. If its answer leaves an account below what
// it may count on, the answer is corrected; otherwise it is unchanged.
//
// What an account may count on: the GPUs that its jobs ask for, in order of priority and
// submission, each as large as fits, up to the guarantee. Who is below gets, in this order: GPUs
// that the answer leaves free; those of jobs that may be smaller; those of jobs that are stopped.
// Both are taken from jobs of nobody's guarantee, and of accounts above theirs: first from jobs
// that only now begin, then by rising priority and service received.
//
// Used by simulated and live clusters when they apply an answer. Deterministic; not thread-safe.

#include <cstdint>
#include <span>
#include <vector>

#include "cluster/allocation.h"
#include "cluster/free_map.h"
#include "cluster/observation.h"
#include "cluster/operator_rules.h"

namespace allot {

class GuaranteedShares {
 public:
  explicit GuaranteedShares(std::vector<Guarantee> guarantees);

  // `answer`: legal, of jobs that are alone on their GPUs. `owner`: by row, the number of its
  // account's guarantee, -1: none. `hidden`: by guarantee, what jobs that are no rows hold of it;
  // such GPUs are not to be had now. True where the answer had to be changed: allocation() is what
  // is to be applied. O(rows + nodes) where not.
  bool Enforce(const Observation& observation, std::span<const std::int32_t> owner,
               std::span<const GpuCount> hidden, const Allocation& answer);
  const Allocation& allocation() const { return enforced_; }

 private:
  struct Given {
    Allocation::Entry entry{.configuration = -1};  // without shares
    std::vector<NodeShare> shares;
  };
  // What is changed for one account, and taken back where it was not enough.
  struct State {
    std::vector<Given> given;  // by row
    FreeMap free;
    std::vector<GpuCount> use;  // by guarantee
  };

  bool Load(const Allocation& answer);
  void Plan(std::size_t guarantee, GpuCount hidden);
  void Serve(std::size_t guarantee);
  bool Raise(std::size_t guarantee, std::int32_t row, GpuCount gpus);
  bool Restore(std::size_t guarantee, std::int32_t row, GpuCount most);
  bool Place(std::int32_t row, GpuCount gpus, GpuTypeIndex type);
  bool Reclaim(std::size_t guarantee, GpuTypeIndex type);
  bool MayLose(std::size_t guarantee, std::int32_t row, GpuCount gpus) const;
  void Cut(std::int32_t row, std::vector<NodeShare> left);
  void Drop(std::int32_t row);
  bool Take(std::int32_t row, std::int32_t configuration, std::vector<NodeShare> shares);
  GpuCount GpusOf(std::int32_t row) const;
  GpuTypeIndex TypeOf(std::int32_t row) const;  // of a row that was given something
  bool Counts(std::size_t guarantee, GpuTypeIndex type) const;
  void Count(std::int32_t row, int sign);
  GpuCount LargestUpTo(std::int32_t row, GpuCount gpus, std::size_t guarantee) const;
  void Write(const Allocation& answer);

  struct Share {
    Guarantee said;
    GpuTypeIndex type = -1;          // -1: any
    std::vector<std::int32_t> rows;  // of its jobs, first come first
    std::vector<GpuCount> size;      // of these: what each may count on
    GpuCount entitled = 0;           // the sum
  };
  std::vector<Share> shares_;
  const Observation* o_ = nullptr;
  std::span<const std::int32_t> owner_;
  State state_;
  std::vector<std::int32_t> row_of_job_;
  bool changed_ = false;
  Allocation enforced_;
};

}  // namespace allot
