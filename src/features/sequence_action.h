#pragma once
// Sequence action (DL2, TPDS'21, section 4.2): an allocation built one unit at a time. Each action
// adds one unit of one kind (or a bundle: one of each) to one job, or ends the decision.
//
// Actions over a window of W jobs and K kinds: job x K + kind, and W x K = "done". Kinds come from
// the jobs: one ("gpu") for GPU jobs; worker, parameter server and bundle for jobs with two unit
// kinds. The mask is derived from the rules of validation: an action is legal exactly when the
// allocation it leads to would pass.

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "sched/capacity.h"
#include "sched/stages.h"

namespace allot {

class SequenceAction {
 public:
  // `window`: jobs that can be addressed, the first rows by (submit, job).
  explicit SequenceAction(int window, std::string_view placement = "packed");

  void Begin(const Observation& observation);  // everything at zero
  int action_count() const { return window_ * kinds_ + 1; }
  int done_action() const { return window_ * kinds_; }
  int kinds() const { return kinds_; }

  // 1 = legal. "done" always is. size action_count().
  const std::vector<std::uint8_t>& mask() const { return mask_; }
  // Illegal actions change nothing and return false.
  bool Take(int action);
  std::int32_t granted(std::int32_t row) const { return chosen_[static_cast<std::size_t>(row)]; }
  void Finish(Allocation* allocation);

 private:
  std::int32_t Target(std::int32_t row, int kind);  // configuration after the increment, or -1
  bool Placeable(std::int32_t row, std::int32_t configuration);
  void RefreshMask();
  void RefreshRow(std::int32_t row);

  int window_;
  int kinds_ = kMaxUnitKinds + 1;
  std::unique_ptr<Placement> placement_;
  const Observation* observation_ = nullptr;
  TypeCapacity capacity_;
  std::vector<std::int32_t> chosen_;
  std::vector<std::int32_t> order_;  // rows that got their first unit, in that order
  std::vector<std::uint8_t> mask_;
  std::vector<GpuCount> widest_step_;  // by row: GPUs that its largest legal action adds
  std::vector<Grant> grants_;
  bool fragments_ = false;  // units of several GPUs or of CPUs: totals do not say what fits
  Allocation trial_;
};

}  // namespace allot
