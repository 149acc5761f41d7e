#pragma once
// A store of keys and values through which the members of an epoch exchange their addresses before
// they have a process group. Every worker has one; that of rank 0 is used. A thread of its own
// serves it over lines with codes (auth/line_session.h; docs/formats/worker_protocol.md "Process
// groups"): a client without the job's token can neither read nor write.
//
// Anybody who reaches the port can connect, so the time, connections and memory of unauthenticated
// clients are limited. MeetingPlace (torch/group.h) owns one; EpochStoreVisit is the client.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace allot {

struct StoreLimits {
  std::chrono::milliseconds introduction{5000};  // for a client to authenticate
  std::size_t strangers = 128;         // unauthenticated clients; beyond, the oldest is closed
  std::size_t strangers_line = 1024;   // bytes
  std::size_t line = 8 * 1024 * 1024;  // bytes of a line of an authenticated worker
};

class EpochStore {
 public:
  struct Owner {
    std::string job;
    std::string worker;
    std::string token;
  };

  // Listens on `host` (numeric) only; port 0 takes any free one. RunError on failure.
  EpochStore(Owner owner, const std::string& host, std::uint16_t port,
             const StoreLimits& limits = {});
  ~EpochStore();
  EpochStore(const EpochStore&) = delete;
  EpochStore& operator=(const EpochStore&) = delete;

  std::uint16_t port() const;

  // The token of the store's sessions, which differs from that of a daemon's sessions and of the
  // store of another worker.
  static std::string SessionToken(const std::string& token, const std::string& worker);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace allot
