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
                              std::span<const std::int32_t> changed) {
  if (!on()) return false;
  for (const JobIndex job : gone) {
    State& state = waits_[static_cast<std::size_t>(job)];
    state = {WaitOf(state), false};
  }
  for (const std::int32_t row : changed) {
    const auto r = static_cast<std::size_t>(row);
    const auto job = static_cast<std::size_t>(o.job[r]);
    if (job >= waits_.size()) waits_.resize(job + 1);
    State& state = waits_[job];
    if (state.from == kStarved) continue;
    if (o.running[r] >= 0) {
      state = {kRuns, false};
      continue;
    }
    state.from = state.from == kUnseen ? o.now : WaitOf(state);
    if (!state.waits) Push({state.from, o.job[r]});
    state.waits = true;
  }
  stopped_from_ = o.now + o.interval;
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
