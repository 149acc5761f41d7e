#pragma once
// One worker's membership in its job: the connection to the daemon, kept up by a thread of its own.
//
// It joins; receives epochs, requests for checkpoints and the end; and reports progress at least
// once a second. When the daemon dies or falls silent, training continues and the member connects
// again, to the next of its addresses if it has several. A program that listens there without
// knowing the job's token is sent nothing and not obeyed. ElasticWorker and the C interface use
// this class; it knows nothing of groups or tensors. Thread-safe.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "auth/line_session.h"
#include "core/types.h"
#include "elastic/environment.h"
#include "elastic/line_socket.h"
#include "elastic/training_meter.h"
#include "elastic/worker_batch.h"

namespace allot {

struct Epoch {
  std::int64_t number = -1;            // -1 before the first epoch
  std::vector<std::string> members;    // by rank
  std::vector<std::string> addresses;  // of the members

  int rank_of(const std::string& worker) const;  // -1: not a member
};

// The training state that heartbeats report. Unknown values are left out.
struct TrainingProgress {
  std::int64_t step = 0;
  double work = kUnknown;         // done, in the job's unit (samples)
  double rate = kUnknown;         // work per second, pauses left out
  double total_work = kUnknown;   // the whole job
  double noise_scale = kUnknown;  // samples
  double loss = kUnknown;
  BatchRange range{};     // initial is 0 unless the job's batch follows its workers
  WorkerBatch batch{};    // the present one
  WorkerBatch timed{};    // the batch that was measured
  StepSeconds seconds{};  // with `timed`; iteration is 0 before it is measured
};

class Member {
 public:
  // Returns once the daemon has accepted the worker. `address` is given the numeric host at which
  // peers reach this machine, and returns the address to announce to them ("host:port", or "" for
  // none). RunError if the daemon refuses, does not answer, or does not prove that it knows the
  // token within `patience`.
  Member(WorkerEnvironment environment, const std::function<std::string(std::string)>& address,
         std::chrono::milliseconds patience = std::chrono::seconds(60));
  ~Member();
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  const WorkerEnvironment& environment() const { return environment_; }

  Epoch latest() const;
  // Waits for an epoch later than `number`; nullopt if a stop or a refusal comes first.
  std::optional<Epoch> WaitForLater(std::int64_t number) const;
  bool later_than(std::int64_t number) const;

  bool stopping() const;
  std::optional<std::string> refusal() const;  // the daemon's reason, if it refuses this worker
  // From now on SIGTERM, which a cluster sends before it kills, counts as the daemon's "stop".
  static void StopOnSigterm();
  bool TakeSaveWanted();             // true once for all checkpoints requested since the last call
  WorkerBatch batch_wanted() const;  // the daemon's latest choice; local is 0 before the first
  // The daemon's advice how long to train between two checkpoints; unset: it has none.
  std::optional<Seconds> checkpoint_every() const;

  void Reached(std::int64_t epoch, std::int64_t step);
  void Broken(std::int64_t epoch);
  void Report(const TrainingProgress& progress);
  // A checkpoint is on disk, which took so long to write.
  void Saved(std::int64_t step, double work, Seconds seconds);
  // Repeats that the job's work is done until the daemon acknowledges it; false if a stop comes
  // first.
  bool Finish(std::int64_t step, double work);

 private:
  void Serve();
  bool ConnectToAny();
  const std::string& PresentAddress() const { return daemons_[at_]; }
  void LeaveSilentDaemon();
  void Hello();
  void Read(const std::string& line);
  void OnChallenge(const std::string& line);
  void RejectDaemon(const std::string& why);
  void OnMessage(const std::string& text);
  void SendJoin();
  std::string Identity() const;
  void Enqueue(const std::string& line);
  void WakeThread() const;
  std::string ProgressLine() const;

  const WorkerEnvironment environment_;
  const std::vector<std::string> daemons_;  // addresses
  std::size_t at_ = 0;                      // index of the address that was tried last
  std::string address_;
  int wake_ = -1;  // eventfd: there is something to send, or it is over

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::vector<std::string> outbox_;
  Epoch latest_;
  std::int64_t trained_epoch_ = -1;
  std::int64_t broken_epoch_ = -1;
  TrainingProgress progress_;
  std::optional<std::string> finished_;  // the message, repeated on every new connection
  bool welcomed_ = false;
  std::chrono::milliseconds heartbeat_{500};  // between reports of progress; the daemon chooses
  bool acknowledged_ = false;
  bool stop_ = false;
  int saves_wanted_ = 0;
  WorkerBatch batch_wanted_;
  std::optional<Seconds> checkpoint_every_;
  bool over_ = false;
  std::optional<std::string> refusal_;
  std::optional<std::string> rejection_;  // why the last program that listened is not the daemon

  // Used by the thread alone.
  LineSocket socket_;
  std::string nonce_;                   // sent on this connection
  std::optional<LineSession> session_;  // set once the other end has proved to be the daemon
  std::chrono::steady_clock::time_point heard_;  // the daemon's last message
  std::chrono::milliseconds speaks_{
      0};  // the longest pause that the daemon promised; 0: no promise
  std::chrono::steady_clock::time_point answer_due_;
  std::chrono::steady_clock::time_point reconnect_;
  bool warned_ = false;  // of a rejection, since the daemon last accepted this worker
  std::thread thread_;
};

}  // namespace allot
