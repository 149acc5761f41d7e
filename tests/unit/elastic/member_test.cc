// Whom a worker obeys, and whom not: docs/formats/worker_protocol.md from the worker's side.

#include "elastic/member.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "auth/line_session.h"
#include "auth/secret.h"
#include "core/error.h"
#include "tests/unit/core/temp_folder.h"

namespace allot {
namespace {

using Json = nlohmann::json;
using namespace std::chrono_literals;

constexpr const char* kJobToken = "token-of-the-job";
constexpr int kLongMilliseconds = 120'000;

// One end of one connection, as a daemon that knows `token`.
class DaemonEnd {
 public:
  explicit DaemonEnd(int socket) : socket_(socket) {}
  ~DaemonEnd() { ::close(socket_); }
  DaemonEnd(const DaemonEnd&) = delete;
  DaemonEnd& operator=(const DaemonEnd&) = delete;

  std::optional<std::string> HearLine() {  // nullopt: it was closed
    for (;;) {
      if (const std::size_t end = heard_.find('\n'); end != std::string::npos) {
        std::string line = heard_.substr(0, end);
        heard_.erase(0, end + 1);
        return line;
      }
      char buffer[4096];
      const ssize_t got = ::recv(socket_, buffer, sizeof(buffer), 0);
      if (got <= 0) return std::nullopt;
      heard_.append(buffer, std::size_t(got));
    }
  }
  void SayLine(std::string line) {
    line += "\n";
    (void)::send(socket_, line.data(), line.size(), MSG_NOSIGNAL);
  }

  void Challenge(const std::string& token) {
    hello_ = Json::parse(HearLine().value_or("{}"));
    const LineSession::Names names{hello_.at("job"), hello_.at("worker"), hello_.at("nonce"),
                                   NewToken()};
    session_.emplace(LineSession::Side::kDaemon, token, names);
    SayLine(Signed({{"say", "challenge"}, {"nonce", names.daemon_nonce}}));
  }
  Json Hear() {  // null: it was closed
    const std::optional<std::string> line = HearLine();
    if (!line) return nullptr;
    const std::optional<std::string> text = session_->Open(*line);
    EXPECT_TRUE(text) << *line;
    return Json::parse(text.value_or("null"));
  }
  std::string Signed(const Json& message) { return session_->Sign(message.dump()); }
  void Say(const Json& message) { SayLine(Signed(message)); }
  const Json& hello() const { return hello_; }

 private:
  int socket_;
  std::string heard_;
  Json hello_;
  std::optional<LineSession> session_;
};

// Where a daemon listens.
class Place {
 public:
  explicit Place(std::string path)
      : path_(std::move(path)), listener_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path_.c_str(), sizeof(address.sun_path) - 1);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(::listen(listener_, 8), 0);
  }
  ~Place() { ::close(listener_); }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  // Null: nobody came.
  std::unique_ptr<DaemonEnd> Accept(int milliseconds = kLongMilliseconds) const {
    pollfd poll_one{listener_, POLLIN, 0};
    if (::poll(&poll_one, 1, milliseconds) <= 0) return nullptr;
    return std::make_unique<DaemonEnd>(::accept(listener_, nullptr, nullptr));
  }

 private:
  std::string path_;
  int listener_;
};

class MemberTest : public testing::Test {
 protected:
  MemberTest() : path_((folder_ / "s").string()), place_(path_) {}

  std::unique_ptr<DaemonEnd> Accept(int milliseconds = kLongMilliseconds) const {
    return place_.Accept(milliseconds);
  }
  std::unique_ptr<Member> Start(std::chrono::milliseconds patience = 120s) const {
    return std::make_unique<Member>(
        WorkerEnvironment{"j", "j.0", "unix:" + path_, kJobToken, folder_ / "run"},
        [](const std::string&) { return "here:1"; }, patience);
  }
  // A daemon that knows the token, and a member that it has welcomed.
  void Meet() {
    auto started = std::async(std::launch::async, [this] { return Start(); });
    end_ = Accept();
    Welcome();
    member_ = started.get();
  }
  void Welcome() {
    ASSERT_NE(end_, nullptr);
    end_->Challenge(kJobToken);
    join_ = end_->Hear();
    end_->Say({{"say", "welcome"}});
  }

  testing_support::TempFolder folder_;
  std::string path_;
  Place place_;
  std::unique_ptr<DaemonEnd> end_;
  std::unique_ptr<Member> member_;
  Json join_;
};

TEST_F(MemberTest, JoinsWithoutSayingItsToken) {
  Meet();
  EXPECT_EQ(join_, (Json{{"say", "join"},
                         {"job", "j"},
                         {"worker", "j.0"},
                         {"address", "here:1"},
                         {"epoch", -1},
                         {"heard", -1},
                         {"step", 0}}));
  EXPECT_TRUE(LooksLikeToken(end_->hello().at("nonce").get<std::string>()));
  EXPECT_EQ(end_->hello().size(), 4U) << end_->hello();
}

// Whoever listens first has not the token: it hears a hello, and no more.
class FalseDaemonTest : public MemberTest,
                        public testing::WithParamInterface<std::function<void(DaemonEnd*)>> {};

TEST_P(FalseDaemonTest, LearnsNothingAndIsNotObeyed) {
  auto started = std::async(std::launch::async, [this] { return Start(); });
  end_ = Accept();
  ASSERT_NE(end_, nullptr);
  GetParam()(end_.get());
  std::optional<std::string> line;
  while ((line = end_->HearLine())) {
    EXPECT_EQ(Json::parse(*line).at("say"), "hello");
    EXPECT_EQ(line->find(kJobToken), std::string::npos);
  }
  end_ = Accept();  // the true one, at last
  Welcome();
  member_ = started.get();
  EXPECT_FALSE(member_->stopping());
  EXPECT_EQ(member_->refusal(), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(
    Says, FalseDaemonTest,
    testing::Values([](DaemonEnd* end) { end->Challenge("guessed"); },
                    [](DaemonEnd* end) { end->SayLine(R"({"say":"refused","why":"\u001b[2J"})"); },
                    [](DaemonEnd* end) { end->SayLine(R"({"say":"stop"})"); },
                    [](DaemonEnd* end) { end->SayLine(R"({"say":"welcome"})"); },
                    [](DaemonEnd* end) { end->SayLine(R"({"say":"challenge","nonce":7})"); },
                    [](DaemonEnd* end) { end->SayLine("[]"); },
                    [](DaemonEnd* end) { end->SayLine("rubbish"); },
                    [](DaemonEnd* end) { end->SayLine(end->HearLine().value_or("")); }));

TEST_F(MemberTest, TakesAdviceOnCheckpoints) {
  Meet();
  EXPECT_EQ(member_->checkpoint_every(), std::nullopt);
  end_->Say({{"say", "checkpoint"}, {"every", 900}});
  end_->Say({{"say", "checkpoint"}, {"every", -1}});
  end_->Say({{"say", "epoch"}, {"epoch", 0}, {"members", {"j.0"}}, {"addresses", {"here:1"}}});
  ASSERT_TRUE(member_->WaitForLater(-1));
  EXPECT_EQ(member_->checkpoint_every(), 900);
}

// It hangs, or its machine or network is gone: its connection stays open.
TEST_F(MemberTest, ADaemonThatFallsSilentIsLeftForTheNextOfItsAddresses) {
  const Place other((folder_ / "t").string());
  auto started = std::async(std::launch::async, [&] {
    return std::make_unique<Member>(
        WorkerEnvironment{"j", "j.0", "unix:" + path_ + ",unix:" + (folder_ / "t").string(),
                          kJobToken, folder_ / "run"},
        [](const std::string&) { return "here:1"; }, 120s);
  });
  end_ = Accept();
  ASSERT_NE(end_, nullptr);
  end_->Challenge(kJobToken);
  EXPECT_EQ(end_->Hear()["say"], "join");
  end_->Say({{"say", "welcome"}, {"speaks", 1}});
  member_ = started.get();
  end_->Say({{"say", "epoch"}, {"epoch", 4}, {"members", {"j.0"}}, {"addresses", {"here:1"}}});
  ASSERT_TRUE(member_->WaitForLater(3));
  const std::unique_ptr<DaemonEnd> silent = std::exchange(end_, other.Accept());
  Welcome();
  EXPECT_EQ(join_["heard"], 4) << "the next one goes on behind it";
  end_->Say({{"say", "stop"}});
  EXPECT_FALSE(member_->WaitForLater(4));
  EXPECT_TRUE(member_->stopping());
  member_.reset();
}

TEST_F(MemberTest, GivesUpWhereNobodyKnowsTheTokenAndSaysWhy) {
  auto started = std::async(std::launch::async, [this] { return Start(300ms); });
  while (started.wait_for(0ms) != std::future_status::ready) {
    end_ = Accept(10);
    if (end_ != nullptr) end_->SayLine(R"({"say":"refused","why":"no such job"})");
  }
  try {
    (void)started.get();
    ADD_FAILURE() << "it was welcomed by nobody";
  } catch (const Error& error) {
    const std::string why = error.what();
    EXPECT_NE(why.find("does not prove that it knows the job's token"), std::string::npos) << why;
    EXPECT_NE(why.find("no such job"), std::string::npos) << why;
    EXPECT_EQ(why.find(kJobToken), std::string::npos) << why;
  }
}

TEST_F(MemberTest, EndsWhenTheDaemonItselfRefusesIt) {
  auto started = std::async(std::launch::async, [this] { return Start(); });
  end_ = Accept();
  ASSERT_NE(end_, nullptr);
  end_->Challenge(kJobToken);
  EXPECT_EQ(end_->Hear()["say"], "join");
  end_->Say({{"say", "refused"}, {"why", "no such worker"}});
  EXPECT_THROW((void)started.get(), Error);
}

// What is said in a connection after it was joined, by whoever can write into it.
class InjectedTest : public MemberTest,
                     public testing::WithParamInterface<std::function<void(DaemonEnd*)>> {};

TEST_P(InjectedTest, StopsNobodyAndTheTrueDaemonIsFoundAgain) {
  Meet();
  GetParam()(end_.get());
  while (end_->HearLine()) {  // until it was left
  }
  end_ = Accept();
  Welcome();
  EXPECT_FALSE(member_->stopping());
  end_->Say({{"say", "stop"}});
  while (!member_->stopping()) std::this_thread::sleep_for(1ms);
}

INSTANTIATE_TEST_SUITE_P(Says, InjectedTest,
                         testing::Values([](DaemonEnd* end) { end->SayLine(R"({"say":"stop"})"); },
                                         [](DaemonEnd* end) {
                                           end->SayLine(R"({"say":"refused"})");
                                         },
                                         [](DaemonEnd* end) {  // said again
                                           const std::string line = end->Signed({{"say", "save"}});
                                           end->SayLine(line);
                                           end->SayLine(line);
                                         },
                                         [](DaemonEnd* end) {  // left out
                                           (void)end->Signed({{"say", "save"}});
                                           end->Say({{"say", "stop"}});
                                         },
                                         [](DaemonEnd* end) {  // changed
                                           std::string line = end->Signed({{"say", "save"}});
                                           end->SayLine(line.replace(line.find("save"), 4, "stop"));
                                         },
                                         [](DaemonEnd* end) {  // its own
                                           end->SayLine(end->HearLine().value_or(""));
                                         }));

TEST_F(MemberTest, ASecondConnectionKnowsNothingOfTheLinesOfTheFirst) {
  Meet();
  const std::string recorded = end_->Signed({{"say", "stop"}});
  end_ = nullptr;
  end_ = Accept();
  Welcome();
  end_->SayLine(recorded);
  while (end_->HearLine()) {
  }
  EXPECT_FALSE(member_->stopping());
}

}  // namespace
}  // namespace allot
