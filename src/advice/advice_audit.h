#pragma once
// The file of what advice has written: one JSON record a line, append-only. Before each change of a
// Nice an intent is on disk, and after it a record that it was done. So whoever was killed at any
// moment knows of each job which values it may have left, and can restore what was there before.
//
// An intent without its end means that the job has the value before or after. The file lies in a
// folder that one process at a time may write to (core/file_lock.h).

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "advice/advised_queue.h"
#include "advice/json_lines.h"

namespace allot {

struct NiceChange {
  std::string job;  // QueuedJob::id
  std::string user;
  int before = 0;
  int after = 0;
  Seconds submit = 0;  // of the job
  std::string why{};   // for people
};

class AdviceAudit {
 public:
  // What advice has left at a job.
  struct Trace {
    std::string user;
    int original = 0;             // before the first change
    int value = 0;                // of the last change that was done, else `original`
    std::optional<int> intended;  // of one that began after it
    Seconds submit = 0;

    bool MayHaveLeft(int nice) const { return nice == value || nice == intended; }
  };

  // Reads what is there; nothing where there is no file. A last line that was cut off is no record.
  // DataError with file and line for any other line that is none.
  explicit AdviceAudit(std::filesystem::path path);

  // Jobs that may have another Nice than before, by id.
  const std::map<std::string, Trace>& traces() const { return traces_; }
  // Forgets traces of jobs that are over, so that a later job with such a number is another one.
  void ForgetAllBut(const std::map<std::string, JobNow>& jobs);
  // Changes that began after this Unix time, at most an hour ago.
  int ChangesSince(Seconds time) const;

  // On disk when it returns. RunError when the file cannot be written: then nothing may be changed.
  void Intend(const NiceChange& change, Seconds now);
  void Done(const NiceChange& change, Seconds now);

 private:
  void Apply(bool done, const NiceChange& change, Seconds time);
  void Append(const char* step, const NiceChange& change, Seconds now);

  std::map<std::string, Trace> traces_;
  std::vector<Seconds> began_;
  JsonLines file_;  // is read into the others
};

}  // namespace allot
