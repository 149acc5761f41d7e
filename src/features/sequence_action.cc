#include "features/sequence_action.h"

#include <algorithm>

#include "core/check.h"
#include "core/index.h"
#include "features/submit_order.h"

namespace allot {
namespace {

UnitCounts More(const ConfigurationTable& table, std::int32_t from, std::int32_t next) {
  return from < 0 ? table[next].units : table[next].units - table[from].units;
}

}  // namespace

SequenceAction::SequenceAction(int window, std::string_view placement)
    : fixed_window_(window), placement_(MakeStage<Placement>("placement", placement)) {
  ALLOT_CHECK_GE(window, 0);
}

void SequenceAction::Begin(const Observation& observation) {
  observation_ = &observation;
  totals_.Reset(*observation.cluster);
  chosen_.assign(At(observation.rows()), -1);
  order_.clear();
  OrderBySubmit(observation, &rows_);
  first_ = 0;
  fragments_ = false;
  for (const ConfigurationTable* table : observation.table) {
    for (const UnitKind& kind : table->kinds()) {
      fragments_ = fragments_ || kind.demand != Resources{1, 0};
    }
  }
  if (fragments_) room_.Reset(*observation.cluster);
  RefreshMask();
}

int SequenceAction::slots() const { return std::min(window(), rows_total() - first_); }

bool SequenceAction::NextWindow() {
  if (first_ + window() >= rows_total()) return false;
  first_ += window();
  RefreshMask();
  return true;
}

bool SequenceAction::Fits(const ConfigurationTable& table, std::int32_t from, std::int32_t next) {
  if (from < 0 ? !totals_.Fits(table[next]) : !totals_.Fits(table[from], table[next])) return false;
  return !fragments_ || room_.Fits(table[next].gpu_type, table.kinds(), More(table, from, next));
}

std::int32_t SequenceAction::Target(std::int32_t row, int kind) {
  const ConfigurationTable& table = *observation_->table[At(row)];
  // Kinds beyond a job's own do not exist for it; kBundle only where there is more than one.
  const int own = static_cast<int>(table.kinds().size());
  if (own == 1 ? kind != 0 : (kind >= own && kind != kBundle)) return -1;
  const std::int32_t from = chosen_[At(row)];
  if (from >= 0) {
    const std::int32_t next = Grow(table, from, kind, table[from].gpu_type);
    return next >= 0 && Fits(table, from, next) ? next : -1;
  }
  for (const GpuTypeIndex type : table.types()) {
    const std::int32_t next = Grow(table, -1, kind, type);
    if (next >= 0 && Fits(table, -1, next)) return next;
  }
  return -1;
}

void SequenceAction::RefreshMask() {
  mask_.assign(At(action_count()), 0);
  targets_.assign(At(action_count()), -1);
  mask_[At(done_action())] = 1;
  widest_step_.assign(At(slots()), 0);
  for (int slot = 0; slot < slots(); ++slot) RefreshSlot(slot);
}

void SequenceAction::RefreshSlot(int slot) {
  const std::int32_t row = row_of(slot);
  const ConfigurationTable& table = *observation_->table[At(row)];
  const std::int32_t from = chosen_[At(row)];
  const GpuCount held = from < 0 ? 0 : table[from].demand.gpus;
  GpuCount& widest = widest_step_[At(slot)];
  widest = 0;
  for (int kind = 0; kind < kKinds; ++kind) {
    const std::int32_t target = Target(row, kind);
    targets_[At(slot * kKinds + kind)] = target;
    mask_[At(slot * kKinds + kind)] = target >= 0 ? 1 : 0;
    if (target >= 0) widest = std::max(widest, table[target].demand.gpus - held);
  }
}

void SequenceAction::Grant(std::int32_t row, std::int32_t configuration) {
  const ConfigurationTable& table = *observation_->table[At(row)];
  std::int32_t& chosen = chosen_[At(row)];
  if (fragments_) {
    room_.Take(row, table[configuration].gpu_type, table.kinds(),
               More(table, chosen, configuration));
  }
  if (chosen >= 0) {
    totals_.Return(table[chosen]);
  } else {
    order_.push_back(row);
  }
  totals_.Take(table[configuration]);
  chosen = configuration;
}

bool SequenceAction::Take(int action) {
  if (action < 0 || action >= done_action() || mask_[At(action)] == 0) return false;
  const int slot = action / kKinds;
  const std::int32_t row = row_of(slot);
  Grant(row, targets_[At(action)]);
  if (fragments_) {
    RefreshMask();
    return true;
  }
  // There is less room than before on this type: only jobs that could fill more are checked again.
  const ConfigurationTable& table = *observation_->table[At(row)];
  const GpuCount left = totals_.free(table[chosen_[At(row)]].gpu_type).gpus;
  for (int other = 0; other < slots(); ++other) {
    if (widest_step_[At(other)] > left || other == slot) RefreshSlot(other);
  }
  return true;
}

void SequenceAction::GiveFirstBundles() {
  for (const std::int32_t row : rows_) {
    if (chosen_[At(row)] >= 0) continue;
    const bool single = observation_->table[At(row)]->kinds().size() == 1;
    const std::int32_t first = Target(row, single ? 0 : kBundle);
    if (first >= 0) Grant(row, first);
  }
  RefreshMask();
}

void SequenceAction::Finish(Allocation* allocation) {
  grants_.clear();
  for (const std::int32_t row : order_) grants_.push_back({row, chosen_[At(row)]});
  // The stage keeps running jobs where they are; it may fail where units went one by one.
  placement_->Place(*observation_, grants_, allocation);
  if (fragments_ && allocation->entries().size() < grants_.size()) {
    room_.Finish(*observation_, chosen_, allocation);
  }
}

}  // namespace allot
