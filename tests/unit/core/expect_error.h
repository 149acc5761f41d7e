#pragma once
// EXPECT_ERROR(code, {"part", ...}, statement): the statement throws an Error with this exit code,
// whose message holds every part. Shared by the unit tests.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/error.h"

namespace allot {

template <typename Body>
void ExpectError(ExitCode code, const std::vector<std::string>& parts, const Body& body) {
  try {
    body();
    ADD_FAILURE() << "no error was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(code)) << error.what();
    for (const std::string& part : parts) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
          << "'" << part << "' is missing in: " << error.what();
    }
  }
}

}  // namespace allot
