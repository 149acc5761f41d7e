#include "live/daemon/control_server.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <thread>

#include "core/error.h"
#include "core/user_name.h"
#include "live/status/status_json.h"
#include "tests/unit/core/temp_folder.h"

namespace allot {
namespace {

// Of many jobs.
TEST(ControlServer, AStatusThatWasDroppedIsMadeAnewForWhoAsks) {
  const testing_support::TempFolder folder;
  const std::string path = (folder / "control.sock").string();
  std::atomic<int> woken = 0;
  ControlServer server(path, [&woken] { ++woken; });
  server.PublishStatus(WriteStatus({.now = 7}));
  EXPECT_EQ(AskStatus({path}).now, 7);
  EXPECT_EQ(woken, 0);
  server.DropStatus();
  EXPECT_FALSE(server.status_wanted());
  auto answer = std::async(std::launch::async, [&path] { return AskStatus({path}); });
  while (!server.status_wanted()) std::this_thread::yield();
  server.PublishStatus(WriteStatus({.now = 8}));
  EXPECT_EQ(answer.get().now, 8);
  EXPECT_EQ(woken, 1);
}

// "": a status.
std::string ComplaintOf(const std::string& path) {
  try {
    AskStatus({path});
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
      path, [&woken] { ++woken; }, std::chrono::milliseconds(20));
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
  auto server = std::make_unique<ControlServer>(path);
  server->DropStatus();
  auto answer = std::async(std::launch::async, [&path] { return ComplaintOf(path); });
  while (!server->status_wanted()) std::this_thread::yield();
  server.reset();
  EXPECT_EQ(answer.get(), "the daemon ends");
}

TEST(ControlServer, TheDaemonLearnsWhoAsks) {
  const testing_support::TempFolder folder;
  const std::string path = (folder / "control.sock").string();
  std::promise<void> woken;
  ControlServer server(path, [&woken] { woken.set_value(); });
  auto reply = std::async(std::launch::async,
                          [&path] { return AskDaemon({path}, {ControlAction::kPause}); });
  woken.get_future().wait();
  std::string by;
  server.Serve([&by](const ControlRequest& request) {
    by = request.by.value();
    return ControlReply{request.action};
  });
  EXPECT_EQ(reply.get().done, ControlAction::kPause);
  EXPECT_EQ(by, fmt::format("{} (uid {})", UserName(::geteuid()), ::geteuid()));
}

TEST(ControlServer, ARequestThatIsAnsweredBusyIsNeverCarriedOut) {
  const testing_support::TempFolder folder;
  const std::string path = (folder / "control.sock").string();
  ControlServer server(path, {}, std::chrono::milliseconds(20));
  try {
    AskDaemon({path}, {ControlAction::kCancel, "j"});
    FAIL() << "nobody serves";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "the daemon is busy: its runtime does not answer; nothing was changed");
  }
  server.Serve([](const ControlRequest& request) {
    ADD_FAILURE() << "it was withdrawn";
    return ControlReply{request.action};
  });
}

TEST(ControlServer, TheFirstSocketThatAnswersIsAsked) {
  const testing_support::TempFolder folder;
  const std::string path = (folder / "control.sock").string();
  const std::string none = (folder / "none.sock").string();
  ControlServer server(path);
  server.PublishStatus(WriteStatus({.now = 7}));
  EXPECT_EQ(AskStatus({none, path}).now, 7);
  try {
    AskStatus({none, none + "2"});
    FAIL() << "nobody answers";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(none + "' (No such file or directory), '" + none),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace allot
