#include "elastic/torch/meeting_store.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/strings.h"
#include "elastic/epoch_store_visit.h"
#include "elastic/torch/group.h"

namespace allot {
namespace {

// Rank 0's store, from the "HOST:PORT" that the daemon sent.
StoreAddress StoreOfRankZero(const Epoch& epoch) {
  const std::string& text = epoch.addresses.front();
  const std::size_t colon = text.rfind(':');
  const auto port =
      colon == std::string::npos ? std::nullopt : ParseInteger(text.substr(colon + 1));
  if (!port || *port < 1 || *port > std::numeric_limits<std::uint16_t>::max()) {
    throw RunError("a member's address must be HOST:PORT, got '{}'", text);
  }
  return {text.substr(0, colon), static_cast<std::uint16_t>(*port), epoch.members.front()};
}

// The calls that gloo makes on a store; c10d's other ones throw.
class VisitStore : public c10d::Store {
 public:
  VisitStore(const Member& member, const Epoch& epoch, std::function<void()> check)
      : visit_(member.environment().job, member.environment().worker, member.environment().token,
               epoch.number, StoreOfRankZero(epoch), std::move(check)) {
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

  std::int64_t add(const std::string&, std::int64_t) override { ThrowUnsupported("add"); }
  bool deleteKey(const std::string&) override { ThrowUnsupported("deleteKey"); }
  bool check(const std::vector<std::string>&) override { ThrowUnsupported("check"); }
  std::int64_t getNumKeys() override { ThrowUnsupported("getNumKeys"); }

 private:
  [[noreturn]] static void ThrowUnsupported(const char* call) {
    throw RunError("the store of an epoch supports set, get and wait, got '{}'", call);
  }

  EpochStoreVisit visit_;
};

}  // namespace

void CheckEpoch(const Member& member, std::int64_t epoch) {
  if (member.later_than(epoch)) throw GroupBroken("overtaken by a later epoch");
  if (member.stopping()) throw GroupBroken("this worker is stopping");
}

c10::intrusive_ptr<c10d::Store> VisitEpochStore(const Member& member, const Epoch& epoch,
                                                std::function<void()> check) {
  return c10::make_intrusive<VisitStore>(member, epoch, std::move(check));
}

}  // namespace allot
