#include "record/spaces.h"

#include <fmt/ranges.h>

#include <cmath>
#include <type_traits>

#include "core/check.h"
#include "core/error.h"

namespace allot {
namespace {

using nlohmann::json;

// `value` nested as deep as the shape, the way NumPy's tolist() writes a constant array.
json Filled(const ArrayShape& shape, std::size_t dimension, const json& value) {
  if (dimension == shape.size()) return value;
  return json(shape[dimension], Filled(shape, dimension + 1, value));
}

// Lower and upper bound, both inclusive, of each element of a row; one pair where all agree.
struct Bounds {
  std::vector<double> low;
  std::vector<double> high;
};

void Flatten(const json& nested, std::vector<double>* flat) {
  if (!nested.is_array()) {
    flat->push_back(nested.get<double>());
    return;
  }
  for (const json& element : nested) Flatten(element, flat);
}

Bounds BoundsOf(const json& space) {
  Bounds bounds;
  if (space["type"] == "Discrete") {
    const auto start = space["start"].get<double>();
    return {{start}, {start + space["n"].get<double>() - 1}};
  }
  if (space["type"] == "MultiDiscrete") {
    Flatten(space["start"], &bounds.low);
    Flatten(space["nvec"], &bounds.high);
    for (std::size_t i = 0; i < bounds.high.size(); ++i) bounds.high[i] += bounds.low[i] - 1;
    return bounds;
  }
  Flatten(space["low"], &bounds.low);
  Flatten(space["high"], &bounds.high);
  return bounds;
}

ArrayShape RowShape(const json& space) {
  if (space["type"] == "Discrete") return {};
  if (space["type"] == "MultiDiscrete") return {space["nvec"].size()};
  return space["shape"].get<ArrayShape>();
}

}  // namespace

json BoxSpace(const ArrayShape& shape, double low, double high, const std::string& dtype) {
  ALLOT_CHECK(std::isfinite(low) && std::isfinite(high));
  ALLOT_CHECK_LE(low, high);
  const auto bound = [&](double value) {
    const bool real = dtype == "float32" || dtype == "float64";
    return Filled(shape, 0, real ? json(value) : json(static_cast<std::int64_t>(value)));
  };
  return {{"type", "Box"},
          {"dtype", dtype},
          {"shape", shape},
          {"low", bound(low)},
          {"high", bound(high)}};
}

json DiscreteSpace(std::int64_t n, std::int64_t start) {
  ALLOT_CHECK_GE(n, 1);
  return {{"type", "Discrete"}, {"dtype", "int64"}, {"start", start}, {"n", n}};
}

json MultiDiscreteSpace(const std::vector<std::int64_t>& sizes) {
  for (const std::int64_t size : sizes) ALLOT_CHECK_GE(size, 1);
  return {{"type", "MultiDiscrete"},
          {"dtype", "int64"},
          {"nvec", sizes},
          {"start", std::vector<std::int64_t>(sizes.size(), 0)}};
}

json DictSpace(const std::map<std::string, json>& subspaces) {
  return {{"type", "Dict"}, {"subspaces", subspaces}};
}

void CheckInSpace(const json& space, const DataArray& array, std::size_t rows,
                  const std::string& what) {
  ArrayShape shape = RowShape(space);
  shape.insert(shape.begin(), rows);
  if (array.shape != shape) {
    throw RunError("{}: must have shape {}, has {}", what, shape, array.shape);
  }
  const auto dtype = space["dtype"].get<std::string>();
  if (DtypeName(array.values) != dtype) {
    throw RunError("{}: must be {}, is {}", what, dtype, DtypeName(array.values));
  }
  const Bounds bounds = BoundsOf(space);
  const std::size_t period = bounds.low.size();
  std::visit(
      [&]<typename T>(const std::vector<T>& values) {
        if constexpr (!std::is_same_v<T, std::string>) {
          std::size_t element = 0;
          for (std::size_t i = 0; i < values.size(); ++i) {
            const auto value = static_cast<double>(values[i]);
            if (!(value >= bounds.low[element] && value <= bounds.high[element])) {
              throw RunError("{}: value {} must lie in [{}, {}], is {}", what, i,
                             bounds.low[element], bounds.high[element], value);
            }
            if (++element == period) element = 0;
          }
        }
      },
      array.values);
}

}  // namespace allot
