#include "agents/training/sampled_fill.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/index.h"

namespace allot {
namespace {

constexpr double kSmallestExponent = -600;  // keeps weights above the smallest double
constexpr std::uint64_t kMostTypes = 1024;

bool Later(const auto& a, const auto& b) { return a.time > b.time; }

}  // namespace

double SampledFill::Total() {
  // Subtracting weights of very different size loses digits: start again when the sum has
  // collapsed.
  if (total_ < 1e-6 * total_peak_) {
    total_ = 0;
    for (const Item& item : items_) total_ += item.open ? item.weight : 0;
    total_peak_ = total_;
  }
  return total_;
}

void SampledFill::Open(std::int32_t index, const Observation& o, std::span<const Score> scores,
                       double now) {
  Item& item = items_[At(index)];
  const double key = item.cursor.Key(scores[At(item.row)], HullFillOptions{});
  item.weight = std::exp(std::max(kSmallestExponent, (key - offset_) / tau_));
  item.opened_at = expected_;
  item.open = true;
  total_ += item.weight;
  total_peak_ = std::max(total_peak_, total_);
  const auto step = static_cast<std::uint64_t>(item.cursor.position()) * kMostTypes +
                    static_cast<std::uint64_t>(item.type);
  Rng noise(draw_, "luck", static_cast<std::uint64_t>(o.job[At(item.row)]), step);
  heap_.push_back({now + noise.Exponential(1.0) / item.weight, index, item.cursor.position()});
  std::push_heap(heap_.begin(), heap_.end(), Later<Race, Race>);
}

void SampledFill::Close(std::int32_t index, bool taken, std::vector<Score>* gradient) {
  Item& item = items_[At(index)];
  if (!item.open) return;
  const double surplus = ((taken ? 1.0 : 0.0) - item.weight * (expected_ - item.opened_at)) / tau_;
  Score& g = (*gradient)[At(item.row)];
  g.u += static_cast<float>(surplus);
  g.beta -= static_cast<float>(surplus * item.cursor.step().log_mid);
  g.kappa += static_cast<float>(surplus * item.cursor.kappa_sign());
  item.open = false;
  total_ -= item.weight;
}

void SampledFill::Fill(const Observation& o, std::span<const Score> scores, Rng* rng,
                       std::vector<Grant>* grants, std::vector<Score>* gradient) {
  const auto rows = At(o.rows());
  draw_ = rng->NextU64();
  gradient->assign(rows, Score{});
  chosen_.assign(rows, -1);
  rows_.resize(rows);
  std::iota(rows_.begin(), rows_.end(), 0);
  capacity_.Reset(*o.cluster, LeastUnit(o, rows_));
  items_.clear();
  first_item_.clear();
  heap_.clear();
  served_.clear();
  blocked_.clear();
  draws_.clear();
  expected_ = total_ = total_peak_ = 0;
  offset_ = -1e300;
  for (std::int32_t row = 0; row < o.rows(); ++row) {
    first_item_.push_back(static_cast<std::int32_t>(items_.size()));
    for (const GpuTypeIndex type : o.table[At(row)]->types()) {
      items_.push_back({HullCursor(o, row, type), row, type, 0, 0, false});
      offset_ =
          std::max<double>(offset_, items_.back().cursor.Key(scores[At(row)], HullFillOptions{}));
    }
  }
  first_item_.push_back(static_cast<std::int32_t>(items_.size()));
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(items_.size()); ++i)
    Open(i, o, scores, 0.0);

  while (!heap_.empty() && !capacity_.Exhausted()) {
    std::pop_heap(heap_.begin(), heap_.end(), Later<Race, Race>);
    const Race first = heap_.back();
    heap_.pop_back();
    Item& item = items_[At(first.item)];
    if (!item.open || item.cursor.position() != first.position) continue;
    expected_ += 1.0 / Total();
    draws_.push_back({item.row, item.cursor.step().to});
    Close(first.item, true, gradient);
    const ConfigurationTable& table = *o.table[At(item.row)];
    std::int32_t& chosen = chosen_[At(item.row)];
    if (chosen >= 0) capacity_.Return(table[chosen]);
    if (!capacity_.Fits(table[item.cursor.step().to])) {
      if (chosen >= 0) capacity_.Take(table[chosen]);
      blocked_.push_back(item.row);
      continue;
    }
    capacity_.Take(table[item.cursor.step().to]);
    if (chosen < 0) {
      served_.push_back(item.row);
      // The job has chosen its GPU type: it leaves the hulls of the others.
      for (std::int32_t i = first_item_[At(item.row)]; i < first_item_[At(item.row) + 1]; ++i) {
        Close(i, false, gradient);
      }
    }
    chosen = item.cursor.step().to;
    item.cursor.Advance();
    if (!item.cursor.done()) Open(first.item, o, scores, first.time);
  }
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(items_.size()); ++i)
    Close(i, false, gradient);

  // Every job has all it can use: no other order would have given another fill.
  const bool one_type_each = items_.size() == rows;
  if (one_type_each && blocked_.empty() && heap_.empty()) gradient->assign(rows, Score{});

  if (!capacity_.Exhausted()) FillLeftovers(o, rows_, blocked_, &capacity_, &chosen_);
  for (const std::int32_t row : served_) grants->push_back({row, chosen_[At(row)]});
  for (const std::int32_t row : blocked_) {
    const bool granted = std::any_of(grants->begin(), grants->end(),
                                     [row](const Grant& grant) { return grant.row == row; });
    if (!granted && chosen_[At(row)] >= 0) grants->push_back({row, chosen_[At(row)]});
  }
}

}  // namespace allot
