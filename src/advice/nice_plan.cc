#include "advice/nice_plan.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "core/index.h"

namespace allot {
namespace {

// Where a job stands in the scheduler's order.
struct Position {
  std::int64_t priority = std::numeric_limits<std::int64_t>::max();
  std::uint64_t number = 0;

  bool IsBefore(const Position& other) const {
    return priority != other.priority ? priority > other.priority : number < other.number;
  }
};

// A job and the priorities that it can have.
struct Range {
  std::uint64_t number = 0;
  std::int64_t least = 0;
  std::int64_t most = 0;

  Position first() const { return {most, number}; }
  Position last() const { return {least, number}; }
  // The first position behind `bound` that the job can have; nullopt: all are before it.
  std::optional<Position> Behind(const Position& bound) const {
    const std::int64_t next = bound.number < number ? bound.priority : bound.priority - 1;
    const std::int64_t priority = std::min(most, next);
    if (priority < least) return std::nullopt;
    return Position{priority, number};
  }
};

// The wanted order, but for jobs that the others cannot let pass: each time the first job follows
// that no remaining one precedes in all circumstances.
std::vector<std::size_t> OrderWithin(const std::vector<Range>& ranges) {
  std::vector<std::size_t> by_least(ranges.size());
  std::iota(by_least.begin(), by_least.end(), std::size_t{0});
  std::sort(by_least.begin(), by_least.end(), [&](std::size_t a, std::size_t b) {
    return ranges[a].last().IsBefore(ranges[b].last());
  });
  std::vector<std::size_t> order;
  std::vector<bool> placed(ranges.size(), false);
  std::size_t begin = 0;
  std::size_t first = 0;  // of by_least
  while (order.size() < ranges.size()) {
    while (placed[begin]) ++begin;
    while (placed[by_least[first]]) ++first;
    std::size_t next = begin;
    const Position last = ranges[by_least[first]].last();
    while (placed[next] || (next != by_least[first] && last.IsBefore(ranges[next].first()))) ++next;
    placed[next] = true;
    order.push_back(next);
  }
  return order;
}

// The jobs in the order that their ranges permit: each in turn goes as far to the front as the ones
// before it let it, and a job that finds no room behind them stands where it can.
std::vector<std::size_t> ReachableOrder(const std::vector<Range>& ranges) {
  std::vector<std::size_t> order = OrderWithin(ranges);
  std::vector<Position> positions(ranges.size());
  Position bound;
  for (const std::size_t j : order) {
    const auto behind = ranges[j].Behind(bound);
    positions[j] = behind.value_or(ranges[j].last());
    if (behind) bound = *behind;
  }
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return positions[a].IsBefore(positions[b]); });
  return order;
}

}  // namespace

// The most jobs that can keep their positions: the longest path over the kept jobs, in which the
// jobs between two kept ones must have room. Taking the first position behind the one before leaves
// the most room, so one walk from each kept job finds all its successors.
std::vector<int> PlanNice(std::span<const NicedJob> wanted, int most) {
  const std::size_t jobs = wanted.size();
  std::vector<Range> ranges;
  ranges.reserve(jobs);
  for (const NicedJob& job : wanted) {
    if (job.fixed) {
      ranges.push_back({job.number, job.priority, job.priority});
      continue;
    }
    const std::int64_t base = job.priority + job.nice;
    ranges.push_back(
        {job.number, std::max<std::int64_t>(std::min<std::int64_t>(base, 1), base - most), base});
  }
  const std::vector<std::size_t> order = ReachableOrder(ranges);
  constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  // By place in the order, from 1; 0 stands for the begin, jobs + 1 for the end.
  std::vector<int> kept(jobs + 2, -1);
  std::vector<std::size_t> before(jobs + 2, kNone);
  kept[0] = 0;
  const auto is_at = [&](std::size_t place) {
    const NicedJob& job = wanted[order[place - 1]];
    return Position{job.priority, job.number};
  };
  const auto may_stay = [&](std::size_t place) {
    const Range& range = ranges[order[place - 1]];
    const std::int64_t priority = wanted[order[place - 1]].priority;
    return range.least <= priority && priority <= range.most;
  };
  for (std::size_t from = 0; from <= jobs; ++from) {
    if (kept[from] < 0) continue;
    std::optional<Position> bound = from == 0 ? Position{} : is_at(from);
    const auto reach = [&](std::size_t place, int count) {
      if (count <= kept[place]) return;
      kept[place] = count;
      before[place] = from;
    };
    std::size_t place = from + 1;
    for (; place <= jobs && bound; ++place) {
      if (may_stay(place) && bound->IsBefore(is_at(place))) {
        reach(place, kept[from] + 1);
        // Whoever could keep this job and does not has no more room behind it.
        if (ranges[order[place - 1]].Behind(*bound)->priority == is_at(place).priority) break;
      }
      bound = ranges[order[place - 1]].Behind(*bound);
    }
    if (place > jobs && bound) reach(jobs + 1, kept[from]);
  }
  std::vector<bool> keeps(jobs, false);
  for (std::size_t at = before[jobs + 1]; at != 0; at = before[at]) keeps[order[at - 1]] = true;
  std::vector<int> nice(jobs);
  Position bound;
  for (const std::size_t j : order) {
    bound = keeps[j] ? Position{wanted[j].priority, wanted[j].number} : *ranges[j].Behind(bound);
    nice[j] = wanted[j].fixed ? wanted[j].nice : static_cast<int>(ranges[j].most - bound.priority);
  }
  return nice;
}

}  // namespace allot
