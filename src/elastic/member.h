#pragma once
// One worker's membership in its job: the connection to the daemon, kept up by a thread of its own.
//
// Joins; receives epochs, requests for checkpoints and the end; reports progress at least once a
// second. When the daemon dies or falls silent, training continues and the member connects again,
// to the next of its addresses where it has several. Whoever listens there without knowing the
// job's token counts as nobody: it is told nothing, and not obeyed. ElasticWorker and the C
// interface stand on it; it knows nothing of groups or tensors. Thread-safe.

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
  std::int64_t number = -1;            // -1: none yet
  std::vector<std::string> members;    // by rank
  std::vector<std::string> addresses;  // of the members

  int rank_of(const std::string& worker) const;  // -1: not a member
};

// How training goes. What is unknown is not said.
struct TrainingProgress {
  std::int64_t step = 0;
  double work = kUnknown;         // done, in the job's unit (samples)
  double rate = kUnknown;         // work per second, pauses left out
  double total_work = kUnknown;   // of the whole job
  double noise_scale = kUnknown;  // of the gradient
  double loss = kUnknown;
  // Of a job whose batch follows its workers; initial 0: of another one.
  BatchRange range{};
  WorkerBatch batch{};    // that it trains with
  StepSeconds seconds{};  // of `timed`; iteration 0: not measured
  WorkerBatch timed{};
};

class Member {
 public:
  // Returns once the daemon has welcomed us. `address` makes, of the numeric host by which others
  // reach this machine, what they are told ("host:port"; may return ""). RunError when the daemon
  // refuses, or does not answer, or does not show that it knows the token, for `patience`.
  Member(WorkerEnvironment environment, const std::function<std::string(std::string)>& address,
         std::chrono::milliseconds patience = std::chrono::seconds(60));
  ~Member();
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  const WorkerEnvironment& environment() const { return environment_; }

  Epoch latest() const;
  // Waits for an epoch later than `number`; nullopt when told to stop first, or refused.
  std::optional<Epoch> WaitForLater(std::int64_t number) const;
  bool later_than(std::int64_t number) const;

  bool stopping() const;
  std::string refused() const;  // why the daemon will not have us; "" while it does
  // From now on SIGTERM, which a cluster sends before it kills, counts as the daemon's "stop".
  static void StopOnSigterm();
  bool TakeSaveWanted();             // true once for each requested checkpoint
  WorkerBatch batch_wanted() const;  // the daemon's latest choice; local 0: none yet

  void Reached(std::int64_t epoch, std::int64_t step);
  void Broken(std::int64_t epoch);
  void Report(const TrainingProgress& progress);
  void Saved(std::int64_t step, double work);
  // Says that the job's work is done until the daemon has acknowledged it; false when told to stop
  // before.
  bool Finish(std::int64_t step, double work);

 private:
  void Serve();
  bool ConnectToAny();
  const std::string& Tried() const { return daemons_[at_]; }
  void LeaveSilent();
  void Hello();
  void Read(const std::string& line);
  void OnChallenge(const std::string& line);
  void Doubt(const std::string& why);
  void OnMessage(const std::string& text);
  void Greet();
  std::string Identity() const;
  void Say(const std::string& line);
  std::string ProgressLine() const;

  const WorkerEnvironment environment_;
  const std::vector<std::string> daemons_;  // where it may be
  std::size_t at_ = 0;                      // of these, the one that is or was tried
  std::string address_;
  int wake_ = -1;  // eventfd: there is something to send, or it is over

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::vector<std::string> outbox_;
  Epoch latest_;
  std::int64_t trained_epoch_ = -1;
  std::int64_t broken_epoch_ = -1;
  TrainingProgress progress_;
  std::string finished_;  // what to say on every new connection; "": not finished
  bool welcomed_ = false;
  std::chrono::milliseconds heartbeat_{500};  // between words of progress, as the daemon wants them
  bool acknowledged_ = false;
  bool stop_ = false;
  int saves_wanted_ = 0;
  WorkerBatch batch_wanted_;
  bool over_ = false;
  std::string refused_;
  std::string doubt_;  // why whoever listens there is not the daemon; "": nobody such was met

  // Of the thread.
  LineSocket socket_;
  std::string nonce_;                   // that was said on this connection
  std::optional<LineSession> session_;  // once its other end has shown itself to be the daemon
  std::chrono::steady_clock::time_point heard_;  // of the daemon
  std::chrono::milliseconds speaks_{0};          // as often as it promised to; 0: it did not
  std::chrono::steady_clock::time_point answer_due_;
  std::chrono::steady_clock::time_point reconnect_;
  bool warned_ = false;  // of that; again after the daemon was back
  std::thread thread_;
};

}  // namespace allot
