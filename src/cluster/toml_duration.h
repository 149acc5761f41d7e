#pragma once
// Durations in TOML files of users: a number of seconds, or text as ParseDuration reads it. Used by
// the readers of rules and of job files. Defined here because toml++ is compiled in several ways.

#include <fmt/format.h>
#include <toml++/toml.h>

#include <optional>
#include <string>

#include "core/duration_text.h"

namespace allot {

inline std::optional<double> DurationIn(const toml::node& node) {
  const auto text = node.value_exact<std::string>();
  return text ? ParseDuration(*text) : node.value<double>();
}

// A value for a refusal: '2 hours', 90.
inline std::string ShownIn(const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return fmt::format("'{}'", *text);
  if (const auto whole = node.value_exact<std::int64_t>()) return fmt::format("{}", *whole);
  if (const auto flag = node.value_exact<bool>()) return *flag ? "true" : "false";
  if (const auto number = node.value<double>()) return fmt::format("{}", *number);
  return node.is_array() ? "a list" : node.is_table() ? "a table" : "a date";
}

}  // namespace allot
