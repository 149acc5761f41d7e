// Who may use the store of an epoch, and what strangers can take of it:
// docs/formats/worker_protocol.md "Process groups".

#include "elastic/epoch_store.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "auth/line_session.h"
#include "auth/secret.h"
#include "core/error.h"
#include "elastic/epoch_store_visit.h"

namespace allot {
namespace {

using Json = nlohmann::json;
using Bytes = std::vector<std::uint8_t>;
using namespace std::chrono_literals;

constexpr const char* kSecret = "token-of-the-job";
constexpr auto kVeryLong = 120s;

class Stranger {
 public:
  explicit Stranger(std::uint16_t port, const char* host = "127.0.0.1")
      : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    ::inet_pton(AF_INET, host, &address.sin_addr);
    connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  }
  ~Stranger() { ::close(socket_); }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;

  bool connected() const { return connected_; }
  void Say(const std::string& text) {
    (void)::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
  }
  std::optional<std::string> HearLine() {  // nullopt: it was closed
    std::string heard;
    for (char byte = 0; ::recv(socket_, &byte, 1, 0) == 1;) {
      if (byte == '\n') return heard;
      heard += byte;
    }
    return std::nullopt;
  }

 private:
  int socket_;
  bool connected_ = false;
};

class EpochStoreTest : public testing::Test {
 protected:
  void Offer(std::uint16_t port = 0, const StoreLimits& limits = {}) {
    store_.reset();
    store_ = std::make_unique<EpochStore>(EpochStore::Owner{"j", "j.0", kSecret}, "127.0.0.1", port,
                                          limits);
  }
  EpochStoreVisit Visit(const std::string& worker, std::int64_t epoch = 3,
                        const std::string& token = kSecret) {
    return {"j", worker, token, epoch, {"127.0.0.1", store_->port(), "j.0"}, [] {}};
  }
  // One that has shown that it knows the token, and what it says.
  LineSession Greet(Stranger* worker) {
    const std::string nonce = NewToken();
    worker->Say(Json{{"say", "hello"}, {"job", "j"}, {"worker", "j.1"}, {"nonce", nonce}}.dump() +
                "\n");
    const std::string line = worker->HearLine().value_or("{}");
    LineSession session(LineSession::Side::kWorker, EpochStore::SessionToken(kSecret, "j.0"),
                        {"j", "j.1", nonce, Json::parse(line).value("nonce", "")});
    EXPECT_TRUE(session.Open(line));
    return session;
  }
  static std::string SetLine(const char* value) {
    return Json{{"say", "set"}, {"epoch", 3}, {"key", "k"}, {"value", value}}.dump();
  }

  std::unique_ptr<EpochStore> store_;
};

TEST_F(EpochStoreTest, MembersTellEachOtherWhateverTheOrder) {
  Offer();
  auto waits = std::async(std::launch::async, [&] {
    EpochStoreVisit second = Visit("j.1");
    second.Set("1", {1, 0, 255});
    return second.Get("0", kVeryLong);
  });
  EpochStoreVisit first = Visit("j.0");
  EXPECT_EQ(first.Get("1", kVeryLong), (Bytes{1, 0, 255}));
  first.Set("0", {7});
  EXPECT_EQ(waits.get(), Bytes{7});
}

TEST_F(EpochStoreTest, KeysAreOfOneEpoch) {
  Offer();
  Visit("j.0", 3).Set("k", {3});
  EpochStoreVisit now = Visit("j.0", 4);
  now.Set("k", {4});
  EXPECT_EQ(now.Get("k", kVeryLong), Bytes{4});
}

TEST_F(EpochStoreTest, WhoDoesNotKnowTheTokenMeetsNobody) {
  Offer();
  EpochStoreVisit member = Visit("j.0");
  member.Set("k", {1});
  EXPECT_EQ(member.Get("k", kVeryLong), Bytes{1});
  EpochStoreVisit guesser = Visit("j.1", 3, "guessed");
  guesser.Set("k", {9});
  EXPECT_THROW((void)guesser.Get("k", 100ms), Error);
  EXPECT_EQ(Visit("j.2").Get("k", kVeryLong), Bytes{1});
}

TEST_F(EpochStoreTest, ASessionWithADaemonOrAnotherWorkerIsNone) {
  Offer();
  for (const std::string& token :
       {std::string(kSecret), EpochStore::SessionToken(kSecret, "j.1")}) {
    Stranger stranger(store_->port());
    const std::string nonce = NewToken();
    stranger.Say(Json{{"say", "hello"}, {"job", "j"}, {"worker", "j.1"}, {"nonce", nonce}}.dump() +
                 "\n");
    const std::optional<std::string> line = stranger.HearLine();
    ASSERT_TRUE(line);
    LineSession session(LineSession::Side::kWorker, token,
                        {"j", "j.1", nonce, Json::parse(*line).value("nonce", "")});
    EXPECT_FALSE(session.Open(*line));
    stranger.Say(session.Sign(SetLine("09")) + "\n");
    EXPECT_FALSE(stranger.HearLine()) << "the connection stays open";
  }
}

TEST_F(EpochStoreTest, ALineThatIsSaidAgainOrChangedClosesTheConnection) {
  Offer();
  for (const bool changed : {false, true}) {
    Stranger worker(store_->port());
    LineSession session = Greet(&worker);
    std::string line = session.Sign(SetLine("07"));
    if (changed) line[line.find("07")] = '9';
    worker.Say(line + "\n" + (changed ? "" : line + "\n"));
    EXPECT_FALSE(worker.HearLine());
  }
  EXPECT_EQ(Visit("j.2").Get("k", kVeryLong), Bytes{7});
}

TEST_F(EpochStoreTest, WhatIsNoMessageClosesTheConnection) {
  Offer();
  for (const char* text :
       {"GET / HTTP/1.1", "{}", "[]", R"({"say":"hello","job":"k","worker":"j.1","nonce":"0"})",
        R"({"say":"hello","job":7,"worker":"j.1","nonce":"00112233445566778899aabbccddeeff"})"}) {
    Stranger stranger(store_->port());
    stranger.Say(std::string(text) + "\n");
    EXPECT_FALSE(stranger.HearLine()) << text;
  }
  Stranger endless(store_->port());
  endless.Say(std::string(StoreLimits().strangers_line + 1, 'x'));
  EXPECT_FALSE(endless.HearLine());
}

TEST_F(EpochStoreTest, IdleStrangersHoldNothingForLong) {
  Offer(0, {.strangers = 4});
  std::vector<std::unique_ptr<Stranger>> strangers;
  strangers.reserve(50);
  for (int i = 0; i < 50; ++i) strangers.push_back(std::make_unique<Stranger>(store_->port()));
  EpochStoreVisit member = Visit("j.0");
  member.Set("k", {1});
  EXPECT_EQ(member.Get("k", kVeryLong), Bytes{1});
  EXPECT_FALSE(strangers.front()->HearLine()) << "the one that waits longest goes";
}

TEST_F(EpochStoreTest, AnIdleStrangerIsClosedInTheEnd) {
  Offer(0, {.introduction = 50ms});
  Stranger idle(store_->port());
  EXPECT_FALSE(idle.HearLine());
}

TEST_F(EpochStoreTest, ListensOnTheAddressOfItsPeersAlone) {
  Offer();
  EXPECT_TRUE(Stranger(store_->port()).connected());
  EXPECT_FALSE(Stranger(store_->port(), "127.0.0.2").connected());
}

TEST_F(EpochStoreTest, AConnectionThatBreaksIsMadeAgain) {
  Offer();
  const std::uint16_t port = store_->port();
  std::atomic<bool> waits = false;
  auto first = std::async(std::launch::async, [&, place = StoreAddress{"127.0.0.1", port, "j.0"}] {
    EpochStoreVisit visit("j", "j.1", kSecret, 3, place, [&] { waits = true; });
    visit.Set("1", {1});
    return visit.Get("0", kVeryLong);
  });
  while (!waits) std::this_thread::yield();
  Offer(port);  // another store: what was set is gone, and is set again
  EpochStoreVisit second = Visit("j.0");
  EXPECT_EQ(second.Get("1", kVeryLong), Bytes{1});
  second.Set("0", {2});
  EXPECT_EQ(first.get(), Bytes{2});
}

TEST_F(EpochStoreTest, WaitingEndsWhenItIsTold) {
  Offer();
  EpochStoreVisit visit("j", "j.1", kSecret, 3, {"127.0.0.1", store_->port(), "j.0"},
                        [] { throw RunError("overtaken"); });
  EXPECT_THROW((void)visit.Get("0", kVeryLong), Error);
}

}  // namespace
}  // namespace allot
