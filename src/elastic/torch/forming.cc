#include "elastic/torch/forming.h"

#include <algorithm>
#include <future>
#include <thread>
#include <utility>

#include "elastic/torch/group.h"
#include "elastic/torch/meeting_store.h"

namespace allot {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kFormingCheckEvery{100};

}  // namespace

Forming::Forming(const Member& member, const Epoch& epoch)
    : member_(member),
      number_(epoch.number),
      rank_(epoch.rank_of(member.environment().worker)),
      size_(static_cast<int>(epoch.members.size())) {}

void Forming::Check() const {
  const std::lock_guard lock(mutex_);
  if (abandoned_) throw GroupBroken("the group is not needed any more");
  CheckEpoch(member_, number_);
}

Forming::Gloo Forming::Connect(const c10::intrusive_ptr<c10d::Store>& store,
                               const Options& options) {
  std::packaged_task<Gloo()> connect([store, options, rank = rank_, size = size_] {
    return c10::make_intrusive<c10d::ProcessGroupGloo>(store, rank, size, options);
  });
  std::future<Gloo> group = connect.get_future();
  std::thread(std::move(connect)).detach();
  Clock::time_point overtaken = Clock::time_point::max();
  while (group.wait_for(kFormingCheckEvery) != std::future_status::ready) {
    const Clock::time_point now = Clock::now();
    if (member_.stopping() || member_.later_than(number_)) overtaken = std::min(overtaken, now);
    if (overtaken > now || now - overtaken <= kOvertaken) continue;
    const std::lock_guard lock(mutex_);
    abandoned_ = true;
    throw GroupBroken("overtaken by a later epoch, and a peer does not connect");
  }
  return group.get();
}

}  // namespace allot
