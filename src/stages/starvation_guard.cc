#include "stages/starvation_guard.h"

#include <algorithm>

namespace allot {
namespace {

// Of the heap's top: the earlier it began, the longer it is.
constexpr auto kShorter = [](const auto& a, const auto& b) {
  return a.from != b.from ? a.from > b.from : a.job > b.job;
};

}  // namespace

void StarvationGuard::OnEpisodeStart() {
  waits_.clear();
  longest_.clear();
  any_starved_ = false;
}

bool StarvationGuard::Observe(const Observation& o, std::span<const JobIndex> gone,
                              std::span<const std::int32_t> touched) {
  if (!on()) return false;
  for (const JobIndex job : gone) waits_[static_cast<std::size_t>(job)].waits = false;
  const JobIndex* const jobs = o.job.data();
  const std::int32_t* const running = o.running.data();
  const Seconds now = o.now;
  const State runs = {o.now + o.interval, false};
  for (const std::int32_t row : touched) {
    const auto r = static_cast<std::size_t>(row);
    const auto job = static_cast<std::size_t>(jobs[r]);
    if (job >= waits_.size()) waits_.resize(job + 1);
    State& state = waits_[job];
    if (state.from == kStarved) continue;
    if (running[r] >= 0) {
      state = runs;  // if it is stopped now, it begins to wait at the next decision
      continue;
    }
    if (state.from == kUnseen) state.from = now;
    if (!state.waits) Push({state.from, jobs[r]});
    state.waits = true;
  }
  bool somebody = false;
  for (const Wait* wait = Longest(); wait != nullptr && o.now - wait->from >= limit_;
       wait = Longest()) {
    waits_[static_cast<std::size_t>(wait->job)] = {kStarved, false};
    PopLongest();
    somebody = true;
  }
  any_starved_ = any_starved_ || somebody;
  return somebody;
}

const StarvationGuard::Wait* StarvationGuard::Longest() {
  while (!longest_.empty()) {
    const State& state = waits_[static_cast<std::size_t>(longest_.front().job)];
    if (state.waits && state.from == longest_.front().from) return &longest_.front();
    PopLongest();
  }
  return nullptr;
}

void StarvationGuard::PopLongest() {
  std::pop_heap(longest_.begin(), longest_.end(), kShorter);
  longest_.pop_back();
}

void StarvationGuard::Push(const Wait& wait) {
  longest_.push_back(wait);
  std::push_heap(longest_.begin(), longest_.end(), kShorter);
}

}  // namespace allot
