#pragma once
// What the hub knows of jobs and their workers: who is expected, what was announced to whom, and
// what workers have said, by which a job's progress is known. It reads no socket and no clock;
// whose words it is told was found out before. WorkerHub, its only user, also keeps here what it
// needs of each: its connection, when it was heard of, and what it is to be told.

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "live/runtimes/runtime.h"
#include "live/workers/line_server.h"

namespace allot {

struct HubWorker {
  std::string job;
  LineServer::ConnectionPtr connection;  // null: none
  bool has_identity = false;             // which is asked for when it joins
  bool joined = false;                   // ever
  bool stop = false;                     // it is told to stop
  std::string address;                   // at which other workers find it, as it says
  std::int64_t epoch = -1;               // that it trains in
  std::int64_t told_before = -1;         // the latest that it heard of before it joined
  std::int64_t broken = -1;              // the latest in which it could not train
  Seconds heard = 0;                     // when it was heard of last, or expected
};

struct HubJob {
  std::string token;
  Membership membership{-1, {}};  // the latest announced
  JobProgress progress;           // but for what follows from the epochs of members
  WorkerBatchOrder batch;         // workers 0: none was told
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
