#pragma once
// Gymnasium spaces as the JSON that Minari stores beside an episode log, and the check that logged
// rows lie in them. Bounds are finite: an infinite one has no JSON.

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "record/data_array.h"

namespace allot {

// A box of numbers with the same bounds for every element. `shape` is one row's; `dtype` as in
// NumPy.
nlohmann::json BoxSpace(const ArrayShape& shape, double low, double high,
                        const std::string& dtype = "float32");
nlohmann::json DiscreteSpace(std::int64_t n,
                             std::int64_t start = 0);  // {start, ..., start + n - 1}
nlohmann::json MultiDiscreteSpace(const std::vector<std::int64_t>& sizes);  // int64 each, from 0
nlohmann::json DictSpace(const std::map<std::string, nlohmann::json>& subspaces);

// Throws RunError, naming `what`, rule and both values, unless the array has `rows` rows of the
// space's shape and type with every value inside it. For the leaf spaces above, not for a Dict.
void CheckInSpace(const nlohmann::json& space, const DataArray& array, std::size_t rows,
                  const std::string& what);

}  // namespace allot
