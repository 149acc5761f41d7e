#include "elastic/torch/group.h"

#include <ATen/ops/from_blob.h>
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <thread>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "auth/secret.h"
#include "core/strings.h"

namespace allot {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kMeet{20};  // for a peer that starts slowly
// For the last step with a peer that leaves: so long, and twice what a step waited before.
constexpr std::chrono::seconds kLastStep{5};
constexpr std::chrono::milliseconds kLook{500};
// PassOn: large enough that a piece costs more than its announcement, small enough that the next
// member begins early.
constexpr std::size_t kPiece = 4 << 20;
constexpr std::size_t kAhead = 4;  // pieces on their way to, and from, a peer

c10::intrusive_ptr<c10d::TCPStore> OpenStore(const std::string& host, std::uint16_t port,
                                             bool serve) {
  c10d::TCPStoreOptions options;
  options.port = port;
  options.isServer = serve;
  options.waitWorkers = false;
  options.timeout = kMeet;
  return c10::make_intrusive<c10d::TCPStore>(host, options);
}

// libtorch writes to peers that may have died since: that is to be an error, not the end of this
// process too. A handler that the program has set stays.
void SurviveBrokenPipes() {
  struct sigaction present {};
  sigaction(SIGPIPE, nullptr, &present);
  if (present.sa_handler == SIG_DFL) std::signal(SIGPIPE, SIG_IGN);
}

bool AllKnow(const Epoch& epoch, int version) {
  return std::all_of(
      epoch.addresses.begin(), epoch.addresses.end(), [&](const std::string& address) {
        // One that has not joined the present daemon has none there.
        const std::size_t at = address.rfind('/');
        return address.empty() ||
               (at != std::string::npos && ParseInteger(address.substr(at + 1)) >= version);
      });
}

// A store accepts every connection, but who does not know the prefix can neither read nor write the
// keys of this group. It follows from the token and is not it: rank 0's port may be somebody else's
// by now. Only workers of earlier versions begin keys with the token itself.
std::string PrefixOf(const std::string& token, const Epoch& epoch) {
  const bool derived = AllKnow(epoch, MeetingPlace::kDerives);
  const std::string text = fmt::format("allot store of epoch {}", epoch.number);
  return derived ? KeyedCode(token, text) : fmt::format("{}/{}", token, epoch.number);
}

// Passes everything on, but waits in small steps, so that a member that waits for peers that never
// come hears of the epoch that left them out.
class OvertakenStore : public c10d::Store {
 public:
  OvertakenStore(c10::intrusive_ptr<c10d::Store> store, const Member& member, std::int64_t epoch)
      : store_(std::move(store)), member_(member), epoch_(epoch) {
    timeout_ = kMeet;
  }

  void set(const std::string& key, const std::vector<std::uint8_t>& value) override {
    store_->set(key, value);
  }
  std::vector<std::uint8_t> get(const std::string& key) override {
    wait({key}, timeout_);
    return store_->get(key);
  }
  std::int64_t add(const std::string& key, std::int64_t value) override {
    return store_->add(key, value);
  }
  bool deleteKey(const std::string& key) override { return store_->deleteKey(key); }
  bool check(const std::vector<std::string>& keys) override { return store_->check(keys); }
  std::int64_t getNumKeys() override { return store_->getNumKeys(); }
  void wait(const std::vector<std::string>& keys) override { wait(keys, timeout_); }
  void wait(const std::vector<std::string>& keys,
            const std::chrono::milliseconds& timeout) override {
    const auto deadline = Clock::now() + std::min(timeout, timeout_);
    while (!store_->check(keys)) {
      if (member_.later_than(epoch_)) throw GroupBroken("overtaken by a later epoch");
      if (member_.stopping()) throw GroupBroken("told to stop");
      if (Clock::now() > deadline) throw GroupBroken("a peer never came");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

 private:
  c10::intrusive_ptr<c10d::Store> store_;
  const Member& member_;
  std::int64_t epoch_;
};

}  // namespace

struct MeetingPlace::Impl {
  c10::intrusive_ptr<c10d::TCPStore> store = OpenStore("127.0.0.1", 0, true);
};

MeetingPlace::MeetingPlace() {
  SurviveBrokenPipes();
  impl_ = std::make_unique<Impl>();
}
MeetingPlace::~MeetingPlace() = default;
std::string MeetingPlace::address(const std::string& host) const {
  return fmt::format("{}:{}/{}", host, impl_->store->getPort(), kPassesOn);
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

  // Gloo now and then misses that a peer has died (1 in 300 kills) and waits for its timeout, which
  // is long. So whoever waits looks up: where a peer is left out of a later epoch and still does
  // not come, the group is given up. What gloo then holds on to, a thread of its own among it,
  // nobody can end: it is left to it.
  template <typename Value>
  void Wait(const c10::intrusive_ptr<c10d::Work>& work, std::vector<Value>* values) {
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
      if (LeftBehind()) left_behind = std::min(left_behind, now);
      if (left_behind < now && now - left_behind > kLastStep + 2 * longest_wait) {
        new std::vector<Value>(std::move(*values));
        values->clear();
        gloo.release();
        throw GroupBroken("a peer that is left out of a later epoch, or stopped, does not come");
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
};

// Messages between two members, of which this thread waits for one. As Impl::Wait it does not wait
// for a peer that is left behind; but c10d breaks all connections where such a wait ends by its
// limit, so another thread looks.
class Group::Transfer {
 public:
  explicit Transfer(const Impl& group) : group_(group) {}
  ~Transfer() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  void Wait(const c10::intrusive_ptr<c10d::Work>& work) {
    {
      const std::lock_guard lock(mutex_);
      at_hand_ = work;
      begin_ = Clock::now();
    }
    const bool done = work->wait();
    const std::lock_guard lock(mutex_);
    at_hand_.reset();
    if (!done) throw GroupBroken("a peer that is left out of a later epoch, or stopped, is silent");
  }

 private:
  void Look() {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, kLook, [this] { return over_; })) {
      if (at_hand_ && Clock::now() - begin_ > kLastStep && group_.LeftBehind()) at_hand_->abort();
    }
  }

  const Impl& group_;
  std::mutex mutex_;
  std::condition_variable changed_;
  c10::intrusive_ptr<c10d::Work> at_hand_;
  Clock::time_point begin_;
  bool over_ = false;
  std::thread thread_{[this] { Look(); }};
};

Group::Group(const Member& member, const Epoch& epoch, MeetingPlace& place,
             std::chrono::milliseconds timeout)
    : impl_(std::make_unique<Impl>(member, epoch)) {
  impl_->rank = epoch.rank_of(member.environment().worker);
  impl_->size = static_cast<int>(epoch.members.size());
  if (impl_->size == 1) return;
  Impl::Guarded([&] {
    const auto address_of = [&](int rank) -> const std::string& {
      if (epoch.addresses.size() != epoch.members.size())
        throw GroupBroken("members lack addresses");
      return epoch.addresses[static_cast<std::size_t>(rank)];
    };
    const auto host_of = [](const std::string& address) {
      return address.substr(0, address.rfind(':'));
    };
    c10::intrusive_ptr<c10d::Store> store = place.impl_->store;
    if (impl_->rank != 0) {
      const std::string& first = address_of(0);
      const int port = std::stoi(first.substr(first.rfind(':') + 1));  // up to the '/'
      store = OpenStore(host_of(first), static_cast<std::uint16_t>(port), false);
    }
    const std::string prefix = PrefixOf(member.environment().token, epoch);
    auto options = c10d::ProcessGroupGloo::Options::create(timeout);
    options->devices.push_back(
        c10d::ProcessGroupGloo::createDeviceForHostname(host_of(address_of(impl_->rank))));
    options->threads = 1;
    impl_->gloo = c10::make_intrusive<c10d::ProcessGroupGloo>(
        c10::make_intrusive<OvertakenStore>(c10::make_intrusive<c10d::PrefixStore>(prefix, store),
                                            member, epoch.number),
        impl_->rank, impl_->size, options);
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

bool Group::all_pass_on() const { return AllKnow(impl_->epoch, MeetingPlace::kPassesOn); }

void Group::PassOn(std::span<const StateBlock> blocks, int from, int to) {
  std::vector<at::Tensor> pieces;
  for (const StateBlock& block : blocks) {
    auto* at = static_cast<std::uint8_t*>(block.data);
    for (std::size_t begin = 0; begin < block.bytes; begin += kPiece) {
      const std::size_t size = std::min(kPiece, block.bytes - begin);
      pieces.push_back(at::from_blob(at + begin, {static_cast<std::int64_t>(size)}, at::kByte));
    }
  }
  Impl::Guarded([&] {
    using Works = std::deque<c10::intrusive_ptr<c10d::Work>>;
    Works coming, leaving;
    Transfer transfer(*impl_);
    const auto wait_for_first = [&](Works* works) {
      transfer.Wait(works->front());
      works->pop_front();
    };
    std::size_t asked = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      for (; from >= 0 && asked < std::min(pieces.size(), i + kAhead); ++asked) {
        std::vector<at::Tensor> piece{pieces[asked]};
        coming.push_back(impl_->gloo->recv(piece, from, static_cast<int>(asked)));
      }
      if (from >= 0) wait_for_first(&coming);
      if (to < 0) continue;
      std::vector<at::Tensor> piece{pieces[i]};
      leaving.push_back(impl_->gloo->send(piece, to, static_cast<int>(i)));
      if (leaving.size() == kAhead) wait_for_first(&leaving);
    }
    while (!leaving.empty()) wait_for_first(&leaving);
  });
}

}  // namespace allot
