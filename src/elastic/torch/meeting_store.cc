#include "elastic/torch/meeting_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <utility>

#include "auth/secret.h"
#include "core/error.h"
#include "core/strings.h"
#include "elastic/epoch_store_visit.h"
#include "elastic/torch/group.h"

namespace allot {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTryAgain{10};

// Rank 0's, from "HOST:PORT/5" as the daemon told it.
StorePlace FirstOf(const Epoch& epoch) {
  const std::string& text = epoch.addresses.front();
  const std::size_t colon = text.rfind(':');
  const std::size_t slash = text.find('/', colon == std::string::npos ? 0 : colon);
  const auto port = colon == std::string::npos
                        ? std::nullopt
                        : ParseInteger(text.substr(colon + 1, slash - colon - 1));
  if (!port || *port < 1 || *port > std::numeric_limits<std::uint16_t>::max()) {
    throw RunError("a member's address must be HOST:PORT/VERSION, got '{}'", text);
  }
  return {text.substr(0, colon), static_cast<std::uint16_t>(*port), epoch.members.front()};
}

// What gloo asks of a store: to set, and to get what others set. c10d's other words are not said.
class VisitStore : public c10d::Store {
 public:
  VisitStore(const Member& member, const Epoch& epoch, std::function<void()> look)
      : visit_(member.environment().job, member.environment().worker, member.environment().token,
               epoch.number, FirstOf(epoch), std::move(look)) {
    timeout_ = kMeet;
  }

  void set(const std::string& key, const std::vector<std::uint8_t>& value) override {
    visit_.Set(key, value);
  }
  std::vector<std::uint8_t> get(const std::string& key) override {
    return visit_.Get(key, timeout_);
  }
  void wait(const std::vector<std::string>& keys) override { wait(keys, timeout_); }
  void wait(const std::vector<std::string>& keys,
            const std::chrono::milliseconds& timeout) override {
    for (const std::string& key : keys) visit_.Get(key, std::min(timeout, timeout_));
  }

  std::int64_t add(const std::string&, std::int64_t) override { NotKnown("add"); }
  bool deleteKey(const std::string&) override { NotKnown("deleteKey"); }
  bool check(const std::vector<std::string>&) override { NotKnown("check"); }
  std::int64_t getNumKeys() override { NotKnown("getNumKeys"); }

 private:
  [[noreturn]] static void NotKnown(const char* what) {
    throw RunError("the store of an epoch knows set, get and wait, got '{}'", what);
  }

  EpochStoreVisit visit_;
};

// Passes everything on, but waits in small steps, so that a member that waits for peers that never
// come hears of the epoch that left them out.
class OvertakenStore : public c10d::Store {
 public:
  OvertakenStore(c10::intrusive_ptr<c10d::Store> store, std::function<void()> look)
      : store_(std::move(store)), look_(std::move(look)) {
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
      look_();
      if (Clock::now() > deadline) throw GroupBroken("a peer never came");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

 private:
  c10::intrusive_ptr<c10d::Store> store_;
  std::function<void()> look_;
};

c10::intrusive_ptr<c10d::Store> OpenTcpStore(const std::string& host, std::uint16_t port,
                                             bool serve) {
  c10d::TCPStoreOptions options;
  options.port = port;
  options.isServer = serve;
  options.waitWorkers = false;
  options.timeout = kMeet;
  return c10::make_intrusive<c10d::TCPStore>(host, options);
}

}  // namespace

bool AllKnow(const Epoch& epoch, int version) {
  return std::all_of(
      epoch.addresses.begin(), epoch.addresses.end(), [&](const std::string& address) {
        // One that has not joined the present daemon has none there.
        const std::size_t at = address.rfind('/');
        return address.empty() ||
               (at != std::string::npos && ParseInteger(address.substr(at + 1)) >= version);
      });
}

void LookUp(const Member& member, std::int64_t epoch) {
  if (member.later_than(epoch)) throw GroupBroken("overtaken by a later epoch");
  if (member.stopping()) throw GroupBroken("told to stop");
}

c10::intrusive_ptr<c10d::Store> VisitEpochStore(const Member& member, const Epoch& epoch,
                                                std::function<void()> look) {
  return c10::make_intrusive<VisitStore>(member, epoch, std::move(look));
}

c10::intrusive_ptr<c10d::Store> OfferTcpStore(std::uint16_t port) {
  return OpenTcpStore("127.0.0.1", port, true);
}

c10::intrusive_ptr<c10d::Store> VisitTcpStore(const Member& member, const Epoch& epoch,
                                              const std::function<void()>& look) {
  const StorePlace first = FirstOf(epoch);
  const auto deadline = Clock::now() + kMeet;
  const WorkerEnvironment& own = member.environment();
  // Rank 0 has not heard of the epoch yet. A client of TCPStore that is cut off ends the process.
  while (EpochStoreVisit(own.job, own.worker, own.token, epoch.number, first, look).Answers()) {
    if (Clock::now() > deadline) throw GroupBroken("a peer never came");
    std::this_thread::sleep_for(kTryAgain);
  }
  for (;;) {
    try {
      auto store = OpenTcpStore(first.host, first.port, false);
      store->check({"answers"});
      return store;
    } catch (const std::exception&) {
      look();
      if (Clock::now() > deadline) throw;
      std::this_thread::sleep_for(kTryAgain);
    }
  }
}

// Of an earlier version still, keys begin with the token itself.
c10::intrusive_ptr<c10d::Store> PrefixTcpStore(const Member& member, const Epoch& epoch,
                                               std::function<void()> look,
                                               c10::intrusive_ptr<c10d::Store> store) {
  const std::string& token = member.environment().token;
  const bool derived = AllKnow(epoch, MeetingPlace::kDerives);
  const std::string prefix =
      derived ? KeyedCode(token, fmt::format("allot store of epoch {}", epoch.number))
              : fmt::format("{}/{}", token, epoch.number);
  return c10::make_intrusive<OvertakenStore>(
      c10::make_intrusive<c10d::PrefixStore>(prefix, std::move(store)), std::move(look));
}

}  // namespace allot
