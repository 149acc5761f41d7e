#pragma once
// The daemon's end of the worker protocol (docs/formats/worker_protocol.md): one listening socket
// to which the workers of all jobs connect. For any runtime whose workers can reach the daemon: it
// forwards Announce, Progress and Wait to the hub. One thread. Nothing blocks but Serve; a message
// costs the same whatever the number of connections.
//
// A connection has no rights until it has shown that it knows its job's token, as a worker that was
// expected. Then it can speak for that worker only, in lines that carry codes
// (auth/line_session.h).

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/monotonic.h"
#include "live/runtimes/runtime.h"

namespace allot {

class WorkerHub {
 public:
  // "unix:/path" (made with mode 0600; a dead socket of that name is replaced) or
  // "tcp:127.0.0.1:0". RunError when it cannot listen.
  explicit WorkerHub(const std::string& address, std::function<Seconds()> clock = MonotonicSeconds);
  ~WorkerHub();
  WorkerHub(const WorkerHub&) = delete;
  WorkerHub& operator=(const WorkerHub&) = delete;

  const std::string& address() const;  // for workers, with the port that the system chose

  void AddJob(const std::string& job, const std::string& token);  // again: changes nothing
  void RemoveJob(const std::string& job);                         // closes its connections
  // `has_identity`: its platform gave it a proof of who it is, which is asked for when it joins.
  void Expect(const std::string& job, const std::string& worker, bool has_identity = false);
  void RemoveWorker(const std::string& worker);

  // Called with a number, the worker and its identity when one that has one wants to join. It has
  // no rights until Identified has come with that number: `why` "" lets it in; else its connection
  // is closed without a word, as it may not be the worker, and the true one is to try again.
  using IdentityQuestion = std::function<void(std::uint64_t join, const std::string& worker,
                                              const std::string& identity)>;
  void AskIdentity(IdentityQuestion ask);
  void Identified(std::uint64_t join, const std::string& why);

  // To all workers of the job, and to those that join later. Refused for an earlier epoch than the
  // latest.
  Status Announce(const std::string& job, const Membership& membership);
  void Stop(const std::string& worker);  // says "stop", where it is connected or once it is
  // To all workers of the job, and to those that join later.
  void SetBatch(const std::string& job, const WorkerBatchOrder& batch);
  // The same of the time between two checkpoints.
  void SetCheckpointEvery(const std::string& job, Seconds every);
  std::optional<Seconds> checkpoint_every(const std::string& job) const;  // as it was set
  void Save(const std::string& job);  // says "save" to all of its workers

  // Called with the job before a worker's "finished" is acknowledged: the place to write it down.
  void OnFinished(std::function<void(const std::string&)> listener);

  JobProgress Progress(const std::string& job) const;
  bool finished(const std::string& job) const;
  bool joined(const std::string& worker) const;  // ever
  bool announced(const std::string& job) const;  // an epoch
  bool member(const std::string& worker) const;  // of its job's latest epoch
  // Since it was last heard of, or expected: for as long as all that was said was also read.
  Seconds silent(const std::string& worker) const;

  // Reads and answers until something of importance was said (not mere progress), the time is over,
  // or the user interrupts the program. True when something was said.
  bool Serve(Seconds at_most);
  // From any thread: something may have changed elsewhere, Serve returns soon.
  void Wake();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace allot
