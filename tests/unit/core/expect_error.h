#pragma once
// What a statement must throw: an Error with an exit code and a message. Shared by the unit tests.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/error.h"

namespace allot {

// Returns the message of the Error with this code that `body` throws, "" if it throws none.
template <typename Body>
std::string ErrorOf(ExitCode code, const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(code)) << error.what();
    return error.what();
  }
  return "";
}

// Expects that `body` throws an Error with this code, and that its message contains every part.
template <typename Body>
void ExpectError(ExitCode code, const std::vector<std::string>& parts, const Body& body) {
  const std::string message = ErrorOf(code, body);
  EXPECT_NE(message, "") << "no error was thrown";
  for (const std::string& part : parts) {
    EXPECT_NE(message.find(part), std::string::npos) << "'" << part << "' is not in: " << message;
  }
}

}  // namespace allot
