// What strangers can take of a server whose clients speak in lines.

#include "live/workers/line_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include "core/strings.h"

namespace allot {
namespace {

// A client whose address is its own: 127.0.0.1, 127.0.0.2...
class LineClient {
 public:
  LineClient(const std::string& server, const char* from)
      : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in own{};
    own.sin_family = AF_INET;
    ::inet_pton(AF_INET, from, &own.sin_addr);
    EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&own), sizeof(own)), 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    ::inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    const auto port = ParseInteger(server.substr(server.rfind(':') + 1));
    to.sin_port = htons(static_cast<std::uint16_t>(port.value()));
    EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof(to)), 0);
  }
  ~LineClient() { ::close(socket_); }
  LineClient(const LineClient&) = delete;
  LineClient& operator=(const LineClient&) = delete;

  void Say(const std::string& text) {
    EXPECT_EQ(::send(socket_, text.data(), text.size(), MSG_NOSIGNAL), ssize_t(text.size()));
  }
  bool closed() const {
    char byte = 0;
    const ssize_t got = ::recv(socket_, &byte, 1, MSG_DONTWAIT | MSG_PEEK);
    return got == 0 || (got < 0 && errno == ECONNRESET);
  }

 private:
  int socket_;
};

// Introduces everybody by what he says first, and answers nothing.
class LineServerTest : public testing::Test {
 protected:
  void Begin(const LineLimits& limits) {
    server_ = std::make_unique<LineServer>(
        "tcp:127.0.0.1:0",
        LineServer::Events{
            .line =
                [this](const LineServer::ConnectionPtr& from, const std::string& line) {
                  server_->Introduce(from, line);
                  known_.push_back(from);
                },
            .refused = [this](const auto&, const std::string& why) { refused_ += why; },
            .closed = [this](const auto&) { ++closed_; }},
        limits);
  }
  LineClient& Connect(const char* from = "127.0.0.1") {
    clients_.push_back(std::make_unique<LineClient>(server_->address(), from));
    server_->Serve(0.02, [] { return false; });
    return *clients_.back();
  }
  template <typename Condition>
  void Until(const Condition& condition) {
    for (int i = 0; i < 1000 && !condition(); ++i) server_->Serve(0.01, condition);
    EXPECT_TRUE(condition());
  }

  std::vector<std::unique_ptr<LineClient>> clients_;
  std::unique_ptr<LineServer> server_;  // before its connections, which must not outlive it
  std::vector<LineServer::ConnectionPtr> known_;
  std::string refused_;
  int closed_ = 0;
};

TEST_F(LineServerTest, WhoDoesNotSayWhoHeIsInTimeIsClosed) {
  Begin({.introduction = 0.2});
  const LineClient& silent = Connect();
  LineClient& speaks = Connect();
  speaks.Say("me\n");
  Until([&] { return closed_ == 1; });
  EXPECT_TRUE(silent.closed());
  EXPECT_EQ(LineServer::WhoIs(known_.at(0)), "me");
  const LineClient& later = Connect();
  Until([&] { return closed_ == 2; });
  EXPECT_TRUE(later.closed());
  EXPECT_FALSE(speaks.closed());
}

TEST_F(LineServerTest, StrangersOfOnePeerPushOutEachOtherAlone) {
  Begin({.strangers_a_peer = 3});
  LineClient& friendly = Connect("127.0.0.2");
  LineClient& first = Connect();
  const LineClient& second = Connect();
  first.Say("known\n");
  Until([&] { return known_.size() == 1; });
  for (int i = 0; i < 10; ++i) Connect();
  EXPECT_EQ(closed_, 11 - 3) << "strangers that came later than the first";
  EXPECT_TRUE(second.closed());
  EXPECT_FALSE(first.closed());
  EXPECT_FALSE(friendly.closed());
  friendly.Say("me too\n");
  Until([&] { return known_.size() == 2; });
}

TEST_F(LineServerTest, OfTooManyStrangersTheLongestWaitingGoes) {
  Begin({.strangers = 2});
  const LineClient& first = Connect("127.0.0.2");
  const LineClient& second = Connect("127.0.0.3");
  const LineClient& third = Connect("127.0.0.4");
  EXPECT_TRUE(first.closed());
  EXPECT_FALSE(second.closed());
  EXPECT_FALSE(third.closed());
}

TEST_F(LineServerTest, AClientThatReadsNothingCostsBoundedMemory) {
  Begin({.unread = 100'000});
  Connect().Say("me\n");
  Until([&] { return known_.size() == 1; });
  const std::string line(10'000, 'x');
  // The system's own buffers take some megabytes.
  for (int i = 0; i < 10'000 && closed_ == 0; ++i) server_->Send(known_[0], line);
  EXPECT_EQ(closed_, 1);
}

TEST_F(LineServerTest, ALineTooLongEndsTheConnection) {
  Begin({.longest_line = 100});
  LineClient& client = Connect();
  client.Say(std::string(200, 'x'));
  Until([&] { return closed_ == 1; });
  EXPECT_NE(refused_.find("100"), std::string::npos);
  EXPECT_TRUE(client.closed());
}

}  // namespace
}  // namespace allot
