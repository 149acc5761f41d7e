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

// Rank 0's, from "HOST:PORT" as the daemon told it.
StorePlace FirstOf(const Epoch& epoch) {
  const std::string& text = epoch.addresses.front();
  const std::size_t colon = text.rfind(':');
  const auto port =
      colon == std::string::npos ? std::nullopt : ParseInteger(text.substr(colon + 1));
  if (!port || *port < 1 || *port > std::numeric_limits<std::uint16_t>::max()) {
    throw RunError("a member's address must be HOST:PORT, got '{}'", text);
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

}  // namespace

void LookUp(const Member& member, std::int64_t epoch) {
  if (member.later_than(epoch)) throw GroupBroken("overtaken by a later epoch");
  if (member.stopping()) throw GroupBroken("told to stop");
}

c10::intrusive_ptr<c10d::Store> VisitEpochStore(const Member& member, const Epoch& epoch,
                                                std::function<void()> look) {
  return c10::make_intrusive<VisitStore>(member, epoch, std::move(look));
}

}  // namespace allot
