#include "metrics/rank_correlation.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/check.h"
#include "core/types.h"

namespace allot {
namespace {

// By value: its mean place in ascending order, less the mean of all places.
std::vector<double> CentredRanks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [values](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  const double middle = (static_cast<double>(values.size()) - 1) / 2;
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double rank = (static_cast<double>(begin + end) - 1) / 2;
    for (; begin < end; ++begin) ranks[order[begin]] = rank - middle;
  }
  return ranks;
}

}  // namespace

double RankCorrelation(std::span<const double> a, std::span<const double> b) {
  ALLOT_CHECK(a.size() == b.size());
  const std::vector<double> x = CentredRanks(a), y = CentredRanks(b);
  const auto product = [](const std::vector<double>& u, const std::vector<double>& v) {
    return std::inner_product(u.begin(), u.end(), v.begin(), 0.0);
  };
  const double spread = std::sqrt(product(x, x) * product(y, y));
  return spread > 0 ? product(x, y) / spread : kUnknown;
}

}  // namespace allot
