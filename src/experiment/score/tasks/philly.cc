// Philly with elastic jobs of unknown length.

#include "experiment/score/task_families.h"

namespace allot {
namespace {

ALLOT_REGISTER(ScoreTask,
               ElasticPhillyTask("Philly-v1", "Philly, elastic jobs of unknown length",
                                 "lengths=none", "index:alpha=0.12,beta=0.3,kappa=0.3,gamma=1.25"));

}  // namespace
}  // namespace allot
