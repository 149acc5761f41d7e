#include "live/runtimes/slurm/hub_address.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "core/error.h"
#include "live/workers/listen.h"

namespace allot {
namespace {

using Addresses = std::vector<std::string>;

TEST(HubAddress, OneNeedsNoPort) {
  EXPECT_EQ(HubAddresses("127.0.0.1"), Addresses{"tcp:127.0.0.1:0"});
  EXPECT_EQ(HubAddresses("127.0.0.1:7"), Addresses{"tcp:127.0.0.1:7"});
}

TEST(HubAddress, OfSeveralEachHasAPort) {
  EXPECT_EQ(HubAddresses("127.0.0.1:7|127.0.0.2:8"),
            (Addresses{"tcp:127.0.0.1:7", "tcp:127.0.0.2:8"}));
  for (const char* wrong : {"127.0.0.1|127.0.0.2:8", "127.0.0.1:7|127.0.0.2:0", "127.0.0.1:x",
                            "127.0.0.1:70000", "no such name:7", ""}) {
    EXPECT_THROW((void)HubAddresses(wrong), Error) << wrong;
  }
}

TEST(HubAddress, WhatAnotherListensAtIsPassedOver) {
  std::string taken;
  const int other = Listen("tcp:127.0.0.1:0", &taken);
  EXPECT_EQ(FirstFreeAddress({taken, "tcp:127.0.0.1:0"}), "tcp:127.0.0.1:0");
  try {
    (void)FirstFreeAddress({taken}, 0);
    ADD_FAILURE() << "it is taken";
  } catch (const Error& error) {
    const std::string holder = fmt::format("in use by process {} (", ::getpid());
    EXPECT_NE(std::string(error.what()).find(holder), std::string::npos) << error.what();
  }
  ::close(other);
  EXPECT_EQ(FirstFreeAddress({taken, "tcp:127.0.0.1:0"}), taken);
}

TEST(HubAddress, APortThatBecomesFreeIsWaitedFor) {
  std::string taken;
  const int other = Listen("tcp:127.0.0.1:0", &taken);
  std::thread ends([other] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    ::close(other);
  });
  EXPECT_EQ(FirstFreeAddress({taken}, 3600), taken);
  ends.join();
}

TEST(HubAddress, WorkersAreToldOursFirst) {
  const Addresses both{"tcp:a:1", "tcp:b:2"};
  EXPECT_EQ(DaemonVariable("tcp:b:2", both), "tcp:b:2,tcp:a:1");
  EXPECT_EQ(DaemonVariable("tcp:a:5", {"tcp:a:0"}), "tcp:a:5");
}

}  // namespace
}  // namespace allot
