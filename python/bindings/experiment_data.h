#pragma once
// What an experiment leaves behind for Python: the evaluation and what became of every job.

#include <string>
#include <vector>

#include "cluster/job_record.h"
#include "metrics/evaluation.h"
#include "metrics/run_directory.h"

namespace allot {

struct ExperimentData {
  struct Run {
    std::vector<JobRecord> records;
    std::vector<TimelinePoint> timeline;
    std::vector<AllocationNote> notes;
  };
  struct Names {  // of the jobs of a workload
    std::vector<TracedJob> jobs;
    std::vector<std::string> groups;
  };

  Evaluation evaluation;
  std::string note;                    // what reading left out, and overload; "": nothing
  std::vector<std::vector<Run>> runs;  // by policy, by workload
  std::vector<Names> names;            // by workload

  // evaluation.json and the run folders, as 'allot compare --out' writes them.
  void Save(const std::string& folder) const;
};

}  // namespace allot
