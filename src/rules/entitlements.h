#pragma once
// Corrects an answer that leaves somebody below what he is entitled to, and changes as little of it
// as possible; any other answer stays as it is. Entitled are, in this order:
//   1  an account with a guarantee of G GPUs, to as many whenever its jobs ask for them;
//   2  each user, to his fair share (rules/fair_shares.h).
// Meanwhile others may use these GPUs, and give them back. A policy decides on all jobs and GPUs,
// as without entitlements.
//
// A claim of either kind entitles to the GPUs that its jobs ask for, each as large as fits, in the
// order of priority; then those that run come first, then those that were submitted first. If a
// job of a user does not fit into what his share leaves, users who have used less than others have
// turns: they are entitled to that size at the cost of those who have used more.
//
// A claim that is not met gets the GPUs that its running jobs have now. If that is not enough, it
// gets GPUs that the answer leaves free; then GPUs of jobs that may be smaller; then GPUs of jobs
// that are stopped. They are taken from jobs whose claims keep what they are entitled to: first
// what running jobs would gain, then by rising priority and falling service received. Running jobs
// that end up with as many GPUs as they have keep these GPUs, so that an answer that is given and
// corrected again changes nothing.
//
// Part of ConstrainedCluster. Deterministic; not thread-safe.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "cluster/allocation.h"
#include "cluster/free_map.h"
#include "cluster/observation.h"
#include "rules/constraints.h"
#include "rules/fair_shares.h"
#include "rules/operator_rules.h"

namespace allot {

class Entitlements {
 public:
  // Of one answer: on what its correction is based.
  struct Basis {
    // By row, the index of its account's guarantee; -1: none.
    std::span<const std::int32_t> guarantee_of_row;
    // By guarantee: GPUs of hidden jobs, which nobody can get now.
    std::span<const GpuCount> hidden;
    // Ascending by usage; empty: none. By row: the index of its user's, and the GPUs that it asks
    // for.
    std::span<const FairShares::Share> shares;
    std::span<const std::int32_t> share_of_row;
    std::span<const GpuCount> asked_of_row;
  };

  explicit Entitlements(std::vector<Guarantee> guarantees) : guarantees_(std::move(guarantees)) {}

  const std::vector<Guarantee>& guarantees() const { return guarantees_; }

  // `answer`: legal, and every job is alone on its GPUs. Returns the first kind of claims that it
  // did not meet; then allocation() is to be applied. O(rows + nodes) if it meets all.
  Corrections::Reason Enforce(const Observation& observation, const Basis& basis,
                              const Allocation& answer);
  const Allocation& allocation() const { return enforced_; }

 private:
  struct Given {
    Allocation::Entry entry{.configuration = -1};  // without shares
    std::vector<NodeShare> shares;
  };
  // What rows were given before each change.
  using Changes = std::vector<std::pair<std::int32_t, Given>>;
  struct Claim {
    GpuCount gpus = 0;                         // the most that it entitles to now
    GpuTypeIndex type = -1;                    // of these only; -1: any
    const FairShares::Share* share = nullptr;  // null: a guarantee
    GpuCount demand = 0;                       // of its jobs
    GpuCount use = 0;                          // what its jobs have by the answer
    std::vector<std::int32_t> rows{};          // its jobs, first come first
    std::vector<GpuCount> size{};              // of the first of these: what each is entitled to
    GpuCount entitled = 0;                     // the sum
    bool met() const { return use >= std::min(gpus, demand); }
  };
  // Indices of claims; -1: none.
  struct ClaimsOfRow {
    std::int32_t guarantee = -1;
    std::int32_t share = -1;
  };

  void FindClaims(const Basis& basis);
  void FindRows(const Basis& basis);
  bool Load(const Allocation& answer);
  void Plan(Claim* claim);
  void GiveTurns(std::size_t guarantees);
  bool GiveTurn(std::size_t claim, std::size_t position, GpuCount* spare);
  GpuCount Shrink(Claim* claim, GpuCount gpus) const;
  void Serve(std::int32_t claim);
  void KeepRunning();
  bool Raise(std::int32_t row, GpuCount gpus);
  bool Restore(std::int32_t row);
  bool PlaceUpTo(std::int32_t row, GpuCount most, GpuTypeIndex type);
  void KeepPlaces(const Allocation& answer);
  bool Place(std::int32_t row, GpuCount gpus, GpuTypeIndex type);
  bool PlaceOrReclaim(std::int32_t row, GpuCount gpus, GpuTypeIndex type);
  bool Reclaim(GpuTypeIndex type);
  bool MayLose(std::int32_t row, GpuCount gpus) const;
  void Cut(std::int32_t row, std::vector<NodeShare> left);
  void Drop(std::int32_t row);
  bool Take(std::int32_t row, std::int32_t configuration, std::vector<NodeShare> shares);
  void Undo(std::size_t changes);
  void ReturnUnneeded(std::size_t changes);
  GpuCount GpusOf(std::int32_t row) const;         // by the answer
  GpuCount PresentGpusOf(std::int32_t row) const;  // before it
  GpuTypeIndex TypeOf(std::int32_t row) const;     // the row has an allocation
  GpuCount AskedBy(std::int32_t row, const Claim& claim) const;
  void Count(std::int32_t row, int sign);
  GpuCount LargestUpTo(std::int32_t row, GpuCount gpus, GpuTypeIndex type) const;
  GpuCount NextSize(std::int32_t row, GpuCount gpus) const;
  void Write(const Allocation& answer);

  std::vector<Guarantee> guarantees_;
  const Observation* o_ = nullptr;
  std::span<const GpuCount> asked_of_row_;
  std::vector<Claim> claims_;  // guarantees, then shares
  std::vector<ClaimsOfRow> claims_of_row_;
  static constexpr std::int32_t kNoClaim = -2;
  std::int32_t served_ = kNoClaim;  // the claim that is served
  std::int32_t served_row_ = -1;    // the row that gets its GPUs
  std::vector<Given> given_;        // by row
  FreeMap free_;
  Changes changes_;
  std::vector<std::int32_t> row_of_job_;
  Allocation enforced_;
};

}  // namespace allot
