// Philly with elastic jobs and noisy estimates of their lengths.

#include "experiment/score/task_families.h"

namespace allot {
namespace {

ALLOT_REGISTER(ScoreTask,
               ElasticPhillyTask("PhillyNoisy-v1",
                                 "Philly, elastic jobs, noisy estimates of lengths",
                                 "lengths=noisy:0.5",
                                 "index:alpha=0,beta=0.15,kappa=0.15,gamma=1.25,rank=0.75"));

}  // namespace
}  // namespace allot
