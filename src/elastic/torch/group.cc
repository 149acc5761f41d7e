#include "elastic/torch/group.h"

#include <ATen/ops/from_blob.h>
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <utility>
#include <vector>

#include "auth/secret.h"
#include "elastic/epoch_store.h"
#include "elastic/torch/forming.h"
#include "elastic/torch/meeting_store.h"
#include "elastic/torch/state_pass.h"

namespace allot {
namespace {

using Clock = std::chrono::steady_clock;

// For the last step with a peer that leaves: so long, and twice what a step waited before.
constexpr std::chrono::seconds kLastStep{5};
constexpr std::chrono::milliseconds kLook{500};

// libtorch writes to peers that may have died since: that is to be an error, not the end of this
// process too. A handler that the program has set stays.
void SurviveBrokenPipes() {
  struct sigaction present {};
  sigaction(SIGPIPE, nullptr, &present);
  if (present.sa_handler == SIG_DFL) std::signal(SIGPIPE, SIG_IGN);
}

}  // namespace

struct MeetingPlace::Impl {
  explicit Impl(const WorkerEnvironment& environment)
      : owner{environment.job, environment.worker, environment.token} {}

  const EpochStore::Owner owner;
  std::string host;
  std::unique_ptr<EpochStore> store;
};

MeetingPlace::MeetingPlace(const WorkerEnvironment& environment)
    : impl_(std::make_unique<Impl>(environment)) {
  SurviveBrokenPipes();
}
MeetingPlace::~MeetingPlace() = default;
std::string MeetingPlace::Open(const std::string& host) {
  impl_->store = std::make_unique<EpochStore>(impl_->owner, host, 0);
  impl_->host = host;
  return fmt::format("{}:{}", host, impl_->store->port());
}

struct Group::Impl {
  Impl(const Member& of, const Epoch& in) : member(of), epoch(in) {}

  const Member& member;
  const Epoch epoch;
  int rank = 0;
  int size = 1;
  c10::intrusive_ptr<c10d::ProcessGroupGloo> gloo;
  Clock::duration longest_wait{0};

  // libtorch throws what it likes; to us all of it says that the group is no more.
  template <typename Function>
  static void Guarded(const Function& function) {
    try {
      function();
    } catch (const GroupBroken&) {
      throw;
    } catch (const std::exception& error) {
      throw GroupBroken(error.what());
    }
  }

  bool LeftBehind() const {
    if (member.stopping()) return true;
    const Epoch latest = member.latest();
    return std::any_of(epoch.members.begin(), epoch.members.end(),
                       [&](const std::string& one) { return latest.rank_of(one) < 0; });
  }

  std::string HostOf(int member_rank) const {
    const std::string& address = epoch.addresses[static_cast<std::size_t>(member_rank)];
    return address.substr(0, address.rfind(':'));
  }

  // Gloo now and then misses that a peer has died (1 in 300 kills) and waits for its timeout, which
  // is long. So whoever waits looks up: where a peer is left out of a later epoch and still does
  // not come, the group is given up. What gloo then holds on to, a thread of its own among it,
  // nobody can end: it is left to it.
  template <typename Value>
  void Wait(const c10::intrusive_ptr<c10d::Work>& work, std::vector<Value>* values,
            bool forming = false) {
    const Clock::time_point begin = Clock::now();
    Clock::time_point left_behind = Clock::time_point::max();
    for (;;) {
      try {
        work->wait(kLook);
        longest_wait = std::max(longest_wait, Clock::now() - begin);
        return;
      } catch (const std::exception&) {
        // It may have been completed since: then what it says counts, not that the look timed out.
        if (work->isCompleted()) {
          work->wait();
          longest_wait = std::max(longest_wait, Clock::now() - begin);
          return;
        }
      }
      const Clock::time_point now = Clock::now();
      if (LeftBehind() || (forming && member.later_than(epoch.number))) {
        left_behind = std::min(left_behind, now);
      }
      const Clock::duration patience =
          forming ? Clock::duration(kOvertaken) : kLastStep + 2 * longest_wait;
      if ((left_behind < now && now - left_behind > patience) || (forming && now - begin > kMeet)) {
        new std::vector<Value>(std::move(*values));
        values->clear();
        gloo.release();
        throw GroupBroken(
            forming ? "a peer does not show who it is"
                    : "a peer that is left out of a later epoch, or stopped, does not come");
      }
    }
  }

  template <typename Value, typename Begin>
  void Run(std::vector<Value>* values, at::ScalarType type, const Begin& begin) {
    if (size == 1 || values->empty()) return;
    Guarded([&] {
      if (!gloo) throw GroupBroken("the group was given up");
      std::vector<at::Tensor> tensors{
          at::from_blob(values->data(), {static_cast<std::int64_t>(values->size())}, type)};
      Wait(begin(tensors), values);
    });
  }

  // Sends each member its part of `parts`, of equal size, over the connection to it, and returns
  // what they sent.
  std::string Exchange(const std::string& parts) {
    std::vector<std::uint8_t> both(parts.begin(), parts.end());
    both.resize(2 * parts.size());
    const auto half = static_cast<std::int64_t>(parts.size());
    at::Tensor sent = at::from_blob(both.data(), {half}, at::kByte);
    at::Tensor received = at::from_blob(both.data() + half, {half}, at::kByte);
    std::vector<std::int64_t> equal;
    Wait(gloo->alltoall_base(received, sent, equal, equal), &both, true);
    return {both.begin() + half, both.end()};
  }

  // What `from` answers to the nonce of `to`.
  std::string ProofOf(int from, int to, std::string_view nonce) const {
    const auto name = [&](int at) { return epoch.members[static_cast<std::size_t>(at)]; };
    return KeyedCode(member.environment().token,
                     fmt::format("allot pair of epoch {}\n{}\n{}\n{}", epoch.number, name(from),
                                 name(to), nonce));
  }

  // Gloo's connections are whoever came first to a port: each is asked for a proof, over itself.
  void ProvePairs() {
    std::string nonces;
    for (int peer = 0; peer < size; ++peer) nonces += NewToken();
    const auto part = [&](std::string_view all, int of) {
      const std::size_t length = all.size() / static_cast<std::size_t>(size);
      return all.substr(length * static_cast<std::size_t>(of), length);
    };
    const std::string asked = Exchange(nonces);
    std::string proofs;
    for (int peer = 0; peer < size; ++peer) {
      proofs += ProofOf(rank, peer, part(asked, peer));
    }
    const std::string shown = Exchange(proofs);
    for (int peer = 0; peer < size; ++peer) {
      if (SameSecret(part(shown, peer), ProofOf(peer, rank, part(nonces, peer)))) continue;
      throw GroupBroken(
          fmt::format("who holds the connection to worker {} does not show that it "
                      "knows the job's token",
                      epoch.members[static_cast<std::size_t>(peer)]));
    }
  }
};

Group::Group(const Member& member, const Epoch& epoch, MeetingPlace& place,
             std::chrono::milliseconds timeout)
    : impl_(std::make_unique<Impl>(member, epoch)) {
  impl_->rank = epoch.rank_of(member.environment().worker);
  impl_->size = static_cast<int>(epoch.members.size());
  if (impl_->size == 1) return;
  Impl::Guarded([&] {
    if (epoch.addresses.size() != epoch.members.size()) {
      throw GroupBroken("members lack addresses");
    }
    const auto forming = std::make_shared<Forming>(member, epoch);
    const auto store = VisitEpochStore(member, epoch, [forming] { forming->Look(); });
    auto options = c10d::ProcessGroupGloo::Options::create(timeout);
    options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname(place.impl_->host));
    options->threads = 1;
    impl_->gloo = forming->Connect(store, options);
    impl_->ProvePairs();
  });
}

Group::~Group() = default;
int Group::rank() const { return impl_->rank; }
int Group::size() const { return impl_->size; }

void Group::Broadcast(std::vector<std::uint8_t>* values) {
  impl_->Run(values, at::kByte, [this](std::vector<at::Tensor>& tensors) {
    return impl_->gloo->broadcast(tensors, c10d::BroadcastOptions());
  });
}

void Group::Sum(std::vector<float>* values) {
  impl_->Run(values, at::kFloat, [this](std::vector<at::Tensor>& tensors) {
    return impl_->gloo->allreduce(tensors, c10d::AllreduceOptions());
  });
}

void Group::HandOn(std::span<const StateBlock> blocks, std::span<const int> ranks) {
  std::vector<std::string> hosts;
  for (const int of : ranks) hosts.push_back(impl_->HostOf(of));
  Impl::Guarded([&] {
    const StatePass pass{impl_->gloo, [this] { return impl_->LeftBehind(); }, kLastStep};
    pass.Run(blocks, RouteOf(impl_->rank, ranks, hosts));
  });
}

}  // namespace allot
