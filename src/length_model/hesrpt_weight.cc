#include "length_model/hesrpt_weight.h"

#include <cmath>

#include "core/index.h"

namespace allot {

const std::vector<float>& HesrptWeight::Of(std::span<const float> values,
                                           std::span<const JobIndex> jobs) {
  const std::size_t rows = values.size();
  for (std::size_t k = ln_.size(); k <= rows; ++k) {
    ln_.push_back(std::log(static_cast<float>(k)));
  }
  const auto places = ranks_.Of(values, jobs);
  shares_.resize(rows);
  for (std::size_t r = 0; r < rows; ++r) shares_[r] = ln_[rows - At(places[r])] - ln_[rows];
  return shares_;
}

}  // namespace allot
