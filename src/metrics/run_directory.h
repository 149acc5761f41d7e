#pragma once
// The files of one run: jobs.csv, timeline.csv and summary.json (docs/formats/results.md). The same
// inputs give the same bytes; each file appears whole or not at all.

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "cluster/job_record.h"
#include "metrics/summary.h"

namespace allot {

// `records` in submit order, `job_ids[record.job]` the trace's name of each job. summary.json is
// written last: a directory that has one is complete.
void WriteRunDirectory(const std::filesystem::path& directory, const RunSummary& summary,
                       std::span<const JobRecord> records, std::span<const std::string> job_ids,
                       std::span<const TimelinePoint> timeline);

std::string JobsCsv(std::span<const JobRecord> records, std::span<const std::string> job_ids);
std::string TimelineCsv(std::span<const TimelinePoint> timeline);

// A policy or workload name as a folder name: characters other than letters, digits and "._=,+:@-"
// become
// '-', and so does a leading dot, so that "hull/alpha=1" or "../x" cannot leave its parent.
std::string FolderName(std::string_view name);

}  // namespace allot
