#pragma once
// What some programs put before UTF-8 text; no part of it.

#include <string_view>

namespace allot {

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace allot
