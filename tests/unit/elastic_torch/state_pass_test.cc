#include "elastic/torch/state_pass.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <latch>
#include <numeric>
#include <string>
#include <thread>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <utility>
#include <vector>

#include "elastic/torch/group.h"

namespace allot {
namespace {

using Gloo = c10::intrusive_ptr<c10d::ProcessGroupGloo>;

constexpr std::size_t kLarge = (21 << 20) + 3;  // more pieces than may be on their way

// Two blocks, so that pieces have several sizes.
struct State {
  std::vector<std::uint8_t> large = std::vector<std::uint8_t>(kLarge);
  std::vector<std::uint8_t> small = std::vector<std::uint8_t>(5);

  std::vector<StateBlock> blocks() {
    return {{large.data(), large.size()}, {small.data(), small.size()}};
  }
  bool operator==(const State&) const = default;
};

State Filled() {
  State state;
  for (std::size_t i = 0; i < kLarge; ++i) state.large[i] = static_cast<std::uint8_t>(i * i >> 7);
  std::iota(state.small.begin(), state.small.end(), std::uint8_t{1});
  return state;
}

// A thread for each member of a group.
void InAGroup(int size, const std::function<void(int rank, const Gloo&)>& member) {
  const auto store = c10::make_intrusive<c10d::HashStore>();
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      auto options = c10d::ProcessGroupGloo::Options::create(std::chrono::seconds(60));
      options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1"));
      options->threads = 1;
      member(rank, c10::make_intrusive<c10d::ProcessGroupGloo>(store, rank, size, options));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// The hosts of four members; threads of one process read each other's memory as processes do.
class StatePassTest : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(StatePassTest, EachMemberHasTheStateOfTheFirst) {
  const std::vector<int> ranks{0, 1, 2, 3};
  const State wanted = Filled();
  std::vector<State> states(ranks.size());
  states[0] = wanted;
  InAGroup(4, [&](int rank, const Gloo& gloo) {
    const StatePass pass{gloo, [] { return false; }, std::chrono::seconds(5)};
    pass.Run(states[static_cast<std::size_t>(rank)].blocks(), RouteOf(rank, ranks, GetParam()));
  });
  for (const State& state : states) EXPECT_EQ(state, wanted);
}

INSTANTIATE_TEST_SUITE_P(Hosts, StatePassTest,
                         testing::Values(std::vector<std::string>{"", "", "", ""},
                                         std::vector<std::string>{"a", "a", "a", "a"},
                                         std::vector<std::string>{"a", "b", "a", "b"},
                                         std::vector<std::string>{"a", "b", "b", "c"}),
                         [](const auto& param_info) {
                           std::string name = "On";
                           for (const std::string& host : param_info.param)
                             name += host.empty() ? "Unknown" : host;
                           return name;
                         });

// As in a container that may not look into another: the state comes over gloo.
TEST(StatePassPeersTest, WhoMayNotReadIsSentTheState) {
  const std::vector<int> ranks{0, 1, 2};
  const std::vector<std::string> hosts{"a", "a", "a"};
  const State wanted = Filled();
  std::vector<State> states(ranks.size());
  states[0] = wanted;
  InAGroup(3, [&](int rank, const Gloo& gloo) {
    StatePass pass{gloo, [] { return false; }, std::chrono::seconds(5)};
    if (rank == 1) pass.read = [](const auto&, const auto&) { return false; };
    pass.Run(states[static_cast<std::size_t>(rank)].blocks(), RouteOf(rank, ranks, hosts));
  });
  for (const State& state : states) EXPECT_EQ(state, wanted);
}

TEST(StatePassPeersTest, OneThatIsLeftBehindIsNotWaitedFor) {
  std::latch through(1);
  InAGroup(2, [&](int rank, const Gloo& gloo) {
    if (rank == 1) return through.wait();  // is there, and says nothing
    State state;
    const StatePass pass{gloo, [] { return true; }, std::chrono::milliseconds(1)};
    const StateRoute route = RouteOf(0, std::vector<int>{1, 0}, std::vector<std::string>{"a", "a"});
    EXPECT_THROW(pass.Run(state.blocks(), route), GroupBroken);
    through.count_down();
  });
}

}  // namespace
}  // namespace allot
