#pragma once
// The files of one run: jobs.csv, timeline.csv, allocations.csv and summary.json
// (docs/formats/results.md). The same inputs give the same bytes; each file appears whole or not at
// all.

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/allocation_note.h"
#include "cluster/job_record.h"
#include "metrics/summary.h"
#include "workload/workload.h"

namespace allot {

// What jobs.csv says of a job beside its record, as the trace has it.
struct TracedJob {
  std::string id{};
  GpuCount gpus = 0;     // that it asks for
  Seconds duration = 0;  // at these
  std::string tenant{};
  std::string user{};
  Outcome outcome = Outcome::kUnreported;
};
std::vector<TracedJob> TracedJobs(const Workload& workload);

// `records` in submit order, `jobs[record.job]` what the trace says of each. `notes`: as RunOutcome
// has them; empty: there is no allocations.csv. summary.json is written last: a directory that has
// one is complete.
void WriteRunDirectory(const std::filesystem::path& directory, const RunSummary& summary,
                       std::span<const JobRecord> records, std::span<const TracedJob> jobs,
                       std::span<const TimelinePoint> timeline,
                       std::span<const AllocationNote> notes = {});

std::string JobsCsv(std::span<const JobRecord> records, std::span<const TracedJob> jobs);
std::string AllocationsCsv(std::span<const AllocationNote> notes, std::span<const TracedJob> jobs);
std::string TimelineCsv(std::span<const TimelinePoint> timeline);

// A policy or workload name as a folder name: characters other than letters, digits and "._=,+:@-"
// become
// '-', and so does a leading dot, so that "hull/alpha=1" or "../x" cannot leave its parent.
std::string FolderName(std::string_view name);

}  // namespace allot
