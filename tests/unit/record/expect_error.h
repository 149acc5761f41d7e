#pragma once
// Runs something that must throw an Error of one code, with a message that names what it should.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/error.h"

namespace allot {

template <typename Body>
void ExpectError(ExitCode code, const std::vector<std::string>& named, Body&& body) {
  try {
    body();
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(code)) << error.what();
    for (const std::string& part : named) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
          << "'" << part << "' is not in: " << error.what();
    }
  }
}

}  // namespace allot
