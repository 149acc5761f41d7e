#pragma once
// Collects the jobs that a format reads, record by record: counts records, checks each job's rules
// and the uniqueness of ids with the record's line at hand, and in lenient mode drops what is
// malformed. Used by the *_format.cc files only.

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

#include "workload/trace_reader.h"

namespace allot {

class TraceBuilder {
 public:
  TraceBuilder(std::string path, const ReadOptions& options, ReadReport* report);

  // Reads one record that begins on `line`. `read` returns the job, or nullopt after it called
  // Drop; a RowError from it or from the checks ends the read, or in lenient mode is counted by its
  // rule.
  void Record(int line, const std::function<std::optional<Job>()>& read);

  // Counts the present record as well-formed but not usable.
  std::nullopt_t Drop(std::string_view reason);

  Workload& workload() { return workload_; }  // for its name tables
  std::string place() const;                  // of the present record, "path:line"

  // The jobs in submit order. The second form takes submit times as seconds since 1970 and counts
  // them from the first job, whose calendar time becomes the origin.
  Workload Finish();
  Workload FinishCalendar();

 private:
  void Add(Job job);

  std::string path_;
  ReadOptions options_;
  ReadReport* report_;
  Workload workload_;
  int line_ = 0;
  std::unordered_map<std::string, int> line_of_id_;
};

}  // namespace allot
