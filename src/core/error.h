#pragma once
// The one exception type of the house and the value type for expected refusals.
//
// Error: thrown for what stops a command; cli/main.cc prints it and returns the code, others catch
// it to say more. Status: returned where "no" is a normal answer (validation of an allocation).
// Every message names the rule and both values: "fmt: 'gpus' must be >= 1, got 0 (jobs.csv:17)".

#include <fmt/format.h>

#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

namespace allot {

// The program's exit codes (README, "Exit codes").
enum class ExitCode : int {
  kOk = 0,
  kRunFailed = 1,
  kUsage = 2,
  kBadData = 3,
  kCheckFailed = 4,
  kInterrupted = 130,
};

class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

template <typename... Args>
Error RunError(fmt::format_string<Args...> format, Args&&... args) {
  return Error(ExitCode::kRunFailed, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
Error UsageError(fmt::format_string<Args...> format, Args&&... args) {
  return Error(ExitCode::kUsage, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
Error DataError(fmt::format_string<Args...> format, Args&&... args) {
  return Error(ExitCode::kBadData, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
Error CheckError(fmt::format_string<Args...> format, Args&&... args) {
  return Error(ExitCode::kCheckFailed, fmt::format(format, std::forward<Args>(args)...));
}

// What the system says of an error number.
inline std::string SystemMessage(int error = errno) {
  return std::error_code(error, std::generic_category()).message();
}

// Ok, or the reason why not.
class [[nodiscard]] Status {
 public:
  static Status Ok() { return Status(); }
  template <typename... Args>
  static Status Refused(fmt::format_string<Args...> format, Args&&... args) {
    Status status;
    status.ok_ = false;
    status.message_ = fmt::format(format, std::forward<Args>(args)...);
    return status;
  }
  bool ok() const { return ok_; }
  const std::string& message() const { return message_; }

 private:
  bool ok_ = true;
  std::string message_;
};

}  // namespace allot
