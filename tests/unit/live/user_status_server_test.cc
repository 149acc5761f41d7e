#include "live/daemon/user_status_server.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "core/error.h"
#include "core/user_name.h"
#include "live/daemon/control_server.h"
#include "live/status/status_json.h"
#include "live/status/user_view.h"
#include "tests/unit/core/temp_folder.h"

namespace allot {
namespace {

constexpr uid_t kNobody = 65534;

DaemonStatus StatusOfTwo(const std::string& user) {
  DaemonStatus status;
  status.nodes.push_back({.name = "n1", .gpus = 8, .worker_gpus = 4});
  JobStatus own;
  own.id = own.name = "1";
  own.user = user;
  own.reason = "cooldown";
  JobStatus others;
  others.id = others.name = "2";
  others.title = "secret";
  others.user = "somebody else";
  others.model = "secret";
  others.reason = "secret";
  others.stage = JobStage::kTraining;
  others.allocated_gpus = 4;
  others.nodes = {{"n1", 4}};
  others.loss = 0.5;
  status.jobs = {own, others};
  return status;
}

TEST(UserView, NamesNoJobsThatAccuseNodes) {
  DaemonStatus status = StatusOfTwo("alice");
  status.nodes[0].state = NodeState::kAvoided;
  status.nodes[0].why = "job 2 failed there";
  status.nodes[0].suspicion = {120, {"2"}};
  const NodeStatus node = ViewFor("alice", status).nodes.at(0);
  EXPECT_EQ(node.why, "it fails jobs, or has lost GPUs");
  EXPECT_EQ(node.suspicion->odds, 120);
  EXPECT_TRUE(node.suspicion->jobs.empty());
}

TEST(UserView, ShowsOnesOwnJobsAndOfOthersOnlyHowFullTheClusterIs) {
  const DaemonStatus view = ViewFor("alice", StatusOfTwo("alice"));
  ASSERT_EQ(view.jobs.size(), 2U);
  EXPECT_EQ(view.jobs[0].id, "1");
  EXPECT_EQ(view.jobs[0].reason, "cooldown");
  EXPECT_EQ(view.jobs[1].name, kOthersJob);
  EXPECT_EQ(view.jobs[1].id, "");
  EXPECT_EQ(view.jobs[1].stage, JobStage::kTraining);
  EXPECT_EQ(view.jobs[1].allocated_gpus, 4);
  EXPECT_FALSE(view.jobs[1].loss);
  const std::string text = WriteStatus(view);
  EXPECT_EQ(text.find("secret"), std::string::npos) << text;
  EXPECT_EQ(text.find("somebody else"), std::string::npos) << text;
}

// What the server answers to `request` of user `as`, asked by a process of its own.
std::string AskAs(uid_t as, const std::string& path, const std::string& request) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {  // system calls only: the parent has threads
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size());
    const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
    if (::setresuid(as, as, as) != 0 ||
        ::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0 ||
        ::send(socket, request.data(), request.size(), 0) < 0) {
      ::_exit(1);
    }
    std::array<char, 4096> part;
    for (ssize_t got; (got = ::recv(socket, part.data(), part.size(), 0)) > 0;) {
      if (::write(ends[1], part.data(), std::size_t(got)) != got) ::_exit(1);
    }
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string heard;
  std::array<char, 4096> part;
  for (ssize_t got; (got = ::read(ends[0], part.data(), part.size())) > 0;) {
    heard.append(part.data(), std::size_t(got));
  }
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return heard;
}

class UserStatusServerTest : public testing::Test {
 protected:
  UserStatusServerTest() {
    ::chmod(folder_.path().c_str(), 0755);
    server_.emplace(folder_ / "users.sock");
  }
  // As the daemon: what is wanted is published.
  std::string AnswerTo(uid_t as, const std::string& request, const DaemonStatus& status) {
    std::string heard;
    std::atomic<bool> over = false;
    std::thread asker([&] {
      heard = AskAs(as, (folder_ / "users.sock").string(), request);
      over = true;
    });
    while (!over) {
      if (server_->wanted()) server_->Publish(std::make_shared<DaemonStatus>(status));
      std::this_thread::yield();
    }
    asker.join();
    return heard;
  }
  testing_support::TempFolder folder_;
  std::optional<UserStatusServer> server_;
};

TEST_F(UserStatusServerTest, AnotherUserGetsTheirOwnView) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root becomes another user";
  const DaemonStatus status = StatusOfTwo(UserName(kNobody));
  const DaemonStatus seen =
      ReadStatus(AnswerTo(kNobody, WriteRequest({ControlAction::kStatus}) + "\n", status));
  ASSERT_EQ(seen.jobs.size(), 2U);
  EXPECT_EQ(seen.jobs[0].id, "1");
  EXPECT_EQ(seen.jobs[1].name, kOthersJob);
}

TEST_F(UserStatusServerTest, TheDaemonsUserGetsTheWhole) {
  const DaemonStatus seen = ReadStatus(
      AnswerTo(::geteuid(), WriteRequest({ControlAction::kStatus}) + "\n", StatusOfTwo("alice")));
  ASSERT_EQ(seen.jobs.size(), 2U);
  EXPECT_EQ(seen.jobs[1].title, "secret");
}

TEST_F(UserStatusServerTest, ChangesNothing) {
  for (const ControlRequest& request :
       {ControlRequest{ControlAction::kPause}, ControlRequest{ControlAction::kCancel, "1"}}) {
    EXPECT_EQ(AnswerTo(::geteuid(), WriteRequest(request) + "\n", {}),
              R"({"error":"only the daemon's user may ask for this; other users may ask for the )"
              "status and for quotes\"}\n");
  }
}

// Answers in a thread of its own, as the one beside a daemon does.
class OneQuote : public QuoteSource {
 public:
  void Ask(const QuoteRequest& request, const std::string& user,
           std::function<void(QuoteAnswer)> answer) override {
    if (thread_.joinable()) thread_.join();
    thread_ = std::thread([request, user, answer = std::move(answer)] {
      Quote quote{.gpus = request.gpus, .running = {{user, 1, 2}, {"bob", 3, 4}, {"cat", 1, 1}}};
      answer({std::move(quote)});
    });
  }
  ~OneQuote() override { thread_.join(); }

 private:
  std::thread thread_;
};

TEST_F(UserStatusServerTest, QuotesWithoutNamesOfOthers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root becomes another user";
  ControlRequest request{ControlAction::kQuote};
  request.quote = {.gpus = 7};
  const std::string line = WriteRequest(request) + "\n";
  EXPECT_NE(AnswerTo(kNobody, line, {}).find("makes no quotes"), std::string::npos);
  const auto quotes = std::make_shared<OneQuote>();
  server_->SetQuotes(quotes);
  const Quote seen = ReadQuote(AnswerTo(kNobody, line, {}));
  EXPECT_EQ(seen.gpus, 7);
  ASSERT_EQ(seen.running.size(), 2U);
  EXPECT_EQ(seen.running[0].user, UserName(kNobody));
  EXPECT_EQ(seen.running[1].user, kOthersJob);
  EXPECT_EQ(seen.running[1].jobs, 4);
  EXPECT_EQ(seen.running[1].gpus, 5);
  EXPECT_EQ(ReadQuote(AnswerTo(::geteuid(), line, {})).running.size(), 3U) << "the daemon's user";
}

}  // namespace
}  // namespace allot
