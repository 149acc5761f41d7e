#pragma once
// One record of a trace breaks a rule. The rule stands apart from the value and the place, so that
// a lenient read can count alike errors together.

#include <string>
#include <string_view>

#include "core/error.h"

namespace allot {

class RowError : public Error {
 public:
  // Message: "RULE, got GOT (PLACE)".
  RowError(std::string rule, std::string_view got, std::string_view place);
  const std::string& rule() const { return rule_; }

 private:
  std::string rule_;
};

// A value for a message: in quotes, unprintable bytes as \xNN, cut after 40 characters.
std::string Quoted(std::string_view value);

}  // namespace allot
