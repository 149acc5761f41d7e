#pragma once
// The fair share of the cluster's GPUs that each user with unfinished jobs has at one decision
// (docs/rules.md, ADR 96). First accounts share the cluster, then users share what their account
// has. Shares are max-min fair by weight: nobody has more than his jobs could use, each at its
// fastest size, and what he leaves is shared by those who could use more. Of a share its user is
// entitled to what his jobs ask for (rules/entitlements.h). GPUs that cannot be divided go to those
// who have used least (rules/gpu_usage.h). Jobs that accept only one of several GPU types share the
// GPUs of that type first, in the same way.
//
// Entitlements keeps the shares, after guarantees; an account's share is at least its guarantee.
// Part of ConstrainedCluster.

#include <cstdint>
#include <span>
#include <vector>

#include "cluster/observation.h"
#include "rules/constraints.h"
#include "rules/gpu_usage.h"
#include "rules/operator_rules.h"

namespace allot {

class FairShares {
 public:
  struct Share {
    Submitter submitter;
    GpuCount gpus = 0;    // with those that hidden jobs have
    GpuCount hidden = 0;  // these
    // At most so many of each type for jobs that accept only this type. Empty: there is one type.
    std::vector<GpuCount> of_type{};
    // Decayed GPU seconds by weight, of the user and of the account. Who has more GPUs than the
    // share counts as if he had used less (kTurn).
    double usage = 0;
    double account_usage = 0;
  };
  // Who has a GPU beyond the share, because it cannot be divided, keeps it for about so long before
  // another one who has used as much gets it: a turn costs restarts.
  static constexpr Seconds kTurn = 1800;
  // While jobs could use more than there is, others may be next after this time.
  static constexpr Seconds kReview = 300;

  // Finds the shares on `all`, of which policies see the rows that are not `hidden`, and the GPUs
  // of `shown`. `guarantees` are those that constraints name. O(rows log users + types x users log
  // users).
  void Find(const Observation& all, const Constraints& constraints, const std::vector<bool>& hidden,
            const ClusterSpec& shown, std::span<const Guarantee> guarantees);

  // Of the users whose jobs could use GPUs or have some. Ascending by usage: who comes first.
  const std::vector<Share>& shares() const { return shares_; }
  // By row that policies see: index of its user's share.
  std::span<const std::int32_t> share_of_row() const { return share_of_row_; }
  // By row that policies see: the GPUs that it asks for.
  std::span<const GpuCount> asked_of_row() const { return asked_of_row_; }
  // True if jobs could use more than there is.
  bool contended() const { return contended_; }

  // True if `a` has used so much more than `b` that it is the turn of `b` to have so many GPUs,
  // which `a` has a share of.
  static bool IsTurnOf(const Share& b, const Share& a, GpuCount gpus) {
    const bool same = a.submitter.account == b.submitter.account;
    const double more = same ? a.usage - b.usage : a.account_usage - b.account_usage;
    return more > kTurn * static_cast<double>(gpus);
  }

 private:
  // What a user, or an account, could use of some GPUs.
  struct Party {
    GpuCount demand = 0;
    GpuCount least = 0;  // it gets no less, if it could use as much
    GpuCount allocated = 0;
    double weight = 1;
    double used = 0;  // decayed GPU seconds
    double EffectiveUsage(GpuCount beyond) const {
      return (used - kTurn * static_cast<double>(beyond)) / weight;
    }
  };
  struct Member {
    Submitter submitter;
    Party all;                     // of any type; the least is what hidden jobs have
    std::vector<Party> of_type{};  // of jobs that accept only this type; empty: there is one type
  };
  struct Account {
    std::size_t begin = 0;  // its members
    std::size_t end = 0;
    double weight = 1;
    double used = 0;
    const Guarantee* guarantee = nullptr;
  };

  void FindMembers(const Observation& all, const Constraints& constraints,
                   const std::vector<bool>& hidden);
  void FindAccounts(const Observation& all, const Constraints& constraints,
                    std::span<const Guarantee> guarantees);
  void AddRow(const Observation& all, std::int32_t row, bool hidden, GpuCount asked,
              Member* member) const;
  std::vector<GpuCount> Divide(GpuCount gpus, std::span<const Party> parties);
  std::vector<GpuCount> DivideAmongAccounts(GpuCount gpus, std::span<const Party> members,
                                            const std::string* type);
  void WriteShares(const std::vector<GpuCount>& gpus,
                   const std::vector<std::vector<GpuCount>>& of_type);

  std::vector<Member> members_;  // ascending by submitter
  std::vector<Account> accounts_;
  std::vector<std::int32_t> member_of_row_;  // of all rows
  std::vector<Share> shares_;
  std::vector<std::int32_t> share_of_row_;
  std::vector<GpuCount> asked_of_row_;
  bool contended_ = false;
};

}  // namespace allot
