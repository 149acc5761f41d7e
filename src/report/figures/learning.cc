// Reinforcement learning: the policy against its teacher, and the step size, by iteration.

#include <cmath>

#include "report/figure_parts.h"
#include "report/training_curves.h"

namespace allot {
namespace {

std::vector<Figure> LearningFigures(const FigureSource& source) {
  if (source.training == nullptr || !source.training->curve) return {};
  const NumberColumns& curve = *source.training->curve;
  FigurePanel ratios = CurvePanel(
      curve, "iteration",
      {{.column = "train_ratio", .name = "training workloads", .colour = 4},
       {.column = "validation_ratio", .name = "validation workloads", .colour = 0, .strong = true}},
      {1.0});
  ratios.y.key = "jct_over_teacher";
  ratios.y.label = "average JCT / teacher's";
  ratios.line = 1;
  ratios.line_label = "teacher";
  FigurePanel rate = CurvePanel(
      curve, "iteration", {{.column = "learning_rate", .name = "learning rate", .colour = 1}}, {});
  rate.y.key = "learning_rate";
  rate.y.label = "learning rate";
  // Before the first iteration no step is made: there is no rate yet.
  for (FigureSeries& series : rate.series) {
    std::erase_if(series.points, [](const FigurePoint& p) { return p.x < 1 && p.y == 0; });
  }
  std::vector<double> rates;
  for (const FigureSeries& series : rate.series) {
    for (const FigurePoint& point : series.points) rates.push_back(point.y);
  }
  FitLogAxis(&rate.y, rates, 20);
  return {Figure{.id = "learning",
                 .title = "Against the teacher",
                 .caption = "Average JCT relative to the teacher's on the same workloads, by "
                            "iteration; below 1 is faster.",
                 .panels = {std::move(ratios)}},
          Figure{.id = "learning_rate",
                 .title = "Learning rate",
                 .caption = "Step size of the optimiser, by iteration.",
                 .panels = {std::move(rate)}}};
}

ALLOT_REGISTER(FigureInfo,
               (FigureInfo{"learning", "a trained policy against its teacher, by iteration", 20,
                           LearningFigures}));

}  // namespace
}  // namespace allot
