#include "live/daemon/control_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "core/error.h"
#include "core/strings.h"
#include "live/status/status_json.h"
#include "tests/unit/core/temp_folder.h"

namespace allot {
namespace {

int Scraper(const std::string& address) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  ::inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
  const auto port = ParseInteger(address.substr(address.rfind(':') + 1));
  to.sin_port = htons(static_cast<std::uint16_t>(port.value()));
  EXPECT_EQ(::connect(socket, reinterpret_cast<sockaddr*>(&to), sizeof(to)), 0);
  return socket;
}

// Ten that say nothing take longer than a user waits.
TEST(ControlServer, UsersAreAnsweredBesideSilentScrapers) {
  const testing_support::TempFolder folder;
  const std::string path = (folder / "control.sock").string();
  ControlServer server(path, "tcp:127.0.0.1:0");
  server.PublishStatus(WriteStatus({.now = 7}));
  std::vector<int> silent;
  silent.reserve(10);
  for (int i = 0; i < 10; ++i) silent.push_back(Scraper(server.metrics_address()));
  EXPECT_EQ(AskStatus(path).now, 7);
  for (const int socket : silent) ::close(socket);
}

// Of many jobs.
TEST(ControlServer, AStatusThatWasDroppedIsMadeAnewForWhoAsks) {
  const testing_support::TempFolder folder;
  const std::string path = (folder / "control.sock").string();
  std::atomic<int> woken = 0;
  ControlServer server(path, "", [&woken] { ++woken; });
  server.PublishStatus(WriteStatus({.now = 7}));
  EXPECT_EQ(AskStatus(path).now, 7);
  EXPECT_EQ(woken, 0);
  server.DropStatus();
  EXPECT_FALSE(server.status_wanted());
  auto answer = std::async(std::launch::async, [&path] { return AskStatus(path); });
  while (!server.status_wanted()) std::this_thread::yield();
  server.PublishStatus(WriteStatus({.now = 8}));
  EXPECT_EQ(answer.get().now, 8);
  EXPECT_EQ(woken, 1);
}

// "": a status.
std::string ComplaintOf(const std::string& path) {
  try {
    AskStatus(path);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(ControlServer, OnlyTheFirstWaitsForADaemonThatHangs) {
  const testing_support::TempFolder folder;
  const std::string path = (folder / "control.sock").string();
  std::atomic<int> woken = 0;
  ControlServer server(
      path, "", [&woken] { ++woken; }, std::chrono::milliseconds(20));
  server.DropStatus();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(ComplaintOf(path), "the daemon is busy: its runtime does not answer");
  }
  EXPECT_EQ(woken, 1);
  server.DropStatus();  // it goes on
  ComplaintOf(path);
  EXPECT_EQ(woken, 2);
}

TEST(ControlServer, WhoWaitsForAStatusLearnsThatTheDaemonEnds) {
  const testing_support::TempFolder folder;
  const std::string path = (folder / "control.sock").string();
  auto server = std::make_unique<ControlServer>(path, "");
  server->DropStatus();
  auto answer = std::async(std::launch::async, [&path] { return ComplaintOf(path); });
  while (!server->status_wanted()) std::this_thread::yield();
  server.reset();
  EXPECT_EQ(answer.get(), "the daemon ends");
}

}  // namespace
}  // namespace allot
