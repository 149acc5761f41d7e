#pragma once
// The value that the episode log stores: numbers, truth values or text in a row-major array with a
// shape and a unit. Filled by the recorder of an episode, returned by the reader; knows nothing of
// files.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace allot {

using ArrayShape = std::vector<std::size_t>;
using ArrayValues =
    std::variant<std::vector<float>, std::vector<double>, std::vector<std::int64_t>,
                 std::vector<std::int32_t>, std::vector<std::int16_t>, std::vector<std::int8_t>,
                 std::vector<std::uint8_t>, std::vector<std::uint64_t>, std::vector<bool>,
                 std::vector<std::string>>;

struct DataArray {
  ArrayShape shape;    // rank >= 1; the first dimension counts rows and may be 0
  ArrayValues values;  // as many as the product of the shape
  std::string units;   // "s", "GPU", "1"; empty: not stated

  std::size_t size() const {
    return std::visit([](const auto& held) { return held.size(); }, values);
  }
};

using ArrayMap = std::map<std::string, DataArray>;

// Text of variable length in a file, which is not read: HDF5 keeps it without a checksum, and a
// damaged one may end the process. Logs of allot have none.
struct VariableText {
  friend bool operator==(VariableText, VariableText) { return true; }
};
inline constexpr const char* kVariableTextIs =
    "text of variable length, which is not safe to read once it is damaged (h5py writes it for "
    "str, and so did allot before; numpy.bytes_ has a fixed length): write the log again";

using AttributeValue = std::variant<std::int64_t, double, std::string, VariableText>;
using AttributeMap = std::map<std::string, AttributeValue>;

// For messages: "must be text, is a number".
inline const char* KindOf(const AttributeValue& value) {
  if (std::holds_alternative<VariableText>(value)) return kVariableTextIs;
  return std::holds_alternative<std::string>(value) ? "text" : "a number";
}

// One value a row.
template <typename T>
DataArray MakeColumn(std::vector<T> values, std::string units = "") {
  const ArrayShape shape{values.size()};
  return {shape, std::move(values), std::move(units)};
}

template <typename T>
DataArray MakeArray(ArrayShape shape, std::vector<T> values, std::string units = "") {
  return {std::move(shape), std::move(values), std::move(units)};
}

// NumPy's name of the element type; "str" for text.
template <typename T>
constexpr std::string_view DtypeOf() {
  if constexpr (std::is_same_v<T, float>) return "float32";
  if constexpr (std::is_same_v<T, double>) return "float64";
  if constexpr (std::is_same_v<T, std::int64_t>) return "int64";
  if constexpr (std::is_same_v<T, std::int32_t>) return "int32";
  if constexpr (std::is_same_v<T, std::int16_t>) return "int16";
  if constexpr (std::is_same_v<T, std::int8_t>) return "int8";
  if constexpr (std::is_same_v<T, std::uint8_t>) return "uint8";
  if constexpr (std::is_same_v<T, std::uint64_t>) return "uint64";
  if constexpr (std::is_same_v<T, bool>) return "bool";
  if constexpr (std::is_same_v<T, std::string>) return "str";
}

inline std::string_view DtypeName(const ArrayValues& values) {
  return std::visit([]<typename T>(const std::vector<T>&) { return DtypeOf<T>(); }, values);
}

}  // namespace allot
