#include "features/sequence_action.h"

#include <algorithm>

#include "core/check.h"
#include "core/index.h"
#include "sched/increments.h"

namespace allot {
SequenceAction::SequenceAction(int window, std::string_view placement)
    : window_(window), placement_(MakeStage<Placement>("placement", placement)) {
  ALLOT_CHECK_GT(window, 0);
}

void SequenceAction::Begin(const Observation& observation) {
  observation_ = &observation;
  capacity_.Reset(*observation.cluster);
  chosen_.assign(At(observation.rows()), -1);
  order_.clear();
  fragments_ = false;
  for (const ConfigurationTable* table : observation.table) {
    for (const UnitKind& kind : table->kinds()) {
      fragments_ = fragments_ || kind.demand != Resources{1, 0};
    }
  }
  mask_.assign(At(action_count()), 0);
  mask_[At(done_action())] = 1;
  widest_step_.assign(At(std::min(window_, observation.rows())), 0);
  RefreshMask();
}

// Single GPUs fit wherever the type has one left; other units may find room in sum but on no node.
bool SequenceAction::Placeable(std::int32_t row, std::int32_t configuration) {
  if (!fragments_) return true;
  grants_.clear();
  for (const std::int32_t other : order_) {
    grants_.push_back({other, other == row ? configuration : chosen_[At(other)]});
  }
  if (chosen_[At(row)] < 0) grants_.push_back({row, configuration});
  placement_->Place(*observation_, grants_, &trial_);
  return trial_.entries().size() == grants_.size();
}

std::int32_t SequenceAction::Target(std::int32_t row, int kind) {
  const ConfigurationTable& table = *observation_->table[At(row)];
  // Kinds beyond a job's own do not exist for it; kBundle only where there is more than one.
  const int own = static_cast<int>(table.kinds().size());
  if (own == 1 ? kind != 0 : (kind >= own && kind != kBundle)) return -1;
  const std::int32_t from = chosen_[At(row)];
  if (from >= 0) {
    const std::int32_t next = Grow(table, from, kind, table[from].gpu_type);
    if (next < 0) return -1;
    const Resources more = table[next].demand - table[from].demand;
    const bool fits = more.FitsIn(capacity_.free(table[next].gpu_type));
    return fits && Placeable(row, next) ? next : -1;
  }
  for (const GpuTypeIndex type : table.types()) {
    const std::int32_t next = Grow(table, -1, kind, type);
    if (next >= 0 && capacity_.Fits(table[next]) && Placeable(row, next)) return next;
  }
  return -1;
}

void SequenceAction::RefreshMask() {
  const std::int32_t jobs = std::min(window_, observation_->rows());
  for (std::int32_t row = 0; row < jobs; ++row) RefreshRow(row);
}

void SequenceAction::RefreshRow(std::int32_t row) {
  const ConfigurationTable& table = *observation_->table[At(row)];
  const std::int32_t from = chosen_[At(row)];
  const GpuCount held = from < 0 ? 0 : table[from].demand.gpus;
  GpuCount& widest = widest_step_[At(row)];
  widest = 0;
  for (int kind = 0; kind < kinds_; ++kind) {
    const std::int32_t target = Target(row, kind);
    mask_[At(row * kinds_ + kind)] = target >= 0 ? 1 : 0;
    if (target >= 0) widest = std::max(widest, table[target].demand.gpus - held);
  }
}

bool SequenceAction::Take(int action) {
  if (action < 0 || action >= action_count() || action == done_action() || mask_[At(action)] == 0) {
    return false;
  }
  const std::int32_t row = action / kinds_;
  const ConfigurationTable& table = *observation_->table[At(row)];
  const std::int32_t next = Target(row, action % kinds_);
  std::int32_t& chosen = chosen_[At(row)];
  if (chosen >= 0) {
    capacity_.Return(table[chosen]);
  } else {
    order_.push_back(row);
  }
  capacity_.Take(table[next]);
  chosen = next;
  if (fragments_) {
    RefreshMask();
    return true;
  }
  // There is less room than before on this type: only who could fill more than is left is asked.
  const GpuCount left = capacity_.free(table[next].gpu_type).gpus;
  for (std::size_t other = 0; other < widest_step_.size(); ++other) {
    if (widest_step_[other] > left || other == At(row)) {
      RefreshRow(static_cast<std::int32_t>(other));
    }
  }
  return true;
}

void SequenceAction::Finish(Allocation* allocation) {
  grants_.clear();
  for (const std::int32_t row : order_) grants_.push_back({row, chosen_[At(row)]});
  placement_->Place(*observation_, grants_, allocation);
}

}  // namespace allot
