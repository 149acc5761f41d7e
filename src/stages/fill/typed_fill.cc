#include "stages/fill/typed_fill.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/index.h"

namespace allot {
namespace {

constexpr double kLeastExponent = -600;  // so that all worth stays above 0

// Keys that are not finite are as good as very large or small ones.
double Moderate(double key) { return std::isnan(key) ? -1e9 : std::clamp(key, -1e9, 1e9); }

}  // namespace

void WeighForTypes(const Observation& o, const TypeQuestion& asked, std::span<const Score> scores,
                   TableFacts* facts, std::vector<double>* weights) {
  weights->resize(asked.order.size());
  double most = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < asked.order.size(); ++i) {
    const double speed = facts->At(i, asked.sizes[i]).log_speed;
    const Score& score = scores[i];
    const double kappa = o.running[At(asked.order[i])] >= 0 ? score.kappa : -score.kappa;
    (*weights)[i] = Moderate(score.u + (1 - score.beta) * speed + kappa);
    most = std::max(most, (*weights)[i]);
  }
  for (double& weight : *weights) weight = std::exp(std::max(kLeastExponent, weight - most));
}

TypedFill::TypedFill(HullFillOptions options, std::string_view types)
    : fill_(std::move(options)), types_(MakeStage<TypeAssignment>("types", types)) {}

void TypedFill::Fill(const Observation& o, std::span<const std::int32_t> rows,
                     std::span<const Score> scores, std::vector<Grant>* grants,
                     std::vector<FillStep>* trace) {
  pairs_.Clear();
  if (types_->AppliesTo(*o.cluster)) {
    FillTyped(o, rows, scores, grants, trace);
  } else {
    fill_.Fill(o, rows, scores, grants, trace);
  }
}

void TypedFill::FillTyped(const Observation& o, std::span<const std::int32_t> rows,
                          std::span<const Score> scores, std::vector<Grant>* grants,
                          std::vector<FillStep>* trace) {
  places_.resize(rows.size());
  std::iota(places_.begin(), places_.end(), 0);
  const auto before = [&](std::int32_t a, std::int32_t b) {
    const std::size_t i = At(rows[At(a)]);
    const std::size_t j = At(rows[At(b)]);
    return o.submit[i] != o.submit[j] ? o.submit[i] < o.submit[j] : o.job[i] < o.job[j];
  };
  if (!std::is_sorted(places_.begin(), places_.end(), before)) {
    std::sort(places_.begin(), places_.end(), before);
  }
  order_.clear();
  ordered_scores_.clear();
  sizes_.clear();
  bool one_size = true;
  for (const std::int32_t index : places_) {
    const std::int32_t row = rows[At(index)];
    order_.push_back(row);
    ordered_scores_.push_back(scores[At(index)]);
  }
  facts_.Read(o, order_);
  for (std::size_t i = 0; i < order_.size(); ++i) {
    sizes_.push_back(facts_.smallest(i));
    one_size = one_size && facts_.one_size(i);
  }
  granted_.clear();
  if (!one_size) {
    free_choice_.clear();
    fill_.Fill(o, rows, scores, &free_choice_);
    size_of_.assign(o.job.size(), -1);
    for (const Grant& grant : free_choice_) size_of_[At(grant.row)] = grant.configuration;
    granted_.assign(order_.size(), 0);
    for (std::size_t i = 0; i < order_.size(); ++i) {
      if (size_of_[At(order_[i])] < 0) continue;
      sizes_[i] = size_of_[At(order_[i])];
      granted_[i] = 1;
    }
  }
  TypeQuestion question;
  question.order = order_;
  const auto weigh = [this, &o](TypeQuestion* asked) {
    WeighForTypes(o, *asked, ordered_scores_, &facts_, &weights_);
    asked->weights = weights_;
  };
  sized_.Assign(types_.get(), o, question, granted_, &sizes_, weigh, &assigned_);
  given_.assign(assigned_.empty() ? 0 : rows.size(), kNoType);
  for (std::size_t i = 0; i < assigned_.size(); ++i) given_[At(places_[i])] = assigned_[i];
  pairs_.Read(o, order_, sizes_, assigned_, types_->partners());
  if (pairs_.empty()) {
    fill_.Fill(o, rows, scores, grants, trace, given_);
    return;
  }
  first_rows_.clear();
  first_scores_.clear();
  first_types_.clear();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (pairs_.IsSecond(rows[i])) continue;
    first_rows_.push_back(rows[i]);
    first_scores_.push_back(scores[i]);
    first_types_.push_back(given_[i]);
  }
  fill_.Fill(o, first_rows_, first_scores_, grants, trace, first_types_);
}

}  // namespace allot
