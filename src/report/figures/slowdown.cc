// How much longer jobs take than alone: the distribution of bounded slowdown (Feitelson and
// Rudolph, JSSPP'98), as in summary.json.

#include <algorithm>
#include <cmath>

#include "report/evaluation_runs.h"
#include "report/figure_parts.h"

namespace allot {
namespace {

constexpr double kShortRun = 10;  // seconds, below which a job counts as this long

std::vector<Figure> SlowdownFigures(const FigureSource& source) {
  if (source.evaluation == nullptr) return {};
  const EvaluationRuns& runs = *source.evaluation;
  FigurePanel panel;
  std::vector<double> bounds;
  for (std::size_t r = 0; r < runs.rows.size(); ++r) {
    std::vector<double> slowdown;
    for (const std::vector<RunFigures>& workload : runs.runs) {
      const RunJobs& jobs = workload[r].jobs;
      for (std::size_t i = 0; i < jobs.run_s.size(); ++i) {
        slowdown.push_back(std::isnan(jobs.jct[i])
                               ? kUnknown
                               : std::max(1.0, jobs.jct[i] / std::max(jobs.run_s[i], kShortRun)));
      }
    }
    FigureSeries series = runs.Series(r);
    series.mark = FigureSeries::Mark::kSteps;
    series.points = DistributionSteps(std::move(slowdown), 1, &bounds);
    panel.series.push_back(std::move(series));
  }
  panel.x = {.key = "slowdown", .label = "bounded slowdown"};
  FitLogAxis(&panel.x, bounds, 4);
  panel.y = ShareOfJobsAxis();
  Figure figure{.id = "slowdown",
                .title = "How much waiting and sharing cost",
                .caption =
                    "Bounded slowdown: JCT over the run time at the GPUs that the job asks "
                    "for, of jobs shorter than 10 s over 10 s, at least 1."};
  figure.panels.push_back(std::move(panel));
  return {figure};
}

ALLOT_REGISTER(FigureInfo,
               (FigureInfo{"slowdown", "distribution of bounded slowdown", 30, SlowdownFigures}));

}  // namespace
}  // namespace allot
