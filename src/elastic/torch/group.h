#pragma once
// The gloo group of one epoch. ElasticWorker makes one an epoch; it ends with the epoch, or when a
// peer is lost. Hides libtorch, whose headers take long to compile.

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "elastic/checkpoint_file.h"
#include "elastic/member.h"

namespace allot {

// A peer is gone or silent, or the epoch was overtaken by a later one while its group was formed.
struct GroupBroken : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Where peers meet to form a group: a store that this process offers, should it become rank 0
// (elastic/epoch_store.h). From then on the process ignores SIGPIPE, unless it handles it.
class MeetingPlace {
 public:
  explicit MeetingPlace(const WorkerEnvironment& environment);
  ~MeetingPlace();
  // Listens on `host`, the address by which peers reach this worker, and no other; called once. For
  // the peers: "HOST:PORT". RunError.
  std::string Open(const std::string& host);

 private:
  friend class Group;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Broadcast, Sum and HandOn throw GroupBroken: a peer is gone, has said nothing for `timeout`, or
// is left out of a later epoch (or this member is told to stop) and does not come any more.
// `values` are lost then, and blocks are half filled.
class Group {
 public:
  // Forms the group of `epoch`, of which this member is one. Each pair of members has shown to each
  // other, over the very connection that gloo will use, that both know the job's token. Throws
  // GroupBroken. `member` outlives the group.
  Group(const Member& member, const Epoch& epoch, MeetingPlace& place,
        std::chrono::milliseconds timeout);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  int rank() const;
  int size() const;
  void Broadcast(std::vector<std::uint8_t>* values);  // from rank 0
  void Sum(std::vector<float>* values);
  // The state of the first of `ranks` to the others of them, which lack it: in place, by the route
  // of elastic/state_route.h. To be called by these, with the same `ranks`.
  void HandOn(std::span<const StateBlock> blocks, std::span<const int> ranks);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace allot
