#pragma once
// The gloo group of one epoch. ElasticWorker makes one an epoch; it ends with the epoch, or when a
// peer is lost. Hides libtorch, whose headers take long to compile.

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>

#include "elastic/member.h"

namespace allot {

// A peer is gone or silent, or the epoch was overtaken by a later one while its group was formed.
struct GroupBroken : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Where peers meet to form a group: a store that this process offers, should it become rank 0. From
// then on the process ignores SIGPIPE, unless it handles it.
class MeetingPlace {
 public:
  MeetingPlace();
  ~MeetingPlace();
  std::uint16_t port() const;

 private:
  friend class Group;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

class Group {
 public:
  // Forms the group of `epoch`, of which this member is one; throws GroupBroken.
  Group(const Member& member, const Epoch& epoch, MeetingPlace& place,
        std::chrono::milliseconds timeout);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  int rank() const;
  int size() const;
  void Broadcast(std::span<std::uint8_t> bytes);  // from rank 0; throws GroupBroken
  void Sum(std::span<float> values);              // throws GroupBroken

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace allot
