#pragma once
// What another user of the machine does in a test, which must run as root.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace allot::testing_support {

inline constexpr uid_t kOtherUser = 65534;

// Calls `body` in a process of the other user, and expects that it returns true.
template <typename Body>
void AsOtherUser(const Body& body) {
  const pid_t process = ::fork();
  if (process == 0) {
    const bool changed = ::setgid(kOtherUser) == 0 && ::setuid(kOtherUser) == 0;
    ::_exit(changed && body() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(process, &status, 0), process);
  EXPECT_EQ(status, 0) << "the other user could not do what the test is about";
}

}  // namespace allot::testing_support
