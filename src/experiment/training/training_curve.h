#pragma once
// Reads the curve of a training run: rows as in curve.csv (docs/formats.md), each with "iteration"
// and "validation_ratio", which is null without a validation.

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>

namespace allot {

struct BestValidation {
  double ratio = std::numeric_limits<double>::infinity();
  std::int64_t iteration = 0;  // 0: the start
  int later = 0;               // number of later validations; none was better
};

// O(rows).
inline BestValidation BestOf(const nlohmann::ordered_json& rows) {
  BestValidation best;
  for (const auto& row : rows) {
    const auto& ratio = row.at("validation_ratio");
    if (ratio.is_null()) continue;
    if (ratio < best.ratio) {
      best = {ratio, row.at("iteration"), 0};
    } else {
      ++best.later;
    }
  }
  return best;
}

}  // namespace allot
