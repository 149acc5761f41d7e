#include "elastic/peer_memory.h"

#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

#include "auth/secret.h"
#include "core/error.h"

namespace allot {
namespace {

// The beginning of an offer; the blocks follow.
struct OfferHead {
  std::int64_t process;
  std::uint64_t secret_at;
  std::array<char, 32> secret;
};
struct OfferedBlock {
  std::uint64_t at;
  std::uint64_t bytes;
};

// Moves through blocks as through one piece of memory.
class Through {
 public:
  explicit Through(std::span<const StateBlock> blocks) : blocks_(blocks) { SkipEmpty(); }
  bool over() const { return blocks_.empty(); }
  iovec rest() const {
    return {static_cast<char*>(blocks_.front().data) + done_, blocks_.front().bytes - done_};
  }
  void Advance(std::size_t bytes) {
    done_ += bytes;
    SkipEmpty();
  }

 private:
  void SkipEmpty() {
    while (!blocks_.empty() && done_ == blocks_.front().bytes) {
      blocks_ = blocks_.subspan(1);
      done_ = 0;
    }
  }

  std::span<const StateBlock> blocks_;
  std::size_t done_ = 0;
};

bool Copy(pid_t process, std::span<const StateBlock> from, std::span<const StateBlock> into) {
  Through source(from), target(into);
  while (!target.over()) {
    const iovec there = source.rest(), here = target.rest();
    const ssize_t got = process_vm_readv(process, &here, 1, &there, 1, 0);
    if (got <= 0) return false;
    source.Advance(static_cast<std::size_t>(got));
    target.Advance(static_cast<std::size_t>(got));
  }
  return true;
}

}  // namespace

OfferedMemory::OfferedMemory(std::span<const StateBlock> blocks)
    : blocks_(blocks.begin(), blocks.end()) {
  const std::string token = NewToken();
  std::copy(token.begin(), token.end(), secret_.begin());
  ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);  // fails without Yama, where it is not needed
}

OfferedMemory::~OfferedMemory() { ::prctl(PR_SET_PTRACER, 0); }

std::vector<std::uint8_t> OfferedMemory::offer() const {
  const OfferHead head{::getpid(), reinterpret_cast<std::uint64_t>(secret_.data()), secret_};
  std::vector<std::uint8_t> offer(sizeof head + blocks_.size() * sizeof(OfferedBlock));
  std::memcpy(offer.data(), &head, sizeof head);
  std::uint8_t* at = offer.data() + sizeof head;
  for (const StateBlock& block : blocks_) {
    const OfferedBlock offered{reinterpret_cast<std::uint64_t>(block.data), block.bytes};
    std::memcpy(at, &offered, sizeof offered);
    at += sizeof offered;
  }
  return offer;
}

bool ReadOfferedMemory(std::span<const std::uint8_t> offer, std::span<const StateBlock> into) {
  OfferHead head{};
  if (offer.size() < sizeof head || (offer.size() - sizeof head) % sizeof(OfferedBlock) != 0) {
    throw RunError("an offer of memory must have {} bytes and {} a block, got {}", sizeof head,
                   sizeof(OfferedBlock), offer.size());
  }
  std::memcpy(&head, offer.data(), sizeof head);
  std::vector<StateBlock> from;
  for (std::size_t at = sizeof head; at < offer.size(); at += sizeof(OfferedBlock)) {
    OfferedBlock block{};
    std::memcpy(&block, offer.data() + at, sizeof block);
    from.push_back({reinterpret_cast<void*>(block.at), block.bytes});
  }
  if (SizeOf(from) != SizeOf(into)) {
    throw RunError("an offer of memory must be of {} bytes, as the state is, got {}", SizeOf(into),
                   SizeOf(from));
  }
  // The process of that number may be another one: in another container, or started since.
  std::array<char, 32> secret{};
  const auto process = static_cast<pid_t>(head.process);
  const StateBlock there{reinterpret_cast<void*>(head.secret_at), secret.size()};
  const StateBlock here{secret.data(), secret.size()};
  if (!Copy(process, {&there, 1}, {&here, 1}) || secret != head.secret) return false;
  return Copy(process, from, into);
}

}  // namespace allot
