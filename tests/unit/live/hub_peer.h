#pragma once
// A worker of the tests' own that speaks to a hub, and a hub with one job for it to join. For tests
// of the worker protocol from the daemon's side.

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "auth/line_session.h"
#include "auth/secret.h"
#include "live/runtimes/runtime.h"
#include "live/workers/worker_hub.h"
#include "tests/unit/core/temp_folder.h"

namespace allot::testing_support {

inline constexpr const char* kHubToken = "secret-of-the-job";

inline void ServeFor(WorkerHub& hub, Seconds at_most) { hub.Serve(at_most); }
inline void ServeFor(Runtime& runtime, Seconds at_most) { runtime.Wait(at_most); }

// What serves it is a WorkerHub, or a Runtime that has one.
class HubPeer {
 public:
  explicit HubPeer(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  // Of `job`, by a port of this machine.
  HubPeer(int port, std::string job)
      : job_(std::move(job)), socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  ~HubPeer() { ::close(socket_); }
  HubPeer(const HubPeer&) = delete;
  HubPeer& operator=(const HubPeer&) = delete;

  // Says hello; from then on lines have codes. The answer: the daemon's challenge, null where its
  // code is not that of `token`.
  template <typename Server>
  nlohmann::json Hello(Server* hub, const std::string& worker,
                       const std::string& token = kHubToken) {
    const std::string nonce = NewToken();
    Say({{"say", "hello"}, {"job", job_}, {"worker", worker}, {"nonce", nonce}});
    const std::optional<std::string> line = HearLine(hub);
    if (!line) return nullptr;
    nlohmann::json challenge = nlohmann::json::parse(*line);
    session_.emplace(LineSession::Side::kWorker, token,
                     LineSession::Names{job_, worker, nonce, challenge.value("nonce", "")});
    if (!session_->Open(*line)) return nullptr;
    return challenge;
  }
  template <typename Server>
  void Join(Server* hub, const std::string& worker,
            const nlohmann::json& more = nlohmann::json::object(),
            const std::string& token = kHubToken) {
    EXPECT_EQ(Hello(hub, worker, token)["say"], "challenge");
    nlohmann::json join{{"say", "join"}, {"job", job_}, {"worker", worker}};
    join.update(more);
    Say(join);
  }

  void Say(const nlohmann::json& message) { SayText(message.dump()); }
  void SayText(const std::string& text) { SayLine(Signed(text)); }
  std::string Signed(const std::string& text) { return session_ ? session_->Sign(text) : text; }
  void SayLine(std::string line) {  // as it is
    line += "\n";
    EXPECT_EQ(::send(socket_, line.data(), line.size(), MSG_NOSIGNAL), ssize_t(line.size()));
    said_ += line;
  }
  const std::string& said() const { return said_; }

  // The next message but "here", null when the connection was closed instead.
  template <typename Server>
  nlohmann::json Hear(Server* hub) {
    nlohmann::json message;
    do {
      message = HearAny(hub);
    } while (message.is_object() && message.value("say", "") == "here");
    return message;
  }
  template <typename Server>
  nlohmann::json HearAny(Server* hub) {
    const std::optional<std::string> line = HearLine(hub);
    if (!line) return nullptr;
    const std::optional<std::string> text = session_ ? session_->Open(*line) : line;
    EXPECT_TRUE(text) << *line;
    return text ? nlohmann::json::parse(*text) : nlohmann::json();
  }
  template <typename Server>
  std::optional<std::string> HearLine(Server* hub) {
    for (int i = 0; i < 10'000; ++i) {
      if (const std::size_t end = heard_.find('\n'); end != std::string::npos) {
        std::string line = heard_.substr(0, end);
        heard_.erase(0, end + 1);
        return line;
      }
      ServeFor(*hub, 0.01);
      char buffer[4096];
      const ssize_t got = ::recv(socket_, buffer, sizeof(buffer), MSG_DONTWAIT);
      if (got == 0) return std::nullopt;
      if (got > 0) heard_.append(buffer, std::size_t(got));
    }
    ADD_FAILURE() << "nothing was said";
    return std::nullopt;
  }

 private:
  std::string job_ = "j";
  int socket_;
  std::optional<LineSession> session_;
  std::string heard_;
  std::string said_;
};

// Job "j" with workers "j.0" and "j.1"; what is logged is kept.
class HubFixture : public testing::Test {
 protected:
  HubFixture() : before_(spdlog::default_logger()) {
    spdlog::set_default_logger(std::make_shared<spdlog::logger>(
        "hub", std::make_shared<spdlog::sinks::ostream_sink_st>(log_)));
    path_ = (folder_ / "hub.sock").string();
    hub_ =
        std::make_unique<WorkerHub>("unix:" + path_, [this] { return now_ + MonotonicSeconds(); });
    hub_->AddJob("j", kHubToken);
    hub_->Expect("j", "j.0");
    hub_->Expect("j", "j.1");
  }
  ~HubFixture() override { spdlog::set_default_logger(before_); }

  int Logged(const std::string& text) const {
    int times = 0;
    const std::string all = log_.str();
    for (std::size_t at = all.find(text); at != std::string::npos; at = all.find(text, at + 1)) {
      ++times;
    }
    return times;
  }

  Seconds now_ = 0;  // added to the hub's clock
  std::ostringstream log_;
  std::shared_ptr<spdlog::logger> before_;
  TempFolder folder_;
  std::string path_;
  std::unique_ptr<WorkerHub> hub_;
};

}  // namespace allot::testing_support
