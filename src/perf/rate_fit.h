#pragma once
// The throughput model of one job as it is believed: the prior (its profile of the catalogue, or
// the documented one for unknown models) corrected by what was measured while it ran. One fit a
// job, from RateBook (perf/rate_book.h); the same for live jobs and for simulated beliefs.
//
// rate(n, type) = prior(n, type) x ratio, the prior being that of the unnamed type where it does
// not know the type. A number of GPUs that the prior has no rate for on a type that it knows keeps
// rate 0: it is below the floor of a model that does not fit there. The ratio at a measured (type,
// n) is measured / prior; between two measured counts of a type it is interpolated in ln n, beyond
// them it is that of the nearest; a type without measurements takes the geometric mean of the other
// types' nearest. So the first measurement also fixes the unit of the prior, and the shape of the
// prior fills what was never tried. Spans of a type are measured apart: a number of nodes has the
// narrowest span that holds it, or the mean of all where none does.

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "perf/throughput_model.h"

namespace allot {

// Of a model that the catalogue does not have: one unit a second on one GPU of any type, n^0.8 on n
// of them.
ModelPtr MakePriorModel();
inline constexpr double kPriorExponent = 0.8;

class RateFit {
 public:
  explicit RateFit(ModelPtr prior) : prior_(std::move(prior)) {}

  // A rate that was measured over `seconds` of undisturbed work. Newer measurements count more: the
  // memory of a (type, span, count) is kMemory seconds. `span`: of the configuration that ran.
  void Measure(GpuCount gpus, const std::string& type, double rate, Seconds seconds,
               Span span = {});

  double Rate(GpuCount gpus, const std::string& type, Span span = {}) const;
  // Stands on another prior; what was measured stays.
  void Rebase(ModelPtr prior) { prior_ = std::move(prior); }
  // The measured count of the type, in spans that hold as many nodes as `span` at least, that is
  // nearest by ratio (of two, the smaller); 0: none.
  GpuCount Nearest(GpuCount gpus, const std::string& type, Span span = {}) const;
  double Rate(const RunShape& shape, const TrainingState& state) const;
  const ThroughputModel& prior() const { return *prior_; }
  bool measured() const { return !points_.empty(); }

  // The model as it stands, on its own from then on.
  ModelPtr Model() const;

  // Whether Model() would now differ from what it was at the last call by more than `share`
  // somewhere that was measured.
  bool Moved(double share) const;
  void MarkUsed();

  static constexpr Seconds kMemory = 60;

  // One of the counts that were measured.
  struct Point {
    double log_rate = 0;
    Seconds weight = 0;
    double used = 0;  // log_rate at the last MarkUsed; NaN: none
  };
  struct PlacedPoint {
    std::string type;
    Span span;
    GpuCount gpus = 0;
    Point point;
  };
  // For who writes a fit down: PutPoint of all of them, in this order, makes the same fit.
  std::vector<PlacedPoint> Points() const;
  void PutPoint(const PlacedPoint& point);
  // The fit that Model() was last made from, as far as later measurements have not added to it.
  RateFit AsUsed() const;

 private:
  struct SpanPoints {
    Span span;
    std::map<GpuCount, Point> counts;
  };
  using Spans = std::vector<SpanPoints>;  // in the order in which they were first measured

  // ln of measured / prior on this shape; the prior at a measured count is that on nodes alike, and
  // where it has no rate there the ratio is 1.
  double LogRatio(const RunShape& shape, const Spans& spans) const;
  double LogRatio(const RunShape& shape, const SpanPoints& points) const;
  SpanPoints& Of(const std::string& type, Span span);

  double PriorRate(const RunShape& shape, const TrainingState& state) const;

  ModelPtr prior_;
  std::map<std::string, Spans> points_;  // by type
};

}  // namespace allot
