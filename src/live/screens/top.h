#pragma once
// A cluster at one moment, as `allot top` draws it: nodes as bars, jobs, what has just happened.

#include <deque>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/types.h"

namespace allot {

struct TopNode {
  std::string name;
  std::string type;
  GpuCount gpus = 0;
  GpuCount held = 0;
  std::string away;  // "down", "drained"; empty: here
};

struct TopJob {
  std::string name;
  std::string user;
  std::string stage;       // "training", "waits"
  GpuCount gpus = 0;       // given now; 0: waits
  std::string asked;       // "4", or "1-8"
  std::string nodes;       // "a:4 b:2"
  double done = kUnknown;  // share of its work
  Seconds age = 0;         // since it was submitted
};

struct TopView {
  std::string title;  // "policy index"
  Seconds now = 0;
  std::int64_t finished = 0;
  std::vector<TopNode> nodes;
  std::vector<TopJob> jobs;
  std::string keys;  // what can be pressed
};

// Of a daemon's status (live/daemon/daemon.h). DataError where it lacks something, as that of
// another version may.
TopView TopViewOf(const nlohmann::ordered_json& status);

// What happened between two views, oldest first: "12m 05s  job 7 grew from 2 to 4 GPUs".
std::vector<std::string> EventsBetween(const TopView& before, const TopView& now);

// The view in `rows` lines of at most `columns` letters, each with a newline; with the last of
// `events` at the end. Jobs with most GPUs first, then those that wait, the oldest first. What has
// no room is counted.
std::string DrawTop(const TopView& view, const std::deque<std::string>& events, int rows,
                    int columns);

}  // namespace allot
