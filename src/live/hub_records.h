#pragma once
// What the hub knows of jobs and their workers, and how far a group is by the words of its members.

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "live/line_server.h"
#include "live/runtime.h"

namespace allot {

struct HubWorker {
  std::string job;
  LineServer::ConnectionPtr connection;  // null: none
  bool has_identity = false;             // which is asked for when it joins
  bool joined = false;
  bool stop = false;
  std::string address;
  std::int64_t epoch = -1;        // that it trains in
  std::int64_t told_before = -1;  // the latest that it heard of before it joined
  std::int64_t broken = -1;
  double heard = 0;
};

struct HubJob {
  std::string token;
  Membership membership{-1, {}};
  JobProgress progress;
  WorkerBatchOrder batch;  // workers 0: none was told
  bool finished = false;
  bool told_token = false;  // a worker of an earlier version said its token: was warned of
  std::set<std::string> workers;
};

// The epoch is the one that all members train in.
JobProgress ProgressOf(const HubJob& job, const std::map<std::string, HubWorker>& workers);

}  // namespace allot
