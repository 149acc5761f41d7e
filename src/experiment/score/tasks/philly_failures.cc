// As PhillyNoisy, with nodes that fail.

#include "experiment/score/task_families.h"

namespace allot {
namespace {

ALLOT_REGISTER(ScoreTask,
               ElasticPhillyTask("PhillyFailures-v1",
                                 "as PhillyNoisy; each node fails about once a week, for two hours",
                                 "lengths=noisy:0.5,failures=exponential:between=7d",
                                 "index:alpha=0,beta=0.15,kappa=0.15,gamma=1.25,rank=0.75"));

}  // namespace
}  // namespace allot
