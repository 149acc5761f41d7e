#include "auth/line_session.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace allot {
namespace {

using Side = LineSession::Side;

// The example of docs/formats/worker_protocol.md.
constexpr const char* kToken = "00112233445566778899aabbccddeeff";
const LineSession::Names kNames{.job = "42",
                                .worker = "42.0",
                                .worker_nonce = "0123456789abcdef0123456789abcdef",
                                .daemon_nonce = "fedcba9876543210fedcba9876543210"};

TEST(LineSession, MakesTheLinesThatThePageOnTheProtocolShows) {
  std::ifstream file(ALLOT_SOURCE_DIR "/docs/formats/worker_protocol.md");
  const std::string page((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  LineSession daemon(Side::kDaemon, kToken, kNames);
  LineSession worker(Side::kWorker, kToken, kNames);
  const std::pair<LineSession*, const char*> said[] = {
      {&daemon, R"({"say":"challenge","nonce":"fedcba9876543210fedcba9876543210"})"},
      {&worker, R"({"say":"join","job":"42","worker":"42.0","epoch":-1,"heard":-1,"step":0})"},
      {&daemon, R"({"say":"welcome"})"},
      {&worker, R"({"say":"progress","epoch":-1,"step":0})"}};
  for (const auto& [by, message] : said) {
    const std::string line = by->Sign(message);
    EXPECT_NE(page.find("\n" + line + "\n"), std::string::npos) << line;
  }
}

TEST(LineSession, OpensWhatTheOtherSideHasSignedInItsOrder) {
  LineSession daemon(Side::kDaemon, kToken, kNames);
  LineSession worker(Side::kWorker, kToken, kNames);
  for (const char* message : {R"({"say":"a"})", R"({"x":"\",\"mac\":\""})", R"({ "b" : {} })"}) {
    EXPECT_EQ(worker.Open(daemon.Sign(message)), message);
    EXPECT_EQ(daemon.Open(worker.Sign(message)), message);
  }
}

TEST(LineSession, OpensNothingElseAndGoesOn) {
  LineSession daemon(Side::kDaemon, kToken, kNames);
  LineSession worker(Side::kWorker, kToken, kNames);
  const std::string first = daemon.Sign(R"({"n":1})");
  const std::string second = daemon.Sign(R"({"n":2})");
  EXPECT_FALSE(worker.Open(second)) << "out of order";
  EXPECT_FALSE(daemon.Open(first)) << "its own";
  EXPECT_FALSE(worker.Open(R"({"n":1})")) << "no code";
  EXPECT_FALSE(worker.Open("")) << "nothing";
  EXPECT_FALSE(worker.Open(first.substr(1))) << "cut off";
  EXPECT_FALSE(worker.Open(first + " ")) << "longer";
  std::string changed = first;
  changed[5] = '2';
  EXPECT_FALSE(worker.Open(changed)) << changed;
  EXPECT_TRUE(worker.Open(first));
  EXPECT_FALSE(worker.Open(first)) << "again";
  EXPECT_TRUE(worker.Open(second));
}

TEST(LineSession, EveryNameIsPartOfTheKey) {
  LineSession daemon(Side::kDaemon, kToken, kNames);
  const std::string line = daemon.Sign(R"({"n":1})");
  for (const auto name : {&LineSession::Names::job, &LineSession::Names::worker,
                          &LineSession::Names::worker_nonce, &LineSession::Names::daemon_nonce}) {
    LineSession::Names other = kNames;
    (other.*name)[0] = 'f' + 1;
    EXPECT_FALSE(LineSession(Side::kWorker, kToken, other).Open(line));
  }
  EXPECT_FALSE(LineSession(Side::kWorker, "another", kNames).Open(line));
  EXPECT_TRUE(LineSession(Side::kWorker, kToken, kNames).Open(line));
}

}  // namespace
}  // namespace allot
