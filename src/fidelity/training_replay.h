#pragma once
// Recorded runs of jobs that train applications (Pollux, Sia), played again: every change of a
// job's placement and batch as it was recorded, so that only the world is compared, not who
// decided.
//
//   results/RUN.replay.csv   time, job, epoch, gpu_type, placement, atomic_bsz, accum_steps,
//                            restart_delay_left: the job's new configuration; no placement: none
//   results/RUN.jobs.csv     name, application, submission_time, completion_time, ...

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fidelity/peer.h"
#include "perf/catalogue.h"
#include "sim/training_run.h"

namespace allot {

struct TrainingWorld {
  std::filesystem::path folder;  // of the reference
  std::shared_ptr<const Catalogue> applications;
  TrainingRules rules;
  Seconds interval = 60;
};

// A job's configuration from a time on.
struct RecordedChange {
  Seconds time = 0;
  std::string gpu_type;
  std::vector<UnitCounts> nodes;
  BatchChoice batch;
  Seconds restart = 0;  // left of it
};
// By job, in order of time. DataError naming file and line.
using RecordedChanges = std::map<std::string, std::vector<RecordedChange>, std::less<>>;
RecordedChanges ReadRecordedChanges(const std::string& path);

// Plays a job; when it is done, kNever where it is not. `decide`, if given, is called at each
// decision before what changes by it, `measure` with what the job measures of itself.
Seconds PlayRecorded(const TrainingWorld& world, const ApplicationModel& model,
                     const std::vector<RecordedChange>& changes,
                     const std::function<void(Seconds)>& decide = nullptr,
                     const TrainingRun::Meter& measure = nullptr);

// The applications, and the rules of a profile. A folder without applications has `shipped`, where
// there are such. DataError where the folder is none.
TrainingWorld ReadTrainingWorld(const std::string& folder, const std::string& profile,
                                const Catalogue* shipped = nullptr);

// A case for each recorded run, in order of their names.
std::vector<FidelityCase> TrainingReplays(const TrainingWorld& world);

}  // namespace allot
