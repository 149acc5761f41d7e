#pragma once
// Invariants of our own code, always on; the message shows the expression and both values.
// For what a user can cause, throw an Error (core/error.h) instead.

#include <fmt/format.h>

#include <stdexcept>
#include <string>

namespace allot::internal {

[[noreturn]] inline void CheckFailed(const char* file, int line, const std::string& what) {
  throw std::logic_error(fmt::format("internal check failed at {}:{}: {}", file, line, what));
}

}  // namespace allot::internal

#define ALLOT_CHECK(condition)                                                        \
  do {                                                                                \
    if (!(condition)) ::allot::internal::CheckFailed(__FILE__, __LINE__, #condition); \
  } while (false)

#define ALLOT_CHECK_OP_(a, op, b)                                                   \
  do {                                                                              \
    const auto& allot_lhs_ = (a);                                                   \
    const auto& allot_rhs_ = (b);                                                   \
    if (!(allot_lhs_ op allot_rhs_)) {                                              \
      ::allot::internal::CheckFailed(                                               \
          __FILE__, __LINE__,                                                       \
          fmt::format("{} ({} vs {})", #a " " #op " " #b, allot_lhs_, allot_rhs_)); \
    }                                                                               \
  } while (false)

#define ALLOT_CHECK_EQ(a, b) ALLOT_CHECK_OP_(a, ==, b)
#define ALLOT_CHECK_LE(a, b) ALLOT_CHECK_OP_(a, <=, b)
#define ALLOT_CHECK_LT(a, b) ALLOT_CHECK_OP_(a, <, b)
#define ALLOT_CHECK_GE(a, b) ALLOT_CHECK_OP_(a, >=, b)
#define ALLOT_CHECK_GT(a, b) ALLOT_CHECK_OP_(a, >, b)
