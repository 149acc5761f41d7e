#pragma once
// The hub's records of jobs and their workers: expected workers, announcements, and the workers'
// messages, from which a job's progress follows. It reads no socket and no clock; WorkerHub, its
// only user, authenticates the messages before, and also stores each worker's connection, the time
// of its last message and pending orders here.

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

#include "live/runtimes/runtime.h"
#include "live/workers/line_server.h"

namespace allot {

struct HubWorker {
  std::string job;
  LineServer::ConnectionPtr connection;  // may be null
  bool has_identity = false;             // the platform confirms it at the join
  bool joined = false;                   // at least once
  bool stop = false;                     // it has an order to stop
  std::string address;                   // for its peers, as it reported
  std::int64_t epoch = -1;               // in which it trains
  std::int64_t told_before = -1;         // the latest epoch that it knew when it joined
  std::int64_t broken = -1;              // the latest epoch in which it could not train
  Seconds heard = 0;                     // time of its last message, or when it was first expected
};

struct HubJob {
  std::string token;
  Membership membership{-1, {}};              // last announced
  JobProgress progress;                       // without what follows from the epochs of members
  WorkerBatchOrder batch;                     // `workers` is 0 before the first order
  std::optional<Seconds> checkpoint_every{};  // once there was advice
  bool finished = false;
  std::set<std::string> workers;
};

class HubRecords {
 public:
  void AddJob(const std::string& job, const std::string& token);  // again: changes nothing
  void RemoveJob(const std::string& job);                         // and its workers
  // Of a job that is known. `has_identity`: once said, it stays.
  void Expect(const std::string& job, const std::string& worker, bool has_identity, Seconds now);
  void RemoveWorker(const std::string& worker);

  // Null: not known.
  HubJob* FindJob(const std::string& job);
  const HubJob* FindJob(const std::string& job) const;
  HubWorker* FindWorker(const std::string& worker);
  const HubWorker* FindWorker(const std::string& worker) const;
  HubJob* JobWith(const std::string& job, const std::string& worker);  // null: or not together
  HubJob& JobOf(const HubWorker& worker) { return jobs_.at(worker.job); }
  const std::map<std::string, HubWorker>& workers() const { return workers_; }

  // `is_new`: it was not announced before. Refused: there was a later one, or there is no such job.
  Status Announce(const std::string& job, const Membership& membership, bool* is_new);

  // A worker that is known joins with this message. DataError, before anything changes, where a
  // number in it breaks its rule.
  static void CheckJoin(const nlohmann::json& message);
  void Join(const std::string& worker, const nlohmann::json& message, Seconds now);

  enum class Said {
    kNoneOfOurs,  // no word of the protocol
    kProgress,    // nothing that the daemon has to act on
    kNews,
    kFinished,  // its job's work is done; perhaps said before
  };
  // What a worker that has joined says. DataError where a number in it breaks its rule.
  Said Hear(const std::string& worker, const nlohmann::json& message);

  // The epoch is the one that all members train in; default values for a job that is not known.
  JobProgress Progress(const std::string& job) const;
  bool member(const std::string& worker) const;  // of its job's latest epoch

 private:
  std::map<std::string, HubWorker> workers_;
  std::map<std::string, HubJob> jobs_;
};

}  // namespace allot
