#pragma once
// The log-probability of a sampled fill, by its definition and in double: at every draw a softmax
// over the open steps. What gradients of the fill are compared with.

#include <cmath>
#include <vector>

#include "agents/training/sampled_fill.h"
#include "core/index.h"

namespace allot {

struct DoubleScore {
  double u = 0;
  double beta = 0;
  double kappa = 0;
};

inline double LogProbability(const Observation& o, const std::vector<DoubleScore>& scores,
                             double tau, const std::vector<SampledFill::Draw>& draws) {
  struct Item {
    HullCursor cursor;
    std::int32_t row;
    bool open;
  };
  std::vector<Item> items;
  for (std::int32_t row = 0; row < o.rows(); ++row) {
    for (const GpuTypeIndex type : o.table[At(row)]->types()) {
      items.push_back({HullCursor(o, row, type), row, true});
    }
  }
  const auto key = [&](const Item& item) {
    const DoubleScore& score = scores[At(item.row)];
    const HullStep& step = item.cursor.step();
    return score.u + static_cast<double>(step.log_gain) -
           score.beta * static_cast<double>(step.log_mid) +
           static_cast<double>(item.cursor.kappa_sign()) * score.kappa;
  };
  TypeCapacity capacity;
  capacity.Reset(*o.cluster);
  std::vector<std::int32_t> chosen(At(o.rows()), -1);
  double log_probability = 0;
  for (const SampledFill::Draw& draw : draws) {
    double total = 0;
    Item* drawn = nullptr;
    for (Item& item : items) {
      if (!item.open) continue;
      total += std::exp(key(item) / tau);
      if (item.row == draw.row && item.cursor.step().to == draw.to) drawn = &item;
    }
    log_probability += key(*drawn) / tau - std::log(total);
    const ConfigurationTable& table = *o.table[At(draw.row)];
    std::int32_t& now = chosen[At(draw.row)];
    if (now >= 0) capacity.Return(table[now]);
    const bool fits = capacity.Fits(table[draw.to]);
    if (fits && now < 0) {
      for (Item& item : items) item.open = item.open && (item.row != draw.row || &item == drawn);
    }
    if (fits) now = draw.to;
    if (now >= 0) capacity.Take(table[now]);
    if (fits) drawn->cursor.Advance();
    drawn->open = fits && !drawn->cursor.done();
  }
  return log_probability;
}

}  // namespace allot
