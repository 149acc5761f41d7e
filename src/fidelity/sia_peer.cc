// Sia (Jayaram Subramanya et al., SOSP'23), the simulator of its artifact: recorded runs played
// again (fidelity/training_replay.h), and single decisions solved again
// (fidelity/sia_decisions.h).

#include "core/error.h"
#include "fidelity/peer.h"
#include "fidelity/sia_decisions.h"
#include "fidelity/sia_values.h"
#include "fidelity/training_replay.h"

namespace allot {
namespace {

std::vector<FidelityCase> SiaCases(const std::string& folder) {
  const TrainingWorld world = ReadTrainingWorld(folder, "sia");
  std::vector<FidelityCase> cases = TrainingReplays(world);
  for (FidelityCase& values : SiaValues(world)) cases.push_back(std::move(values));
  for (FidelityCase& decisions : SiaDecisions(folder)) cases.push_back(std::move(decisions));
  if (cases.empty()) throw DataError("{}: a reference folder holds runs, got none", folder);
  return cases;
}

std::vector<PeerDefect> SiaDefects() {
  return {
      {"restarts in the scheduler's problem take other seconds than those that are played",
       "not rebuilt: the world has the played ones", "estimates of what a change costs"},
      {"the batch that a job may choose in the scheduler's problem is at most its user's, in "
       "training that of the application",
       "rule of the profile (TrainingRules::users_batch); beliefs with any-batch=true do not",
       "large numbers of GPUs look slow: mean JCT 3 % longer on its workloads"},
  };
}

ALLOT_REGISTER(PeerInfo, (PeerInfo{"sia", "Sia (SOSP'23), simulator of its artifact",
                                   "completion of every job equal to the second, of recorded "
                                   "configurations played again; objective of single "
                                   "decisions equal to the gap of its solver, solved again; "
                                   "what it believed at them: the same configurations, two of "
                                   "three values within 5 %",
                                   SiaDefects(), SiaCases}));

}  // namespace
}  // namespace allot
