#pragma once
// The gloo group of one epoch. ElasticWorker makes one per epoch; it ends with the epoch or when a
// peer is lost. This header hides libtorch, whose headers take long to compile.

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

// A peer is gone or silent, or a later epoch began while the group was formed.
struct GroupBroken : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The store (elastic/epoch_store.h) that this process offers in case it becomes rank 0. From the
// constructor on, the process ignores SIGPIPE, unless the program handles that signal.
class MeetingPlace {
 public:
  explicit MeetingPlace(const WorkerEnvironment& environment);
  ~MeetingPlace();
  // Listens only on `host`, the address at which peers reach this worker, and returns "HOST:PORT"
  // for them. Called once. RunError on failure.
  std::string Open(const std::string& host);

 private:
  friend class Group;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Broadcast, Sum and PassState throw GroupBroken if a peer is gone, is silent for `timeout`, or is
// not in a later epoch (or this member is to stop) and does not answer any more. `values` are then
// lost and blocks half filled.
class Group {
 public:
  // Forms the group of `epoch`, which contains this member. Each pair of members has then proved to
  // each other, over the connection that gloo uses, that both know the job's token. Throws
  // GroupBroken. `member` must outlive the group.
  Group(const Member& member, const Epoch& epoch, MeetingPlace& place,
        std::chrono::milliseconds timeout);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  int rank() const;
  int size() const;
  void Broadcast(std::vector<std::uint8_t>* values);  // from rank 0
  void Sum(std::vector<float>* values);
  // Copies the state of the first of `ranks` to the others, in place, by the route of
  // elastic/state_route.h. All of `ranks` must call it with the same list.
  void PassState(std::span<const StateBlock> blocks, std::span<const int> ranks);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace allot
