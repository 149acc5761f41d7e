// How long jobs take: the distribution of JCT.

#include "report/evaluation_runs.h"
#include "report/figure_parts.h"

namespace allot {
namespace {

std::vector<Figure> CdfFigures(const FigureSource& source) {
  if (source.evaluation == nullptr) return {};
  const EvaluationRuns& runs = *source.evaluation;
  FigurePanel panel;
  std::vector<double> bounds;
  for (std::size_t r = 0; r < runs.rows.size(); ++r) {
    std::vector<double> jct;
    for (const std::vector<RunFigures>& workload : runs.runs) {
      jct.insert(jct.end(), workload[r].jobs.jct.begin(), workload[r].jobs.jct.end());
    }
    FigureSeries series = runs.Series(r);
    series.mark = FigureSeries::Mark::kSteps;
    series.points = DistributionSteps(std::move(jct), 0.1, &bounds);
    panel.series.push_back(std::move(series));
  }
  panel.x = {.key = "jct_s", .label = "job completion time", .unit = AxisUnit::kSeconds};
  FitLogAxis(&panel.x, bounds);
  panel.y = ShareOfJobsAxis();
  Figure figure{.id = "cdf",
                .title = "How long jobs take",
                .caption =
                    "Share of jobs completed within a time, all workloads pooled. Jobs that "
                    "did not end keep a curve below 100 %."};
  figure.panels.push_back(std::move(panel));
  return {figure};
}

ALLOT_REGISTER(FigureInfo,
               (FigureInfo{"cdf", "distribution of job completion times", 20, CdfFigures}));

}  // namespace
}  // namespace allot
