#pragma once
// How large advantages are: the mean of their squares over all rollouts and instants.

#include <vector>

namespace allot {

inline double MeanSquare(const std::vector<std::vector<double>>& advantages) {
  double sum = 0;
  double count = 0;
  for (const auto& one : advantages) {
    for (const double a : one) {
      sum += a * a;
      ++count;
    }
  }
  return sum / count;
}

}  // namespace allot
