#pragma once
// Choice action: a configuration for each job of a window, once per decision -> Allocation, by a
// placement stage.
//
// Slots are the first `window` jobs by (submit, job). A choice is 0: nothing, or k: configuration
// k - 1 of the job's table. The mask allows 0 everywhere, and k where the job could have that
// configuration if nothing else were there (features/legal_configurations.h); whether all choices
// go together it does not say. Choices are served in the order of the slots, as far as they go
// beside those before them: by the totals of their GPU type, and where units are of several GPUs or
// of CPUs also by the nodes (UnitFit). What is left of them goes to the placement stage. Jobs
// beyond the window get nothing. Configurations beyond `width`, and those beside a partner, cannot
// be chosen.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/index.h"
#include "features/legal_configurations.h"
#include "features/unit_fit.h"
#include "sched/stages.h"

namespace allot {

class ChoiceAction {
 public:
  ChoiceAction(int window, int width, std::string_view placement = "packed");

  // The observation must live, unchanged, until Decode. O(rows + window x width).
  void Begin(const Observation& observation);

  int window() const { return window_; }
  int width() const { return width_; }
  int slots() const { return static_cast<int>(std::min(rows_.size(), At(window_))); }
  std::int32_t row_of(int slot) const { return rows_[At(slot)]; }

  // 1 = legal; window x (width + 1), row-major.
  const std::vector<std::uint8_t>& mask() const { return mask_; }

  struct Served {
    int unplaced = 0;       // legal choices that did not fit any more: they got nothing
    int illegal_slot = -1;  // the first whose choice the mask does not allow: it counted as 0
  };
  // One number a slot of the window; NaN and fractions are illegal.
  Served Decode(std::span<const float> choices, Allocation* allocation);

 private:
  bool Fits(const ConfigurationTable& table, const Configuration& configuration);

  int window_;
  int width_;
  std::unique_ptr<Placement> placement_;
  const Observation* observation_ = nullptr;
  LegalConfigurations legal_;
  TypeTotals totals_;
  UnitFit room_;
  bool fragments_ = false;          // units of several GPUs or of CPUs: totals do not say what fits
  std::vector<std::int32_t> rows_;  // by (submit, job)
  std::vector<std::uint8_t> mask_;
  std::vector<std::int32_t> chosen_;  // by row
  std::vector<Grant> grants_;
};

}  // namespace allot
