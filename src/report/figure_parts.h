#pragma once
// Parts that several figures have: steps of a distribution, curves over iterations.

#include <string>
#include <vector>

#include "metrics/csv.h"
#include "report/figure.h"

namespace allot {

// Share of `values` up to each value: every step of up to 200 known ones, beyond that 200
// quantiles. Unknown values count, but are never reached. Values below `least` are drawn there; the
// first and last go to `bounds`.
std::vector<FigurePoint> DistributionSteps(std::vector<double> values, double least,
                                           std::vector<double>* bounds);

// The axis of such steps.
FigureAxis ShareOfJobsAxis();

struct CurveColumn {
  std::string column;
  std::string name;
  int colour = 0;
  bool strong = false;
};

// Columns of a table against `x_name`, thinned to 400 points; both axes fit what is shown and
// `also`. Unknown values are left out; columns that are not there, too.
FigurePanel CurvePanel(const NumberColumns& table, const std::string& x_name,
                       const std::vector<CurveColumn>& columns, const std::vector<double>& also);

}  // namespace allot
