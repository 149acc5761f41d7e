#include "stages/fill/typed_sizing.h"

#include <algorithm>

#include "core/index.h"

namespace allot {

void TypedSizing::Size(const Observation& o, TypeQuestion question, std::span<const double> keys,
                       std::vector<Grant>* grants) {
  const std::span<const std::int32_t> order = question.order;
  const auto requested = [&](std::int32_t row) { return o.requested[At(row)]; };
  sizes_.resize(order.size());
  std::transform(order.begin(), order.end(), sizes_.begin(), requested);
  const auto one_size = [&](std::int32_t row) { return HasOneSize(*o.table[At(row)]); };
  const bool asked_freely =
      !sizing_->as_requested() && !std::all_of(order.begin(), order.end(), one_size);
  sizing_->GiveTypes({});
  granted_.clear();
  if (asked_freely) {
    granted_.assign(order.size(), 0);
    free_choice_.clear();
    sizing_->Size(o, order, keys, &free_choice_);
    place_of_.assign(o.job.size(), -1);
    for (std::size_t i = 0; i < order.size(); ++i) {
      place_of_[At(order[i])] = static_cast<std::int32_t>(i);
      sizes_[i] = SmallestSize(*o.table[At(order[i])]);
    }
    for (const Grant& grant : free_choice_) {
      const std::int32_t place = place_of_[At(grant.row)];
      sizes_[At(place)] = grant.configuration;
      granted_[At(place)] = 1;
    }
  }
  const auto weigh = [&](TypeQuestion* asked) {
    weights_.clear();
    sizing_->Weigh(o, *asked, keys, &weights_);
    asked->weights = weights_;
  };
  sized_.Assign(types_, o, question, granted_, &sizes_, weigh, &given_);
  pairs_.Read(o, order, sizes_, given_, types_->partners());
  if (given_.empty() && asked_freely) {
    grants->insert(grants->end(), free_choice_.begin(), free_choice_.end());
    return;
  }
  if (given_.empty()) {
    sizing_->Size(o, order, keys, grants);
    return;
  }
  order_.clear();
  keys_.clear();
  ordered_types_.clear();
  for (const bool waits : {false, true}) {
    for (std::size_t i = 0; i < order.size(); ++i) {
      if ((given_[i] == kNoType) != waits || pairs_.IsSecond(order[i])) continue;
      order_.push_back(order[i]);
      keys_.push_back(keys[i]);
      ordered_types_.push_back(given_[i]);
    }
  }
  sizing_->GiveTypes(ordered_types_);
  sizing_->Size(o, order_, keys_, grants);
  sizing_->GiveTypes({});
}

}  // namespace allot
