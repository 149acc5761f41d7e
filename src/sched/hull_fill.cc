#include "sched/hull_fill.h"

#include <algorithm>
#include <limits>

#include "core/index.h"

namespace allot {
HullCursor::HullCursor(const Observation& o, std::int32_t row, GpuTypeIndex type)
    : table_(o.table[At(row)]), hull_(&table_->hull(type)), running_cost_(0), type_(type) {
  const std::int32_t running = o.running[At(row)];
  if (running >= 0 && (*table_)[running].gpu_type == type) running_cost_ = (*table_)[running].cost;
}

std::int32_t HullCursor::configuration() const {
  return position_ == 0 ? -1 : (*hull_)[At(position_ - 1)].to;
}

float HullCursor::kappa_sign() const {
  return (*table_)[step().to].cost <= running_cost_ ? 1.0F : -1.0F;
}

float HullCursor::Key(const Score& score, const HullFillOptions& options) const {
  const HullStep& next = step();
  return score.u + (position_ == 0 ? options.first_bonus : 0.0F) + next.log_gain -
         score.beta * next.log_mid + kappa_sign() * score.kappa;
}

void HullFill::Fill(const Observation& o, std::span<const std::int32_t> rows,
                    std::span<const Score> scores, std::vector<Grant>* grants) {
  capacity_.Reset(*o.cluster, LeastUnit(o, rows));
  cursors_.clear();
  heap_.clear();
  first_served_.clear();
  chosen_.assign(rows.size(), -1);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const GpuTypeIndex type : o.table[At(rows[i])]->types()) {
      const HullCursor cursor(o, rows[i], type);
      if (cursor.done()) continue;
      heap_.push_back({cursor.Key(scores[i], options_), static_cast<std::int32_t>(i),
                       static_cast<std::int32_t>(cursors_.size())});
      cursors_.push_back(cursor);
    }
  }
  // Ties by (submit, job): the answer must not depend on the order of rows.
  const auto worse = [&](const Entry& a, const Entry& b) {
    if (a.key != b.key) return a.key < b.key;
    const std::size_t i = At(rows[At(a.index)]);
    const std::size_t j = At(rows[At(b.index)]);
    if (o.submit[i] != o.submit[j]) return o.submit[i] > o.submit[j];
    if (o.job[i] != o.job[j]) return o.job[i] > o.job[j];
    return a.cursor > b.cursor;
  };
  std::make_heap(heap_.begin(), heap_.end(), worse);
  blocked_.clear();
  while (!heap_.empty() && !capacity_.Exhausted()) {
    std::pop_heap(heap_.begin(), heap_.end(), worse);
    const Entry top = heap_.back();
    heap_.pop_back();
    HullCursor& cursor = cursors_[At(top.cursor)];
    const ConfigurationTable& table = *o.table[At(rows[At(top.index)])];
    std::int32_t& chosen = chosen_[At(top.index)];
    // A job that began on one type has left the hulls of the others.
    if (chosen != cursor.configuration()) continue;
    if (chosen >= 0) capacity_.Return(table[chosen]);
    if (!capacity_.Fits(table[cursor.step().to])) {
      if (chosen >= 0) capacity_.Take(table[chosen]);
      blocked_.push_back(top.index);
      continue;
    }
    capacity_.Take(table[cursor.step().to]);
    if (chosen < 0) first_served_.push_back(top.index);
    chosen = cursor.step().to;
    cursor.Advance();
    if (cursor.done()) continue;
    heap_.push_back({cursor.Key(scores[At(top.index)], options_), top.index, top.cursor});
    std::push_heap(heap_.begin(), heap_.end(), worse);
  }
  if (!capacity_.Exhausted()) FillLeftovers(o, rows, blocked_, &capacity_, &chosen_);
  served_.assign(rows.size(), 0);
  const auto grant = [&](std::int32_t index) {
    if (served_[At(index)] != 0 || chosen_[At(index)] < 0) return;
    served_[At(index)] = 1;
    grants->push_back({rows[At(index)], chosen_[At(index)]});
  };
  for (const std::int32_t index : first_served_) grant(index);
  for (const std::int32_t index : blocked_) grant(index);
}

Resources LeastUnit(const Observation& o, std::span<const std::int32_t> rows) {
  Resources least{std::numeric_limits<std::int32_t>::max(),
                  std::numeric_limits<std::int32_t>::max()};
  for (const std::int32_t row : rows) {
    const Resources& own = o.table[At(row)]->least_unit();
    least = {std::min(least.gpus, own.gpus), std::min(least.cpus, own.cpus)};
  }
  return least;
}

void FillLeftovers(const Observation& o, std::span<const std::int32_t> rows,
                   std::span<const std::int32_t> preference, TypeCapacity* capacity,
                   std::vector<std::int32_t>* chosen) {
  for (const std::int32_t index : preference) {
    if (capacity->Exhausted()) return;
    const std::size_t row = At(rows[At(index)]);
    const ConfigurationTable& table = *o.table[row];
    std::int32_t& now = (*chosen)[At(index)];
    if (now >= 0) capacity->Return(table[now]);
    std::int32_t best = now;
    for (const std::int32_t c : table.fastest()) {
      if (now >= 0 && table[c].gpu_type != table[now].gpu_type) continue;
      if (!capacity->Fits(table[c])) continue;
      if (now < 0 || table[c].rate > table[now].rate) best = c;
      break;
    }
    const std::int32_t running = o.running[row];
    if (best != now && now >= 0 && running == now) {
      // Growing a job that could simply run on must pay for its restart within one interval.
      const double gained = (table[best].rate - table[now].rate) * o.interval;
      if (gained <= table[best].rate * o.restart_cost[row]) best = now;
    }
    // What it runs on already costs nothing to keep.
    if (best >= 0 && running >= 0 && best != running && capacity->Fits(table[running]) &&
        (now < 0 || table[running].rate >= table[now].rate)) {
      const double gained = (table[best].rate - table[running].rate) * o.interval;
      if (gained <= table[best].rate * o.restart_cost[row]) best = running;
    }
    now = best;
    if (now >= 0) capacity->Take(table[now]);
  }
}

}  // namespace allot
