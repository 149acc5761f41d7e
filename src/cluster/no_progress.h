#pragma once
// Ends a simulated run whose policy leaves unfinished jobs without progress for ever. The simulated
// cluster throws it, the driver adds the policy's name, and experiments keep it as the run's
// result.

#include <string>

#include "core/error.h"

namespace allot {

class NoProgress : public Error {
 public:
  explicit NoProgress(const std::string& message) : Error(ExitCode::kRunFailed, message) {}
};

}  // namespace allot
