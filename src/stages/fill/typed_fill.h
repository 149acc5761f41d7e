#pragma once
// The hull fill with types assigned before: a greedy fill says how large each job would be, then
// types are assigned for these sizes by value, then the fill is done again with the types given. On
// clusters of one type just the fill. Used by the index policies, the environment's index action
// and what explains it.

#include <memory>
#include <string_view>
#include <vector>

#include "sched/stages.h"
#include "stages/fill/granted_pairs.h"
#include "stages/fill/hull_fill.h"
#include "stages/fill/sized_types.h"
#include "stages/fill/table_facts.h"

namespace allot {

class TypedFill {
 public:
  // `types`: the stage, by spec.
  explicit TypedFill(HullFillOptions options = {}, std::string_view types = "exact");

  void OnEpisodeStart() { fill_.OnEpisodeStart(); }

  // As HullFill::Fill.
  void Fill(const Observation& observation, std::span<const std::int32_t> rows,
            std::span<const Score> scores, std::vector<Grant>* grants,
            std::vector<FillStep>* trace = nullptr);

  // Whether jobs may share GPUs: then of each pair one has a grant, and pairs(), of the last fill,
  // says beside whom it is to run.
  bool may_pair() const { return types_->pairs(); }
  const GrantedPairs& pairs() const { return pairs_; }

 private:
  void FillTyped(const Observation& observation, std::span<const std::int32_t> rows,
                 std::span<const Score> scores, std::vector<Grant>* grants,
                 std::vector<FillStep>* trace);

  HullFill fill_;
  std::unique_ptr<TypeAssignment> types_;
  std::vector<std::int32_t> places_;  // indices into rows, by submission
  std::vector<std::int32_t> order_;   // these rows
  std::vector<Score> ordered_scores_;
  SizedTypes sized_;
  TableFacts facts_;                   // of the order
  std::vector<std::int32_t> size_of_;  // by row
  std::vector<char> granted_;
  std::vector<std::int32_t> sizes_;  // by place in the order, as those below
  std::vector<double> weights_;
  std::vector<GpuTypeIndex> assigned_;
  std::vector<GpuTypeIndex> given_;  // by rows index
  std::vector<Grant> free_choice_;
  GrantedPairs pairs_;
  std::vector<std::int32_t> first_rows_;  // without the seconds of pairs
  std::vector<Score> first_scores_;
  std::vector<GpuTypeIndex> first_types_;
};

// Weights of a type question from the scores of its rows: what the fill counts a job's rate for at
// the size asked about, exp(u) s^(1-beta), s = rate / reference rate on the job's best type; times
// exp(kappa) where it runs, whatever the type, and exp(-kappa) where it waits. `facts`: of the
// order asked about.
void WeighForTypes(const Observation& observation, const TypeQuestion& asked,
                   std::span<const Score> scores, TableFacts* facts, std::vector<double>* weights);

}  // namespace allot
