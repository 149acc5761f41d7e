#pragma once
// Type assignment and sizing together. A sizing that knows more than the requested sizes is asked
// twice: first freely, which says how large each job would be; then types are assigned for these
// sizes; then it is asked again, with the types given.

#include <vector>

#include "sched/stages.h"
#include "stages/fill/granted_pairs.h"
#include "stages/fill/sized_types.h"

namespace allot {

class TypedSizing {
 public:
  TypedSizing(TypeAssignment* types, Sizing* sizing) : types_(types), sizing_(sizing) {}

  bool AppliesTo(const ClusterSpec& cluster) const {
    return types_->AppliesTo(cluster) && sizing_->takes_types();
  }
  // As Sizing::Size; sizes and weights of the question are filled in here.
  void Size(const Observation& observation, TypeQuestion question, std::span<const double> keys,
            std::vector<Grant>* grants);

  // As TypedFill::may_pair and pairs; a sizing that does not take types has none.
  bool may_pair() const { return types_->pairs() && sizing_->takes_types(); }
  const GrantedPairs& pairs() const { return pairs_; }

 private:
  TypeAssignment* types_;
  Sizing* sizing_;
  std::vector<Grant> free_choice_;
  SizedTypes sized_;
  std::vector<std::int32_t> sizes_;  // by place, as all below
  std::vector<char> granted_;
  std::vector<double> weights_;
  std::vector<GpuTypeIndex> given_;
  std::vector<std::int32_t> place_of_;  // of a row
  // Those with a type first.
  std::vector<std::int32_t> order_;
  std::vector<double> keys_;
  std::vector<GpuTypeIndex> ordered_types_;
  GrantedPairs pairs_;
};

}  // namespace allot
