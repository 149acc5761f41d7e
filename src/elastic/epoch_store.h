#pragma once
// Where the members of an epoch tell each other how they are reached, before they have a process
// group: keys and values, which every worker offers and rank 0's is used. Served by a thread of its
// own, over lines with codes (auth/line_session.h; docs/formats/worker_protocol.md "Process
// groups"): who does not know the job's token can neither read nor write.
//
// Anybody who reaches the port can connect, so what a stranger can take has bounds: time,
// connections, memory. MeetingPlace (torch/group.h) owns one; EpochStoreVisit is the other end.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace allot {

struct StoreLimits {
  std::chrono::milliseconds introduction{5000};  // until a connection has shown who it is
  std::size_t strangers = 128;         // that have not; of more, the one that waits longest goes
  std::size_t strangers_line = 1024;   // bytes
  std::size_t line = 8 * 1024 * 1024;  // of a worker of the job
};

class EpochStore {
 public:
  struct Owner {
    std::string job;
    std::string worker;
    std::string token;
  };

  // Listens on `host` (numeric) alone; port 0: any. RunError where it cannot.
  EpochStore(Owner owner, const std::string& host, std::uint16_t port,
             const StoreLimits& limits = {});
  ~EpochStore();
  EpochStore(const EpochStore&) = delete;
  EpochStore& operator=(const EpochStore&) = delete;

  std::uint16_t port() const;

  // The token of its connections' sessions: they are no connections to a daemon, nor to the store
  // of another worker.
  static std::string SessionToken(const std::string& token, const std::string& worker);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace allot
