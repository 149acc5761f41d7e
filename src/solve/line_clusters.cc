#include "solve/line_clusters.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>

#include "core/check.h"

namespace allot {
namespace {

class LineProblem {
 public:
  explicit LineProblem(std::span<const double> numbers) : sorted_(numbers.begin(), numbers.end()) {
    std::sort(sorted_.begin(), sorted_.end());
    // Sums of squares lose digits far from 0.
    const double middle = sorted_[sorted_.size() / 2];
    for (const double number : sorted_) {
      const double shifted = number - middle;
      sums_.push_back(sums_.back() + shifted);
      squares_.push_back(squares_.back() + shifted * shifted);
    }
  }

  std::vector<double> Centres(int count) {
    const std::size_t n = sorted_.size();
    std::size_t different = 1;
    for (std::size_t i = 1; i < n; ++i) different += sorted_[i] > sorted_[i - 1] ? 1 : 0;
    best_.assign(n + 1, std::numeric_limits<double>::infinity());
    best_[0] = 0;
    std::vector<std::vector<std::size_t>> begins;
    for (std::size_t group = 0; group < std::min<std::size_t>(count, different); ++group) {
      next_.assign(n + 1, std::numeric_limits<double>::infinity());
      begin_.assign(n + 1, 0);
      Halve(group + 1, n, group, n - 1);
      std::swap(best_, next_);
      begins.push_back(begin_);
    }
    std::vector<double> centres;
    for (std::size_t end = n; end > 0; begins.pop_back()) {
      const std::size_t begin = begins.back()[end];
      const auto at = [this](std::size_t i) {
        return sorted_.begin() + static_cast<std::ptrdiff_t>(i);
      };
      centres.push_back(std::accumulate(at(begin), at(end), 0.0) /
                        static_cast<double>(end - begin));
      end = begin;
    }
    std::reverse(centres.begin(), centres.end());
    return centres;
  }

 private:
  // Sum of squared distances from the mean of those in [begin, end).
  double Cost(std::size_t begin, std::size_t end) const {
    const double sum = sums_[end] - sums_[begin];
    return squares_[end] - squares_[begin] - sum * sum / static_cast<double>(end - begin);
  }

  // One group more for the first `end` numbers, for each end in [low, high]; the group begins in
  // [first, last].
  void Halve(std::size_t low, std::size_t high, std::size_t first, std::size_t last) {
    if (low > high) return;
    const std::size_t end = low + (high - low) / 2;
    std::size_t chosen = first;
    for (std::size_t begin = first; begin <= std::min(last, end - 1); ++begin) {
      const double cost = best_[begin] + Cost(begin, end);
      if (cost >= next_[end]) continue;
      next_[end] = cost;
      chosen = begin;
    }
    begin_[end] = chosen;
    if (end > low) Halve(low, end - 1, first, chosen);
    Halve(end + 1, high, chosen, last);
  }

  std::vector<double> sorted_;
  std::vector<double> sums_{0};     // of the first i, less the median
  std::vector<double> squares_{0};  // likewise
  std::vector<double> best_;        // by end: cost with the groups so far
  std::vector<double> next_;        // with one more
  std::vector<std::size_t> begin_;  // by end: where this one begins
};

}  // namespace

std::vector<double> LineClusters(std::span<const double> numbers, int count) {
  ALLOT_CHECK(!numbers.empty() && count >= 1);
  return LineProblem(numbers).Centres(count);
}

}  // namespace allot
