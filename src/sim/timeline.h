#pragma once
// The timeline of a simulated run: how many jobs run and wait, and how many GPUs are used, from one
// moment to the next. SimulatedCluster notes a point after each decision, completion and loss of a
// node; jobs that arrive between decisions count from the next one on.

#include <span>
#include <utility>
#include <vector>

#include "cluster/job_record.h"
#include "core/types.h"

namespace allot {

class Timeline {
 public:
  struct Completion {  // of a job
    Seconds time;
    GpuCount freed;
  };

  void Reserve(std::size_t points) { points_.reserve(points); }
  // Of several points at one time the last one stays.
  void Note(const TimelinePoint& point);
  // A point for each completion, in any order; `before`: what was until the first of them.
  void NoteCompletions(TimelinePoint before, std::span<Completion> completions);

  const std::vector<TimelinePoint>& points() const { return points_; }
  std::vector<TimelinePoint> Take() { return std::move(points_); }

 private:
  std::vector<TimelinePoint> points_;
};

}  // namespace allot
