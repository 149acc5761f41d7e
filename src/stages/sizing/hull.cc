// The hull fill as a sizing stage: any ordering becomes elastic by weighting its keys.
// u = -alpha ln(1 + key / interval): keys are seconds (of age, remaining time or service), small
// first.

#include <algorithm>
#include <cmath>
#include <utility>

#include "stages/fill/hull_fill.h"
#include "stages/fill/typed_fill.h"

namespace allot {
namespace {

class HullSizing : public Sizing {
 public:
  HullSizing(double alpha, Score shape, HullFillOptions options)
      : alpha_(alpha), shape_(shape), fill_(std::move(options)) {}

  bool takes_types() const override { return true; }

  void Weigh(const Observation& o, const TypeQuestion& asked, std::span<const double> keys,
             std::vector<double>* weights) override {
    SetScores(o, keys);
    facts_.Read(o, asked.order);
    WeighForTypes(o, asked, scores_, &facts_, weights);
  }

  void Size(const Observation& o, std::span<const std::int32_t> order, std::span<const double> keys,
            std::vector<Grant>* grants) override {
    SetScores(o, keys);
    fill_.Fill(o, order, scores_, grants, nullptr, given_types());
  }

 private:
  void SetScores(const Observation& o, std::span<const double> keys) {
    scores_.clear();
    for (const double key : keys) {
      Score score = shape_;
      const double bounded = std::isfinite(key) ? std::max(0.0, key) : 1e12;
      score.u = static_cast<float>(-alpha_ * std::log1p(bounded / o.interval));
      scores_.push_back(score);
    }
  }

  double alpha_;
  Score shape_;
  HullFill fill_;
  std::vector<Score> scores_;
  TableFacts facts_;
};

ALLOT_REGISTER(
    SizingInfo, ([] {
      SizingInfo info;
      info.id = "hull";
      info.summary =
          "greedy fill of the concave hulls of (cost, rate), weighted by the ordering's key";
      info.time_driven = true;
      info.params = {
          {"alpha", "0.25", "weight of the ordering's key", 0, 100},
          {"beta", "0.3", "fairness: 0 throughput, 1 proportional, large max-min", 0, 100},
          {"kappa", "0.3", "stickiness to the present size", 0, 100},
          {"first-bonus", "0", "added to the key of each job's first step", 0, 1000}};
      info.make = [](const Params& params) {
        Score shape;
        shape.beta = static_cast<float>(params.Number("beta"));
        shape.kappa = static_cast<float>(params.Number("kappa"));
        HullFillOptions options;
        options.first_bonus = static_cast<float>(params.Number("first-bonus"));
        return std::make_unique<HullSizing>(params.Number("alpha"), shape, options);
      };
      return info;
    }()));

}  // namespace
}  // namespace allot
