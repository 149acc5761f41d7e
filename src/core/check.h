#pragma once
// Invariants of our own code, always on; the message shows the expression and both values.
// For what a user can cause, throw an Error (core/error.h) instead.
//
// The place comes from the compiler's builtins, not from __FILE__: that would be text with the path
// of the clone, and ccache could not give what one clone compiled to another. std::source_location
// would be the same, but clang 14 (clang-tidy) does not know libstdc++'s.

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace allot::internal {

[[noreturn]] inline void CheckFailed(std::string_view what,
                                     std::string_view file = __builtin_FILE(),
                                     int line = __builtin_LINE()) {
  file.remove_prefix(file.rfind('/') + 1);
  throw std::logic_error(fmt::format("internal check failed at {}:{}: {}", file, line, what));
}

}  // namespace allot::internal

#define ALLOT_CHECK(condition)                                    \
  do {                                                            \
    if (!(condition)) ::allot::internal::CheckFailed(#condition); \
  } while (false)

#define ALLOT_CHECK_OP_(a, op, b)                                                   \
  do {                                                                              \
    const auto& allot_lhs_ = (a);                                                   \
    const auto& allot_rhs_ = (b);                                                   \
    if (!(allot_lhs_ op allot_rhs_)) {                                              \
      ::allot::internal::CheckFailed(                                               \
          fmt::format("{} ({} vs {})", #a " " #op " " #b, allot_lhs_, allot_rhs_)); \
    }                                                                               \
  } while (false)

#define ALLOT_CHECK_EQ(a, b) ALLOT_CHECK_OP_(a, ==, b)
#define ALLOT_CHECK_LE(a, b) ALLOT_CHECK_OP_(a, <=, b)
#define ALLOT_CHECK_LT(a, b) ALLOT_CHECK_OP_(a, <, b)
#define ALLOT_CHECK_GE(a, b) ALLOT_CHECK_OP_(a, >=, b)
#define ALLOT_CHECK_GT(a, b) ALLOT_CHECK_OP_(a, >, b)
