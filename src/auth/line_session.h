#pragma once
// A connection of the worker protocol (docs/formats/worker_protocol.md) after both ends have sent a
// nonce. Each line carries a code that depends on its position and that only holders of the job's
// token can compute. A line that is changed, repeated, omitted, reordered, or comes from another
// connection or the wrong side is not accepted.
//
// Used by the daemon's hub and the workers' Member. One thread; no I/O.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace allot {

class LineSession {
 public:
  enum class Side { kDaemon, kWorker };
  // Names must not contain a line end. Nonces are made by NewToken.
  struct Names {
    std::string job;
    std::string worker;
    std::string worker_nonce;
    std::string daemon_nonce;
  };

  LineSession(Side own, std::string_view token, const Names& names);

  // Returns `message` (the text of a JSON object with members) as the next line of this side.
  std::string Sign(std::string_view message);
  // Returns the message of `line`; nullopt, without a change of state, if it is not the other
  // side's next line.
  std::optional<std::string> Open(std::string_view line);

 private:
  std::string key_;
  Side own_;
  std::uint64_t signed_ = 0;
  std::uint64_t opened_ = 0;
};

}  // namespace allot
