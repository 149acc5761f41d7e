#include "sim/timeline.h"

#include <algorithm>

namespace allot {

void Timeline::Note(const TimelinePoint& point) {
  if (!points_.empty() && points_.back().time >= point.time) points_.pop_back();
  points_.push_back(point);
}

void Timeline::NoteCompletions(TimelinePoint before, std::span<Completion> completions) {
  std::sort(completions.begin(), completions.end(),
            [](const Completion& a, const Completion& b) { return a.time < b.time; });
  for (const Completion& completion : completions) {
    before.time = completion.time;
    --before.active;
    --before.running;
    before.gpus_used -= completion.freed;
    Note(before);
  }
}

}  // namespace allot
