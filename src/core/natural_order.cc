#include "core/natural_order.h"

#include <algorithm>
#include <cstddef>

namespace allot {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The digits at the begin of `text`, without leading zeros; takes them from it.
std::string_view TakeNumber(std::string_view* text) {
  const auto end = std::find_if_not(text->begin(), text->end(), IsDigit);
  std::string_view digits = text->substr(0, static_cast<std::size_t>(end - text->begin()));
  text->remove_prefix(digits.size());
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  return digits;
}

}  // namespace

bool NaturalOrder::operator()(std::string_view a, std::string_view b) const {
  std::string_view rest_a = a;
  std::string_view rest_b = b;
  while (!rest_a.empty() && !rest_b.empty()) {
    if (IsDigit(rest_a.front()) && IsDigit(rest_b.front())) {
      const std::string_view number_a = TakeNumber(&rest_a);
      const std::string_view number_b = TakeNumber(&rest_b);
      if (number_a.size() != number_b.size()) return number_a.size() < number_b.size();
      if (number_a != number_b) return number_a < number_b;
      continue;
    }
    if (rest_a.front() != rest_b.front()) return rest_a.substr(0, 1) < rest_b.substr(0, 1);
    rest_a.remove_prefix(1);
    rest_b.remove_prefix(1);
  }
  if (rest_a.empty() != rest_b.empty()) return rest_a.empty();
  return a < b;  // alike but for leading zeros
}

}  // namespace allot
