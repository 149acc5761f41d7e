#pragma once
// Recorded runs of jobs that train applications (Pollux, Sia), played again: every change of a
// job's placement and batch as it was recorded, so that only the world is compared, not who
// decided.
//
//   results/RUN.replay.csv   time, job, epoch, gpu_type, placement, atomic_bsz, accum_steps,
//                            restart_delay_left: the job's new configuration; no placement: none
//   results/RUN.jobs.csv     name, application, submission_time, completion_time, ...

#include <filesystem>
#include <memory>
#include <vector>

#include "fidelity/peer.h"
#include "perf/catalogue.h"
#include "sim/training_rules.h"

namespace allot {

struct TrainingWorld {
  std::filesystem::path folder;  // of the reference
  std::shared_ptr<const Catalogue> applications;
  TrainingRules rules;
  Seconds interval = 60;
};

// The applications, and the rules of a profile. A folder without applications has `shipped`, where
// there are such. DataError where the folder is none.
TrainingWorld ReadTrainingWorld(const std::string& folder, const std::string& profile,
                                const Catalogue* shipped = nullptr);

// A case for each recorded run, in order of their names.
std::vector<FidelityCase> TrainingReplays(const TrainingWorld& world);

}  // namespace allot
