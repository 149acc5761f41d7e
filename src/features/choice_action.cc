#include "features/choice_action.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "features/submit_order.h"

namespace allot {

ChoiceAction::ChoiceAction(int window, int width, std::string_view placement)
    : window_(window), width_(width), placement_(MakeStage<Placement>("placement", placement)) {
  ALLOT_CHECK_GE(window, 1);
  ALLOT_CHECK_GE(width, 1);
}

void ChoiceAction::Begin(const Observation& observation) {
  observation_ = &observation;
  OrderBySubmit(observation, &rows_);
  legal_.Observe(*observation.cluster);
  const std::size_t choices = At(width_) + 1;
  mask_.assign(At(window_) * choices, 0);
  for (std::size_t slot = 0; slot < At(window_); ++slot) mask_[slot * choices] = 1;
  fragments_ = false;
  for (int slot = 0; slot < slots(); ++slot) {
    const ConfigurationTable& table = *observation.table[At(row_of(slot))];
    const std::vector<std::uint8_t>& legal = legal_.Of(table);
    std::copy_n(legal.begin(), std::min(legal.size(), At(width_)),
                mask_.begin() + static_cast<std::ptrdiff_t>(At(slot) * choices + 1));
    for (const UnitKind& kind : table.kinds()) {
      fragments_ = fragments_ || kind.demand != Resources{1, 0};
    }
  }
}

bool ChoiceAction::Fits(const ConfigurationTable& table, const Configuration& configuration) {
  return totals_.Fits(configuration) &&
         (!fragments_ || room_.Fits(configuration.gpu_type, table.kinds(), configuration.units));
}

ChoiceAction::Served ChoiceAction::Decode(std::span<const float> choices, Allocation* allocation) {
  ALLOT_CHECK_EQ(choices.size(), At(window_));
  const Observation& o = *observation_;
  totals_.Reset(*o.cluster);
  if (fragments_) room_.Reset(*o.cluster);
  chosen_.assign(At(o.rows()), -1);
  grants_.clear();
  Served served;
  for (int slot = 0; slot < window_; ++slot) {
    const float choice = choices[At(slot)];
    if (choice == 0.0F) continue;
    const bool named =
        choice >= 1.0F && choice <= static_cast<float>(width_) && choice == std::floor(choice);
    if (!named || mask_[At(slot) * (At(width_) + 1) + static_cast<std::size_t>(choice)] == 0) {
      if (served.illegal_slot < 0) served.illegal_slot = slot;
      continue;
    }
    const std::int32_t row = row_of(slot);
    const ConfigurationTable& table = *o.table[At(row)];
    const auto index = static_cast<std::int32_t>(choice) - 1;
    if (!Fits(table, table[index])) {
      ++served.unplaced;
      continue;
    }
    totals_.Take(table[index]);
    if (fragments_) room_.Take(row, table[index].gpu_type, table.kinds(), table[index].units);
    chosen_[At(row)] = index;
    grants_.push_back({row, index});
  }
  // The stage keeps running jobs where they are; it may fail where units went one by one.
  placement_->Place(o, grants_, allocation);
  if (fragments_ && allocation->entries().size() < grants_.size()) {
    room_.Finish(o, chosen_, allocation);
  }
  served.unplaced += static_cast<int>(grants_.size() - allocation->entries().size());
  return served;
}

}  // namespace allot
