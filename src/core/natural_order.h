#pragma once
// The order in which people expect names with numbers: "9" before "10", "n2" before "n10".

#include <string_view>

namespace allot {

// Digits that stand together count as one number of any length; other letters by their bytes.
struct NaturalOrder {
  bool operator()(std::string_view a, std::string_view b) const;
};

}  // namespace allot
