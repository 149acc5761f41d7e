#pragma once
// Reads and checks the numbers of a worker's message (docs/formats/worker_protocol.md), so that no
// report of a program can make a decision fail. DataError naming the rule and the value. Used by
// WorkerHub.

#include <cstdint>
#include <nlohmann/json.hpp>

#include "cluster/job_columns.h"
#include "core/error.h"

namespace allot {

class MessageNumbers {
 public:
  explicit MessageNumbers(const nlohmann::json& message) : message_(message) {}

  // A whole number from `least` (-1 for an epoch) to 2^53, up to which JSON's numbers are exact.
  std::int64_t Whole(const char* key, std::int64_t otherwise, std::int64_t least = 0) const {
    constexpr std::int64_t kMost = std::int64_t{1} << 53;
    const auto found = message_.find(key);
    if (found == message_.end()) return otherwise;
    const bool fits = found->is_number_integer() &&
                      !(found->is_number_unsigned() && found->get<std::uint64_t>() > kMost);
    if (!fits || found->get<std::int64_t>() < least || found->get<std::int64_t>() > kMost) {
      throw DataError("'{}' must be a whole number from {} to {}, got {}", key, least, kMost,
                      found->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    }
    return found->get<std::int64_t>();
  }
  // A null, which JSON has for a number that is not finite, leaves `value` as it is.
  void Real(const char* key, NumberRule rule, double* value) const {
    const auto found = message_.find(key);
    if (found == message_.end() || found->is_null()) return;
    if (!found->is_number() || !Holds(rule, found->get<double>())) {
      throw DataError("'{}' must be a number, {}, got {}", key, TextOf(rule),
                      found->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    }
    *value = found->get<double>();
  }

 private:
  const nlohmann::json& message_;
};

}  // namespace allot
