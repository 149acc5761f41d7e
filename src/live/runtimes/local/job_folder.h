#pragma once
// The folder of a local job. All that is known of the job and its workers lies in it, so that a
// later daemon finds them as they are:
//
//   job.json, token, source, state   the request, the secret, its origin, its end
//   arrived                          its time of submission came
//   workers/<worker>.json            the process; .exit: its end, .stopped: it was asked to stop,
//                                    .ended: the former .json, once its end was reported
//   run/                             ALLOT_RUN_DIR
//   log/<worker>.log
//
// Every call reads or writes, and throws where the system refuses.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "live/runtimes/local/job_file.h"
#include "live/runtimes/local/process.h"
#include "live/runtimes/runtime.h"

namespace allot {

struct LocalWorkerRecord {
  ProcessId process;
  std::string node;
  std::uint64_t gpus = 0;
  bool stopped = false;  // by the daemon
};

class LocalJobFolder {
 public:
  LocalJobFolder() = default;
  explicit LocalJobFolder(std::filesystem::path path) : path_(std::move(path)) {}

  // A daemon that dies meanwhile leaves an incomplete one.
  void Create(const LocalJob& job, const std::string& token, const std::string& source) const;
  bool complete() const;
  // Of a complete one. The job is over if its end was written.
  LocalJob ReadJob() const;
  std::string ReadToken() const;
  std::string ReadSource() const;
  void WriteEnd(JobState state, const std::string& reason) const;
  void MarkArrived() const;
  bool arrived() const;

  // Before its process begins.
  void WriteWorker(const std::string& worker, const LocalWorkerRecord& record) const;
  void MarkStopped(const std::string& worker) const;
  // Its end was shown: its files stay for people, and tell a later daemon nothing.
  void Retire(const std::string& worker) const;
  std::map<std::string, LocalWorkerRecord> ReadWorkers() const;

  std::filesystem::path run() const { return path_ / "run"; }
  std::filesystem::path log(const std::string& worker) const;
  std::filesystem::path exit_file(const std::string& worker) const;

 private:
  std::filesystem::path OfWorker(const std::string& worker, const char* extension) const;

  std::filesystem::path path_;
};

}  // namespace allot
