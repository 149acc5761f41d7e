#pragma once
// A cluster at one moment, as `allot top` draws it: nodes as bars, jobs, and recent events.

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "live/status/status.h"

namespace allot {

struct TopNode {
  std::string name;
  std::string type;
  GpuCount gpus = 0;
  GpuCount used = 0;
  NodeState state = NodeState::kUp;
};

struct TopJob {
  std::string name;
  std::string user;
  std::string stage;             // "training", "waits"
  GpuCount gpus = 0;             // allocated
  std::string asked;             // "4", or "1-8"
  std::string nodes;             // "a:4 b:2"
  std::optional<double> done{};  // part of its work
  Seconds age = 0;               // since it was submitted
};

struct TopView {
  std::string title;  // "policy index"
  Seconds now = 0;
  std::int64_t finished = 0;
  std::vector<TopNode> nodes;
  std::vector<TopJob> jobs;
  std::string keys;  // what can be pressed
};

TopView TopViewOf(const DaemonStatus& status);

// What happened between two views, oldest first: "12m 05s  job 7 grew from 2 to 4 GPUs".
std::vector<std::string> EventsBetween(const TopView& before, const TopView& now);

// The view in `rows` lines of at most `columns` letters, each with a newline; with the last of
// `events` at the end. Jobs with most GPUs first, then those that wait, the oldest first. What has
// no room is counted.
std::string DrawTop(const TopView& view, const std::deque<std::string>& events, int rows,
                    int columns);

}  // namespace allot
