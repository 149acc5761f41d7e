#pragma once
// Collects the jobs that a format reads, record by record: counts records, checks each job's rules
// and the uniqueness of ids with the record's line at hand, and in lenient mode drops what is
// malformed. Used by the *_format.cc files only.

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workload/job_ids.h"
#include "workload/past_lengths.h"
#include "workload/trace_reader.h"

namespace allot {

// Reasons that several formats share.
inline constexpr std::string_view kNoGpus = "no GPU requested";
inline constexpr std::string_view kNeverStarted = "never started";
inline constexpr std::string_view kNotEnded = "had not ended when the trace did";
inline constexpr std::string_view kNoRunTime = "run time is 0 s";
inline constexpr std::string_view kStartBeforeSubmit =
    "started before it was submitted: its wait counts as 0";

class TraceBuilder {
 public:
  TraceBuilder(std::string path, const ReadOptions& options, ReadReport* report);

  // Makes room for a job a line of this text, so that adding them moves none. Memory that is not
  // used is not taken.
  void ExpectLines(std::string_view text);

  // Reads one record that begins on `line`. `read` returns the job, or nullopt after it called
  // Drop; a RowError from it or from the checks ends the read, or in lenient mode is counted by its
  // rule.
  void Record(int line, const std::function<std::optional<Job>()>& read);

  // For formats whose jobs span several records: counts the record at `line`, whose `read` puts it
  // aside ...
  void Part(int line, const std::function<void()>& read);
  // ... and makes the job when all are known; `line` is that of its first record.
  void Whole(int line, const std::function<std::optional<Job>()>& read);

  // Records from now on are of this file: of formats that come as several.
  void File(std::string path) { path_ = std::move(path); }

  // For records beside those of jobs: counted only where they are malformed, and so dropped.
  void Note(int line, const std::function<void()>& read);

  // Counts the present record as well-formed but not usable, with the GPU time that it held.
  std::nullopt_t Drop(std::string_view reason, double gpu_seconds = 0);
  // Drops the present record as kNotEnded. It counts as holding its GPUs from `start` until the
  // last moment that the other records name.
  std::nullopt_t DropNotEnded(Seconds start, double gpus);
  // Counts the present record, if it becomes a job, as not used exactly as it stands in the trace.
  void Adjust(std::string_view reason);
  // How long the present record waited; a start before the submission is counted as an adjustment.
  Seconds WaitFrom(Seconds submit, Seconds start);

  // An event at `time` shows that the record was made then or later. Only needed for traces in
  // which jobs have not ended, and not for the ends of jobs and the ages of running ones.
  void Saw(Seconds time) { last_seen_ = std::max(last_seen_, time); }

  Workload& workload() { return workload_; }  // for its name tables
  ReadReport& report() { return *report_; }
  std::string place() const;  // of the present record, "path:line"
  std::string RowId() const;  // number of the present record, from 0

  // The jobs in submit order. As its duration a running job brings how long it has lasted (0: since
  // its start), a pending one 0; both are drawn here. The second form takes submit times and
  // deadlines as seconds since 1970 and counts them from the first job, whose calendar time becomes
  // the origin.
  Workload Finish();
  Workload FinishCalendar();

 private:
  void Guard(int line, const std::function<void()>& read);
  void Add(Job job);
  void NoteVeryLongJobs() const;
  void FindRecordTimes();
  void DrawUnfinished();  // their lengths
  void CountNotEnded();   // their GPU time

  std::string path_;
  ReadOptions options_;
  ReadReport* report_;
  Workload workload_;
  int line_ = 0;
  std::vector<std::string> adjustments_;  // of the present record
  JobIds ids_;
  std::vector<UnfinishedJob> unfinished_;
  std::vector<std::pair<Seconds, double>> not_ended_;  // dropped: start, GPUs
  Seconds last_seen_ = -kNever;
};

}  // namespace allot
