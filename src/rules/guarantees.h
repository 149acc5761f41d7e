#pragma once
// Guarantees of accounts. An account with a guarantee of G GPUs gets as many whenever its jobs ask
// for them; meanwhile others may use them, and give them back. A policy decides on all jobs and
// GPUs, as without guarantees. An answer that leaves an account below its entitlement is corrected;
// any other answer stays as it is.
//
// An account is entitled to the GPUs that its jobs ask for, in order of priority and submission,
// each as large as fits, up to the guarantee. An account below that gets, in this order: GPUs that
// the answer leaves free; GPUs of jobs that may be smaller; GPUs of jobs that are stopped. Both are
// taken from jobs without a guarantee, and of accounts above theirs: first from jobs that only now
// start, then by rising priority and service received.
//
// Part of ConstrainedCluster. Deterministic; not thread-safe.

#include <cstdint>
#include <span>
#include <vector>

#include "cluster/allocation.h"
#include "cluster/free_map.h"
#include "cluster/observation.h"
#include "rules/operator_rules.h"

namespace allot {

class Guarantees {
 public:
  explicit Guarantees(std::vector<Guarantee> guarantees);

  bool none() const { return accounts_.empty(); }
  std::size_t size() const { return accounts_.size(); }
  const Guarantee& operator[](std::int32_t index) const {
    return accounts_[static_cast<std::size_t>(index)].guarantee;
  }

  // `answer`: legal, and every job is alone on its GPUs. `owner`: by row, the index of its
  // account's guarantee; -1: none. `hidden`: by guarantee, the GPUs that hidden jobs have of it;
  // nobody can get these now. True if the answer had to be corrected: allocation() is to be
  // applied. O(rows + nodes) if not.
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
  GpuTypeIndex TypeOf(std::int32_t row) const;  // the row has an allocation
  bool Counts(std::size_t guarantee, GpuTypeIndex type) const;
  void Count(std::int32_t row, int sign);
  GpuCount LargestUpTo(std::int32_t row, GpuCount gpus, std::size_t guarantee) const;
  void Write(const Allocation& answer);

  struct Account {
    Guarantee guarantee;
    GpuTypeIndex type = -1;          // -1: any
    std::vector<std::int32_t> rows;  // its jobs, first come first
    std::vector<GpuCount> size;      // of these: what each is entitled to
    GpuCount entitled = 0;           // the sum
  };
  std::vector<Account> accounts_;
  const Observation* o_ = nullptr;
  std::span<const std::int32_t> owner_;
  State state_;
  std::vector<std::int32_t> row_of_job_;
  bool changed_ = false;
  Allocation enforced_;
};

}  // namespace allot
