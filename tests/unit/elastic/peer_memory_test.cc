#include "elastic/peer_memory.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

using Bytes = std::vector<std::uint8_t>;

// What `there` returns in another process; exit codes are small numbers.
int InAnotherProcess(const std::function<int()>& there) {
  const pid_t child = fork();
  if (child == 0) _exit(there());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class PeerMemoryTest : public testing::Test {
 protected:
  PeerMemoryTest() { std::iota(large_.begin(), large_.end(), std::uint8_t{1}); }

  Bytes large_ = Bytes(100'000);
  Bytes small_{7, 8, 9};
  std::vector<StateBlock> blocks_{
      {large_.data(), large_.size()}, {nullptr, 0}, {small_.data(), small_.size()}};
};

TEST_F(PeerMemoryTest, AnotherProcessReadsWhatIsOffered) {
  const OfferedMemory offered(blocks_);
  const Bytes offer = offered.offer();
  // As many bytes, in blocks of other sizes; the child's copy of ours is another memory.
  EXPECT_EQ(InAnotherProcess([&] {
              const Bytes wanted = large_;
              Bytes first(10), rest(large_.size() - 7);
              std::memset(large_.data(), 0, large_.size());
              const std::vector<StateBlock> into{{first.data(), first.size()},
                                                 {rest.data(), rest.size()}};
              if (!ReadOfferedMemory(offer, into)) return 1;
              Bytes all = first;
              all.insert(all.end(), rest.begin(), rest.end());
              Bytes expected = wanted;
              expected.insert(expected.end(), {7, 8, 9});
              return all == expected ? 0 : 2;
            }),
            0);
}

TEST_F(PeerMemoryTest, AProcessThatIsGoneIsNotRead) {
  int channel[2];
  ASSERT_EQ(pipe(channel), 0);
  ASSERT_EQ(InAnotherProcess([&] {
              const Bytes offer = OfferedMemory(blocks_).offer();
              return write(channel[1], offer.data(), offer.size()) > 0 ? 0 : 1;
            }),
            0);
  Bytes offer(4096);
  offer.resize(static_cast<std::size_t>(read(channel[0], offer.data(), offer.size())));
  EXPECT_FALSE(ReadOfferedMemory(offer, blocks_));
}

// As of another container, or begun since: nothing of it is taken.
TEST_F(PeerMemoryTest, AnotherProcessOfThatNumberIsNotRead) {
  std::optional<OfferedMemory> offered(blocks_);
  Bytes offer = offered->offer();
  offer[16] ^= 1;  // of the secret
  Bytes into(large_.size() + small_.size(), 0);
  const StateBlock block{into.data(), into.size()};
  EXPECT_FALSE(ReadOfferedMemory(offer, {&block, 1}));
  EXPECT_EQ(into, Bytes(into.size(), 0));
}

TEST_F(PeerMemoryTest, AnotherSizeIsAnError) {
  const OfferedMemory offered(blocks_);
  Bytes into(10);
  const StateBlock block{into.data(), into.size()};
  EXPECT_EQ(ErrorOf(ExitCode::kRunFailed,
                    [&] {
                      ReadOfferedMemory(offered.offer(), {&block, 1});
                    }),
            "an offer of memory must be of 10 bytes, as the state is, got 100003");
}

TEST_F(PeerMemoryTest, AnOfferThatWasCutOffIsAnError) {
  Bytes offer = OfferedMemory(blocks_).offer();
  offer.pop_back();
  EXPECT_THROW(ReadOfferedMemory(offer, blocks_), Error);
}

}  // namespace
}  // namespace allot
