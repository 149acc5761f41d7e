#include "table/row_error.h"

#include <utility>

namespace allot {
namespace {

constexpr std::size_t kLongest = 40;

}  // namespace

RowError::RowError(std::string rule, std::string_view got, std::string_view place)
    : Error(ExitCode::kBadData, fmt::format("{}, got {} ({})", rule, got, place)),
      rule_(std::move(rule)) {}

std::string Quoted(std::string_view value) {
  std::string text = "'";
  for (const char c : value.substr(0, kLongest)) {
    if (c >= ' ' && c <= '~') {
      text += c;
    } else {
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return text + (value.size() > kLongest ? "...'" : "'");
}

}  // namespace allot
