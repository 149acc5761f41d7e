#include "elastic/torch/state_pass.h"

#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "elastic/peer_memory.h"
#include "elastic/torch/group.h"

namespace allot {
namespace {

using Clock = std::chrono::steady_clock;
using Work = c10::intrusive_ptr<c10d::Work>;
using Gloo = c10d::ProcessGroupGloo;

// Large enough that a piece costs more than its announcement, small enough that the next member
// begins early.
constexpr std::size_t kPiece = 4 << 20;
constexpr std::size_t kAhead = 4;  // pieces in flight to, and from, a peer
constexpr std::chrono::milliseconds kPassCheckEvery{500};
constexpr std::chrono::hours kUnlimited{24};
// Pieces are tagged with their numbers, which are smaller than these.
constexpr int kOfferTag = 1 << 30;
constexpr int kTakenTag = kOfferTag + 1;

// Waits for one message at a time. c10d breaks all connections when a wait reaches its limit, so
// another thread checks whether the peer can still answer, and aborts the wait if it cannot.
class Waiting {
 public:
  explicit Waiting(const StatePass& pass) : pass_(pass) {}
  ~Waiting() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  // `limit` is for a silent peer; kNoTimeout stands for the group's limit.
  void WaitFor(const Work& work, std::chrono::milliseconds limit = kNoTimeout) {
    {
      const std::lock_guard lock(mutex_);
      at_hand_ = work;
      begin_ = Clock::now();
    }
    const bool done = work->wait(limit);
    const std::lock_guard lock(mutex_);
    at_hand_.reset();
    if (!done) throw GroupBroken("a peer that is left out of a later epoch, or stopped, is silent");
  }

 private:
  void CheckPeers() {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, kPassCheckEvery, [this] { return over_; })) {
      if (at_hand_ && Clock::now() - begin_ > pass_.patience && pass_.left_behind()) {
        at_hand_->abort();
      }
    }
  }

  const StatePass& pass_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Work at_hand_;
  Clock::time_point begin_;
  bool over_ = false;
  std::thread thread_{[this] { CheckPeers(); }};
};

at::Tensor TensorOf(std::span<std::uint8_t> bytes) {
  return at::from_blob(bytes.data(), {static_cast<std::int64_t>(bytes.size())}, at::kByte);
}

template <typename Value>
std::span<std::uint8_t> BytesOf(Value* value) {
  return {reinterpret_cast<std::uint8_t*>(value), sizeof *value};
}

void WaitForOldest(Waiting& waiting, std::deque<Work>* works) {
  waiting.WaitFor(works->front());
  works->pop_front();
}

void Receive(Gloo& gloo, Waiting& waiting, int from, int tag, std::span<std::uint8_t> bytes,
             std::chrono::milliseconds limit = kNoTimeout) {
  std::vector<at::Tensor> one{TensorOf(bytes)};
  waiting.WaitFor(gloo.recv(one, from, tag), limit);
}

void Send(Gloo& gloo, Waiting& waiting, int to, int tag, std::span<std::uint8_t> bytes) {
  std::vector<at::Tensor> one{TensorOf(bytes)};
  waiting.WaitFor(gloo.send(one, to, tag));
}

std::vector<at::Tensor> PiecesOf(std::span<const StateBlock> blocks) {
  std::vector<at::Tensor> pieces;
  for (const StateBlock& block : blocks) {
    auto* at = static_cast<std::uint8_t*>(block.data);
    for (std::size_t begin = 0; begin < block.bytes; begin += kPiece) {
      pieces.push_back(TensorOf({at + begin, std::min(kPiece, block.bytes - begin)}));
    }
  }
  return pieces;
}

// Receives each piece from `from` (-1: they are here already), and forwards it to `to` (-1: none).
void PassPieces(Gloo& gloo, Waiting& waiting, std::span<const StateBlock> blocks, int from,
                int to) {
  const std::vector<at::Tensor> pieces = PiecesOf(blocks);
  std::deque<Work> coming, leaving;
  std::size_t asked = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    for (; from >= 0 && asked < std::min(pieces.size(), i + kAhead); ++asked) {
      std::vector<at::Tensor> piece{pieces[asked]};
      coming.push_back(gloo.recv(piece, from, static_cast<int>(asked)));
    }
    if (from >= 0) WaitForOldest(waiting, &coming);
    if (to < 0) continue;
    std::vector<at::Tensor> piece{pieces[i]};
    leaving.push_back(gloo.send(piece, to, static_cast<int>(i)));
    if (leaving.size() == kAhead) WaitForOldest(waiting, &leaving);
  }
  while (!leaving.empty()) WaitForOldest(waiting, &leaving);
}

// Reads the memory of `from`, or receives over gloo if this process may not read it.
void ReadFrom(const StatePass& pass, Waiting& waiting, std::span<const StateBlock> blocks,
              int from) {
  Gloo& gloo = *pass.gloo;
  std::uint64_t size = 0;
  // The peer may first have to receive the state itself, over a network.
  Receive(gloo, waiting, from, kOfferTag, BytesOf(&size), kUnlimited);
  std::vector<std::uint8_t> offer(size);
  Receive(gloo, waiting, from, kOfferTag, offer);
  std::uint8_t taken = pass.read(offer, blocks) ? 1 : 0;
  Send(gloo, waiting, from, kTakenTag, BytesOf(&taken));
  if (taken == 0) PassPieces(gloo, waiting, blocks, from, -1);
}

void OfferMemory(Gloo& gloo, Waiting& waiting, std::span<const StateBlock> blocks,
                 const std::vector<int>& readers) {
  if (readers.empty()) return;
  const OfferedMemory memory(blocks);
  std::vector<std::uint8_t> offer = memory.offer();
  std::uint64_t size = offer.size();
  for (const int reader : readers) {
    Send(gloo, waiting, reader, kOfferTag, BytesOf(&size));
    Send(gloo, waiting, reader, kOfferTag, offer);
  }
  for (const int reader : readers) {
    std::uint8_t taken = 0;
    Receive(gloo, waiting, reader, kTakenTag, BytesOf(&taken));
    if (taken == 0) PassPieces(gloo, waiting, blocks, -1, reader);
  }
}

}  // namespace

void StatePass::Run(std::span<const StateBlock> blocks, const StateRoute& route) const {
  Waiting waiting(*this);
  if (route.reads) return ReadFrom(*this, waiting, blocks, route.from);
  // The first member offers its memory before it sends, because reading is fast.
  if (route.from < 0) OfferMemory(*gloo, waiting, blocks, route.readers);
  PassPieces(*gloo, waiting, blocks, route.from, route.to);
  if (route.from >= 0) OfferMemory(*gloo, waiting, blocks, route.readers);
}

}  // namespace allot
