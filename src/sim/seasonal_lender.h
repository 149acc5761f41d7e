#pragma once
// Quantiles of the demand of services some time ahead, from the weeks before a workload: the mean
// by time of week, of the logarithm, and what is left of the present deviation from it, by a
// regression for each horizon. Quantiles are those of past errors, where the season of each week is
// that of the other weeks. The lenders `season` and `level` are this one.

#include <cstddef>
#include <vector>

#include "sim/lender.h"

namespace allot {

class SeasonalLender : public Lender {
 public:
  enum class Deviation {
    kForgotten,  // the season alone
    kDecays,     // by horizon
  };

  // UsageError where less than two weeks are known, or a quantile does not lie between 0 and 1.
  SeasonalLender(const Params& params, const ServiceLoad& load, Deviation deviation);

  static std::vector<ParamSpec> Parameters();

  double NeedToLend(Seconds now, Seconds ahead) const override { return Need(now, ahead, lend_); }
  double NeedToGuarantee(Seconds now, Seconds ahead) const override {
    return Need(now, ahead, cover_);
  }

 private:
  struct Horizon {
    std::size_t steps = 0;
    double kept = 0;             // of the present deviation
    std::vector<double> errors;  // of the logarithm, ascending
  };
  using Margins = std::vector<double>;  // by horizon, of the logarithm

  void Learn(const std::vector<double>& deviations, Deviation deviation);
  Margins MarginsOf(double quantile) const;
  double Season(Seconds time) const;
  double Need(Seconds now, Seconds ahead, const Margins& margins) const;

  const ServiceLoad& load_;
  std::vector<double> season_;  // by step of the week
  std::vector<Horizon> horizons_;
  Margins lend_;
  Margins cover_;
};

}  // namespace allot
