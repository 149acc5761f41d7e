// The client over sockets of the loopback: requests, refusals, servers that go and come back.

#include "clients/kubernetes/api/kube_client.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "core/file.h"
#include "tests/unit/live/runtimes/kubernetes/fake_apiserver.h"

namespace allot {
namespace {

using Json = nlohmann::json;

Json PodNamed(const std::string& name) {
  return {{"metadata",
           {{"name", name},
            {"namespace", "default"},
            {"annotations", {{"allot.dev/worker", "default.el.1." + name}}}}},
          {"spec", {{"containers", Json::array()}}}};
}

Json RecordedError(const std::string& name) {
  return Json::parse(ReadTextFile(ALLOT_TEST_DATA "/kubernetes/error-" + name + ".json"));
}

constexpr const char* kPods = "/api/v1/namespaces/default/pods";

// What these tests keep of a pod.
std::optional<std::string> PodName(const nlohmann::json& pod) {
  return pod.at("metadata").at("name").get<std::string>();
}

class KubeClientTest : public testing::Test {
 protected:
  KubeClientTest() : pods_(PodName), watch_("/api/v1/pods", "", pods_) {}

  void Begin(Seconds patience = 30) {
    KubeConfig config;
    config.server = server_.url();
    config.token = "secret";
    client_ = std::make_unique<KubeClient>(config, patience, std::vector<ListWatch*>{&watch_},
                                           [this] { ++changes_; });
  }
  void End() { client_.reset(); }

  std::string Known() {
    const std::lock_guard lock(client_->mutex());
    std::string names;
    pods_.ForEach([&](const std::string& pod) { names += pod + " "; });
    return names;
  }
  std::string Trouble() {
    const std::lock_guard lock(client_->mutex());
    return watch_.trouble();
  }
  template <typename Condition>
  void Until(const char* what, const Condition& condition) {
    for (int tries = 0; tries < 120'000; ++tries) {
      if (condition()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    FAIL() << "never came: " << what;
  }
  void UntilKnown(const std::string& names) {
    Until(names.c_str(), [&] { return Known() == names; });
  }

  FakeApiServer server_;
  ObjectStore<std::string> pods_;
  ListWatch watch_;
  std::atomic<int> changes_{0};
  std::unique_ptr<KubeClient> client_;
};

TEST_F(KubeClientTest, RequestsAreAnsweredInTheirOrder) {
  Begin();
  std::vector<KubeRequest> requests;
  for (const char* name : {"a", "b", "c"}) requests.push_back({"POST", kPods, PodNamed(name)});
  const std::vector<KubeReply> replies = client_->Do(std::move(requests));
  ASSERT_EQ(replies.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(replies[i].code, 201);
    EXPECT_EQ(replies[i].body["metadata"]["name"], std::string(1, static_cast<char>('a' + i)));
  }
}

TEST_F(KubeClientTest, APatchAndADeletionReachTheServer) {
  Begin();
  server_.Create("pods", PodNamed("a"));
  const std::string path = std::string(kPods) + "/a";
  const Json labels = {{"metadata", {{"labels", {{"x", "y"}}}}}};
  EXPECT_TRUE(client_->Do(KubeRequest{"PATCH", path, labels}).ok());
  EXPECT_EQ(server_.Get("pods", "default/a")["metadata"]["labels"]["x"], "y");
  EXPECT_TRUE(client_->Do(KubeRequest{"DELETE", path}).ok());
  EXPECT_TRUE(server_.Get("pods", "default/a").is_null());
}

struct Recorded {
  const char* name;
  long code;
  const char* reason;
  const char* text;
};

class KubeRefusal : public KubeClientTest, public testing::WithParamInterface<Recorded> {};

TEST_P(KubeRefusal, KeepsTheServersWordAndIsNotAskedAgain) {
  server_.Refuse("POST", GetParam().code, RecordedError(GetParam().name));
  Begin();
  const KubeReply reply = client_->Do(KubeRequest{"POST", kPods, PodNamed("a")});
  EXPECT_EQ(reply.code, GetParam().code);
  EXPECT_TRUE(reply.Is(GetParam().reason));
  EXPECT_NE(reply.Text().find(GetParam().text), std::string::npos) << reply.Text();
  EXPECT_EQ(server_.Count("POST"), 1);
}

INSTANTIATE_TEST_SUITE_P(
    Recorded, KubeRefusal,
    testing::Values(Recorded{"404-not-found", 404, "NotFound", "404 NotFound: pods \"none\""},
                    Recorded{"409-pod-exists", 409, "AlreadyExists", "\"el-w0\" already exists"},
                    Recorded{"409-old-version", 409, "Conflict", "has been modified"},
                    Recorded{"422-immutable", 422, "Invalid", "may not change fields"}));

TEST_F(KubeClientTest, WhatMayPassIsAskedAgain) {
  for (const long code : {429L, 500L, 503L}) {
    const std::string path = fmt::format("{}/{}", kPods, code);
    server_.Refuse("GET " + path, code, {{"reason", "Later"}, {"message", "busy"}}, 2);
    Begin();
    EXPECT_EQ(client_->Do(KubeRequest{"GET", path}).code, 404) << code;
    EXPECT_EQ(server_.Count("GET " + path), 3) << code;
  }
}

TEST_F(KubeClientTest, NoAnswerInTimeIsOneToo) {
  server_.Refuse("GET /api/v1/busy", 503, {{"reason", "Busy"}, {"message", "later"}}, 1000);
  Begin(0.3);
  EXPECT_EQ(client_->Do(KubeRequest{"GET", "/api/v1/busy"}).Text(), "503 Busy: later");
  server_.Down();
  const KubeReply reply = client_->Do(KubeRequest{"GET", "/api/v1/busy"});
  EXPECT_EQ(reply.code, 0);
  EXPECT_NE(reply.Text().find("no answer from " + server_.url()), std::string::npos);
  server_.Up();
}

TEST_F(KubeClientTest, AnAnswerThatIsNoObjectIsNone) {
  server_.Refuse("GET /api/v1/odd", 200, "text", 1000);
  Begin(0.3);
  EXPECT_EQ(client_->Do(KubeRequest{"GET", "/api/v1/odd"}).code, 0);
}

TEST_F(KubeClientTest, KeepsAKindKnown) {
  // The store is changed first, then the listener is called, by another thread: once for all that
  // came together. So each word is waited for before the next change.
  server_.Create("pods", PodNamed("a"));
  Begin();
  UntilKnown("a ");
  Until("the word of the list", [&] { return changes_ >= 1; });
  server_.Create("pods", PodNamed("b"));
  UntilKnown("a b ");
  Until("the word of a new pod", [&] { return changes_ >= 2; });
  server_.Remove("pods", "default/a");
  UntilKnown("b ");
  Until("the word of a pod that is gone", [&] { return changes_ >= 3; });
}

TEST_F(KubeClientTest, AListComesInPagesAndAgainWhereTheyAreTooOld) {
  for (const char* name : {"a", "b", "c", "d", "e"}) server_.Create("pods", PodNamed(name));
  server_.SetPage(2);
  server_.Refuse("GET /api/v1/pods", 410, RecordedError("404-not-found"));
  Begin();
  UntilKnown("a b c d e ");
}

TEST_F(KubeClientTest, CutStreamsAndSplitLinesLoseNothing) {
  server_.SplitLines(true);
  Begin();
  Until("the list", [&] { return server_.Count("?watch") > 0; });
  std::string names;
  for (const char name : std::string("abcdef")) {
    server_.CutWatches(name % 2 == 0);
    server_.Create("pods", PodNamed(std::string(1, name)));
    names += std::string(1, name) + " ";
    UntilKnown(names);
  }
  EXPECT_EQ(server_.Count("GET /api/v1/pods"), server_.Count("?watch") + 1) << "one list is enough";
}

TEST_F(KubeClientTest, AWatchThatIsTooOldBecomesAList) {
  Begin();
  Until("the watch", [&] { return server_.Count("?watch") > 0; });
  server_.Down();
  server_.Create("pods", PodNamed("a"));
  server_.Compact();
  server_.Up();
  UntilKnown("a ");
  EXPECT_EQ(server_.Count("GET /api/v1/pods") - server_.Count("?watch"), 2) << "lists";
}

TEST_F(KubeClientTest, EventsOutOfOrderEndInWhatIsTrue) {
  server_.Reorder(true);
  Begin();
  Until("the watch", [&] { return server_.Count("?watch") > 0; });
  for (int round = 0; round < 20; ++round) {
    server_.Create("pods", PodNamed("a"));
    server_.Update("pods", "default/a", [](Json& pod) { pod["status"]["phase"] = "Running"; });
    server_.Remove("pods", "default/a");
  }
  server_.Create("pods", PodNamed("z"));
  UntilKnown("z ");
}

TEST_F(KubeClientTest, AServerThatIsGoneIsToldOfUntilItIsBack) {
  Begin();
  Until("the watch", [&] { return server_.Count("?watch") > 0; });
  server_.Down();
  Until("the trouble", [&] { return Trouble().find("no answer from") != std::string::npos; });
  server_.Up();
  Until("its end", [&] { return Trouble().empty(); });
}

TEST_F(KubeClientTest, RightsThatAreRevokedAreToldOfByTheirName) {
  server_.Refuse("GET /api/v1/pods", 403,
                 {{"reason", "Forbidden"}, {"message", "cannot list resource \"pods\""}}, 1000);
  Begin();
  Until("the trouble",
        [&] { return Trouble() == "/api/v1/pods: 403 Forbidden: cannot list resource \"pods\""; });
}

}  // namespace
}  // namespace allot
