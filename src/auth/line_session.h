#pragma once
// One connection of the worker protocol (docs/formats/worker_protocol.md), from the moment that
// both ends have said a nonce: its lines carry codes, which only those can make that know the job's
// token, each for its place alone. A line that is changed, said again, left out, in another order,
// of another connection or by the wrong side does not open.
//
// For the daemon's hub and the workers' Member. One thread; no I/O.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace allot {

class LineSession {
 public:
  enum class Side { kDaemon, kWorker };
  // No name has a line end. Nonces are NewToken's.
  struct Names {
    std::string job;
    std::string worker;
    std::string worker_nonce;
    std::string daemon_nonce;
  };

  LineSession(Side own, std::string_view token, const Names& names);

  // `message` (the text of a JSON object with members) as the next line of this side.
  std::string Sign(std::string_view message);
  // The message of `line`; nullopt, and no change: it is not the next one of the other side.
  std::optional<std::string> Open(std::string_view line);

 private:
  std::string key_;
  Side own_;
  std::uint64_t signed_ = 0;
  std::uint64_t opened_ = 0;
};

}  // namespace allot
