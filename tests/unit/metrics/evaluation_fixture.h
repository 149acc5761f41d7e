#pragma once
// A small evaluation for the tests of this folder: 2 workloads, learned twice as fast as fifo on
// the first and four times on the second; srtf is an oracle that is slightly faster still.

#include <filesystem>
#include <string>
#include <vector>

#include "metrics/evaluation.h"
#include "metrics/run_directory.h"

namespace allot::testing_support {

inline RunSummary RunOf(const std::string& policy, double avg_jct) {
  RunSummary run;
  run.policy = policy;
  run.jobs = 10;
  run.avg_jct_s = avg_jct;
  run.p50_jct_s = avg_jct / 2;
  run.p95_jct_s = avg_jct * 3;
  run.p99_jct_s = avg_jct * 5;
  run.makespan_s = 4000;
  run.gpu_utilisation = 0.5;
  run.decisions = 20;
  run.decision_us_p50 = 10;
  run.decision_us_p99 = 200;
  run.gpus = 8;
  run.restarts = 5;
  return run;
}

inline Evaluation SmallEvaluation() {
  Evaluation evaluation;
  evaluation.title = "Unseen weeks";
  evaluation.training_overlap = TrainingOverlap::kUnseen;
  evaluation.command = "allot evaluate --out eval";
  evaluation.cluster = "2x4";
  evaluation.length_estimates = "noisy:0.5";
  evaluation.restart_cost_s = 30;
  evaluation.interval_s = 300;
  evaluation.reference = "learned";
  evaluation.workloads = {{"week-1", 10, 0.9, 1}, {"week-2", 10, 1.1, 2}};
  evaluation.policies = {
      {.id = "fifo", .label = "fifo", .runs = {RunOf("fifo", 1000), RunOf("fifo", 2000)}},
      {.id = "learned", .label = "learned", .runs = {RunOf("learned", 500), RunOf("learned", 500)}},
      {.id = "srtf",
       .label = "srtf",
       .oracle = true,
       .runs = {RunOf("srtf", 400), RunOf("srtf", 450)}}};
  return evaluation;
}

// Writes evaluation.json and all run directories, made-up records included.
inline void WriteSmallEvaluation(const std::filesystem::path& directory,
                                 const Evaluation& evaluation) {
  WriteEvaluation(directory, evaluation);
  std::vector<JobRecord> records;
  std::vector<TracedJob> jobs;
  std::vector<AllocationNote> notes;
  for (JobIndex i = 0; i < 10; ++i) {
    records.push_back(
        {.job = i, .submit = 10.0 * i, .first_start = 20.0 * i, .finish = 100.0 * i + 200});
    jobs.push_back({"job" + std::to_string(i), 1 + i % 4, 100.0 + i, i < 7 ? "vc1" : "vc2", ""});
    notes.push_back({20.0 * i, i, {{i % 2, 1 + i % 4}}});
  }
  std::vector<TimelinePoint> timeline;
  timeline.reserve(1000);
  for (int i = 0; i < 1000; ++i) {
    timeline.push_back({.time = 1.0 * i, .active = 10 - i / 100, .running = 1, .gpus_used = i % 8});
  }
  for (const EvaluatedWorkload& workload : evaluation.workloads) {
    for (const EvaluatedPolicy& policy : evaluation.policies) {
      WriteRunDirectory(directory / FolderName(workload.name) / FolderName(policy.id),
                        policy.runs.front(), records, jobs, timeline, notes);
    }
  }
}

}  // namespace allot::testing_support
