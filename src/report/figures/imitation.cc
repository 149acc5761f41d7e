// Imitation: loss and agreement with the teacher, by epoch.

#include "report/figure_parts.h"
#include "report/training_curves.h"

namespace allot {
namespace {

std::vector<Figure> ImitationFigures(const FigureSource& source) {
  if (source.training == nullptr || !source.training->pretrain) return {};
  const NumberColumns& pretrain = *source.training->pretrain;
  FigurePanel loss = CurvePanel(
      pretrain, "epoch",
      {{.column = "loss", .name = "training decisions", .colour = 4},
       {.column = "held_out_loss", .name = "held-out decisions", .colour = 0, .strong = true}},
      {});
  loss.y.key = loss.y.label = "loss";
  FigurePanel agreement = CurvePanel(
      pretrain, "epoch", {{.column = "agreement", .name = "agreement", .colour = 0}}, {});
  agreement.y.key = agreement.y.label = "agreement";
  agreement.y.unit = AxisUnit::kShare;
  return {Figure{.id = "loss",
                 .title = "Imitation loss",
                 .caption = "Of the teacher's decisions, by epoch.",
                 .panels = {std::move(loss)}},
          Figure{.id = "agreement",
                 .title = "Agreement with the teacher",
                 .caption = "Share of the GPUs of held-out contended decisions given to the same "
                            "jobs, by epoch.",
                 .panels = {std::move(agreement)}}};
}

ALLOT_REGISTER(FigureInfo, (FigureInfo{"imitation", "loss and agreement with the teacher, by epoch",
                                       10, ImitationFigures}));

}  // namespace
}  // namespace allot
