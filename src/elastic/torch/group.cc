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

// The last step with a peer that leaves may take so long, plus twice the longest step before.
constexpr std::chrono::seconds kLastStep{5};
constexpr std::chrono::milliseconds kWorkCheckEvery{500};

// libtorch writes to peers that may have died: that must be an error and not end this process. A
// handler that the program has set stays.
void IgnoreBrokenPipes() {
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
  IgnoreBrokenPipes();
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

  // libtorch throws many types; each of them means that the group is broken.
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

  // Gloo sometimes misses that a peer has died (1 in 300 kills) and waits for its long timeout. So
  // this function checks meanwhile, and gives the group up if a peer that is not in a later epoch
  // still does not answer. Gloo's thread, and the memory that it uses, cannot be freed then; both
  // are leaked on purpose.
  template <typename Value>
  void Wait(const c10::intrusive_ptr<c10d::Work>& work, std::vector<Value>* values,
            bool forming = false) {
    const Clock::time_point begin = Clock::now();
    Clock::time_point left_behind = Clock::time_point::max();
    for (;;) {
      try {
        work->wait(kWorkCheckEvery);
        longest_wait = std::max(longest_wait, Clock::now() - begin);
        return;
      } catch (const std::exception&) {
        // If the work has completed since, its result counts and not the time-out.
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
            forming ? "a peer does not prove that it knows the job's token"
                    : "a peer that is not in the latest epoch, or was stopped, does not answer");
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

  // The answer of `from` to the nonce of `to`.
  std::string ProofOf(int from, int to, std::string_view nonce) const {
    const auto name = [&](int at) { return epoch.members[static_cast<std::size_t>(at)]; };
    return KeyedCode(member.environment().token,
                     fmt::format("allot pair of epoch {}\n{}\n{}\n{}", epoch.number, name(from),
                                 name(to), nonce));
  }

  // Any program may have connected to gloo's ports first, so each connection must carry a proof.
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
          fmt::format("the peer on the connection to worker {} does not prove that it knows the "
                      "job's token",
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
    const auto store = VisitEpochStore(member, epoch, [forming] { forming->Check(); });
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

void Group::PassState(std::span<const StateBlock> blocks, std::span<const int> ranks) {
  std::vector<std::string> hosts;
  for (const int of : ranks) hosts.push_back(impl_->HostOf(of));
  Impl::Guarded([&] {
    const StatePass pass{impl_->gloo, [this] { return impl_->LeftBehind(); }, kLastStep};
    pass.Run(blocks, RouteOf(impl_->rank, ranks, hosts));
  });
}

}  // namespace allot
