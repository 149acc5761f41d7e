#pragma once
// Sequence action (DL2, TPDS'21, section 4.2): an allocation built one unit at a time. Each action
// adds one unit of one kind (or a bundle: one of each) to one job, or ends the decision.
//
// Actions over a window of W jobs and K kinds: slot x K + kind, and W x K = "done". Kinds come from
// the jobs: one ("gpu") for GPU jobs; worker, parameter server and bundle for jobs with two unit
// kinds. The mask asks what validation and placement ask (ConfigurationTable::Allocatable,
// TypeTotals, FreeMap): an action is legal exactly when the job has a configuration with that unit,
// and the unit finds a node beside the units so far.

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "core/index.h"
#include "features/unit_fit.h"
#include "sched/stages.h"
#include "stages/fill/increments.h"

namespace allot {

class SequenceAction {
 public:
  static constexpr int kKinds = kMaxUnitKinds + 1;
  static constexpr int kAllJobs = 0;

  // `window`: jobs that can be addressed at a time, in slots by (submit, job); kAllJobs: as many as
  // there are.
  explicit SequenceAction(int window, std::string_view placement = "packed");

  void Begin(const Observation& observation);  // everything at zero
  // The window moves on to the next jobs; what was granted stays. False, and no change, when there
  // are none.
  bool NextWindow();
  // One bundle (of GPU jobs: their first configuration) for every job of every window that has
  // nothing, in the order of the slots, as far as they fit.
  void GiveFirstBundles();

  int action_count() const { return window() * kKinds + 1; }
  int done_action() const { return window() * kKinds; }
  int kinds() const { return kKinds; }
  int slots() const;  // jobs in the window
  std::int32_t row_of(int slot) const { return rows_[At(first_ + slot)]; }

  // 1 = legal. "done" always is. size action_count().
  const std::vector<std::uint8_t>& mask() const { return mask_; }
  // The job's configuration after the action if it is legal, else -1.
  std::int32_t target(int action) const { return targets_[At(action)]; }
  // Illegal actions change nothing and return false.
  bool Take(int action);
  std::int32_t granted(std::int32_t row) const { return chosen_[At(row)]; }
  const Resources& free(GpuTypeIndex type) const { return totals_.free(type); }
  void Finish(Allocation* allocation);

 private:
  int window() const { return fixed_window_ == kAllJobs ? rows_total() : fixed_window_; }
  int rows_total() const { return static_cast<int>(rows_.size()); }
  std::int32_t Target(std::int32_t row, int kind);  // configuration after the increment, or -1
  bool Fits(const ConfigurationTable& table, std::int32_t from, std::int32_t next);
  void Grant(std::int32_t row, std::int32_t configuration);
  void RefreshMask();
  void RefreshSlot(int slot);

  int fixed_window_;
  std::unique_ptr<Placement> placement_;
  const Observation* observation_ = nullptr;
  TypeTotals totals_;
  UnitFit room_;
  std::vector<std::int32_t> rows_;  // by (submit, job)
  int first_ = 0;                   // of rows_, in the window's first slot
  std::vector<std::int32_t> chosen_;
  std::vector<std::int32_t> order_;  // rows that got their first unit, in that order
  std::vector<std::uint8_t> mask_;
  std::vector<std::int32_t> targets_;
  std::vector<GpuCount> widest_step_;  // by slot: GPUs that its largest legal action adds
  std::vector<allot::Grant> grants_;
  bool fragments_ = false;  // units of several GPUs or of CPUs: totals do not say what fits
};

}  // namespace allot
