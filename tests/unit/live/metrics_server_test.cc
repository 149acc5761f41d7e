#include "live/daemon/metrics_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

#include "core/strings.h"

namespace allot {
namespace {

class Client {
 public:
  explicit Client(const std::string& address) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    ::inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    const auto port = ParseInteger(address.substr(address.rfind(':') + 1));
    to.sin_port = htons(static_cast<std::uint16_t>(port.value()));
    EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof(to)), 0);
  }
  Client(Client&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
  ~Client() { ::close(socket_); }
  void Say(const std::string& text) const {
    EXPECT_EQ(::send(socket_, text.data(), text.size(), MSG_NOSIGNAL), ssize_t(text.size()));
  }
  std::string HearAll() const {
    std::string heard;
    std::array<char, 4096> part;
    for (ssize_t got; (got = ::recv(socket_, part.data(), part.size(), 0)) > 0;) {
      heard.append(part.data(), std::size_t(got));
    }
    return heard;
  }

 private:
  int socket_;
};

class MetricsServerTest : public testing::Test {
 protected:
  MetricsServerTest() { server_.Publish("up 1\n"); }
  std::string AnswerTo(const std::string& request_line) const {
    const Client client(server_.address());
    client.Say(request_line + "\r\nHost: here\r\n\r\n");
    return client.HearAll();
  }
  MetricsServer server_{"tcp:127.0.0.1:0"};
};

TEST_F(MetricsServerTest, ServesWhatWasPublishedLast) {
  server_.Publish("up 2\n");
  const std::string answer = AnswerTo("GET /metrics HTTP/1.1");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\n")) << answer;
  EXPECT_TRUE(answer.ends_with("Content-Length: 5\r\nConnection: close\r\n\r\nup 2\n")) << answer;
}

TEST_F(MetricsServerTest, IgnoresTheQuery) {
  EXPECT_TRUE(AnswerTo("GET /metrics?module=x HTTP/1.1").ends_with("\r\n\r\nup 1\n"));
}

TEST_F(MetricsServerTest, AnswersHeadWithTheSameHeaders) {
  const std::string head = AnswerTo("HEAD /metrics HTTP/1.1");
  EXPECT_EQ(head + "up 1\n", AnswerTo("GET /metrics HTTP/1.1"));
}

TEST_F(MetricsServerTest, RefusesOtherPathsAndMethods) {
  EXPECT_TRUE(AnswerTo("GET /other HTTP/1.1").starts_with("HTTP/1.1 404 Not Found\r\n"));
  EXPECT_TRUE(AnswerTo("rubbish").starts_with("HTTP/1.1 404 Not Found\r\n"));
  EXPECT_TRUE(AnswerTo("POST /metrics HTTP/1.1")
                  .starts_with("HTTP/1.1 405 Method Not Allowed\r\nAllow: GET, HEAD\r\n"));
}

TEST_F(MetricsServerTest, IdleConnectionsDoNotShutPrometheusOut) {
  std::vector<Client> idle;
  for (int i = 0; i < 200; ++i) {
    idle.emplace_back(server_.address());
    if (i % 2 == 0) idle.back().Say("G");
  }
  EXPECT_TRUE(AnswerTo("GET /metrics HTTP/1.1").ends_with("up 1\n"));
}

}  // namespace
}  // namespace allot
