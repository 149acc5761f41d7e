#pragma once
// Judges the end of a worker: wanted by the daemon, with its work done, or a failure. The rule is
// the same for all runtimes, which collect the facts. Pure.

#include <string>
#include <string_view>

#include "live/runtimes/runtime.h"

namespace allot {

// A worker is named for its job, and so belongs to no other: "<job>.<number>".
bool IsWorkerOf(std::string_view worker, std::string_view job);

enum class WorkerExit : std::uint8_t {
  kSuccess,    // exit code 0
  kFailure,    // another code, a signal, a lost node, or unknown
  kCancelled,  // by a person through the cluster's own means (scancel)
};

struct WorkerEndFacts {
  ResizeMode mode = ResizeMode::kHot;
  WorkerExit exit = WorkerExit::kFailure;
  bool job_over = false;  // the job finished, was cancelled or was given up
  bool stopped = false;   // the daemon asked for this end (Runtime::Stop)
  // kHot only:
  bool watched = false;    // this daemon has seen the worker alive
  bool joined = false;     // the worker has joined this daemon
  bool announced = false;  // this daemon knows an epoch of the job
  bool member = false;     // of the latest epoch
};

enum class WorkerEnd : std::uint8_t {
  kMeant,     // stopped, left out of an epoch, or its job was over
  kFinished,  // kRestart: the program has ended with success
  kFailed,    // counts against the job
};

struct WorkerVerdict {
  WorkerEnd end = WorkerEnd::kFailed;
  const char* note = "";  // why an end with exit code 0 is a failure

  bool failed() const { return end == WorkerEnd::kFailed; }
};

// | job over | stopped, cancelled | exit    | mode    | watched | left out | verdict  |
// |----------|--------------------|---------|---------|---------|----------|----------|
// | yes      | any                | any     | any     | any     | any      | meant    |
// | no       | yes                | any     | any     | any     | any      | meant    |
// | no       | no                 | failure | any     | any     | any      | failed   |
// | no       | no                 | success | restart | any     | any      | finished |
// | no       | no                 | success | hot     | no      | any      | meant    |
// | no       | no                 | success | hot     | yes     | yes      | meant    |
// | no       | no                 | success | hot     | yes     | no       | failed   |
//
// Left out: it has joined, an epoch was announced, and the worker is no member of the latest.
// A hot worker ends with success when an epoch leaves it out. One that ended while no daemon ran
// gets the benefit of the doubt.
WorkerVerdict JudgeWorkerEnd(const WorkerEndFacts& facts);

// The verdict on a worker in a snapshot: it is kEnded, with `reason` and what the verdict adds.
void SetEnded(const WorkerVerdict& verdict, std::string reason, RuntimeWorker* worker);

}  // namespace allot
