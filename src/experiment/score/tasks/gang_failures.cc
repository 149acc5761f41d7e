// Gangs of which nodes fail, and which go on with what is left.

#include "experiment/score/task_families.h"

namespace allot {
namespace {

ALLOT_REGISTER(
    ScoreTask,
    GangTask("GangFailures-v2",
             "elastic gangs; each node fails about once in seven weeks, and hot jobs go on",
             "failures:mode=hot", true));

}  // namespace
}  // namespace allot
