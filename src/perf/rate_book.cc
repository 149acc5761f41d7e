#include "perf/rate_book.h"

namespace allot {

RateBook::RateBook(const Catalogue& catalogue) : unknown_(MakePriorModel()) {
  for (const ModelPtr& model : catalogue.models()) {
    // What is measured is GPUs and a rate. On a type without a rate a belief has to begin
    // somewhere.
    if (model->kinds().size() == 1) priors_.Add(RateFit(model).Model());
  }
  priors_.Add(unknown_);
}

const ModelPtr& RateBook::PriorOf(const std::string& model) const {
  for (const ModelPtr& known : priors_.models()) {
    if (known->name() == model) return known;
  }
  return unknown_;
}

RateFit RateBook::Begin(const std::string& model, const std::string& owner) const {
  const auto latest = latest_.find({owner, model});
  return latest != latest_.end() ? latest->second : Prior(model);
}

bool RateBook::Measure(const std::string& model, GpuCount gpus, const std::string& type, Span span,
                       double rate, Seconds seconds, RateFit* fit, const std::string& owner) {
  fit->Measure(gpus, type, rate, seconds, span);
  if (!fit->Moved(kTableMoves)) return false;
  fit->MarkUsed();
  latest_.insert_or_assign({owner, model}, *fit);
  return true;
}

}  // namespace allot
