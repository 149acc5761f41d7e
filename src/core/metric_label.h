#pragma once
// A value of a label in Prometheus' text format: quotes and backslashes are escaped, a line stays
// one line.

#include <string>
#include <string_view>

namespace allot {

inline std::string MetricLabel(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\' || c == '"') escaped += '\\';
    escaped += c == '\n' ? ' ' : c;
  }
  return escaped;
}

}  // namespace allot
