// Writes that the API server refuses: how often they are sent again.

#include "live/runtimes/kubernetes/kube_writer.h"

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include "tests/unit/live/runtimes/kubernetes/fake_apiserver.h"

namespace allot {
namespace {

using Json = nlohmann::json;

constexpr const char* kJobs = "/apis/batch/v1/namespaces/default/jobs";

class KubeWriterTest : public testing::Test {
 protected:
  KubeWriterTest() {
    spdlog::set_level(spdlog::level::off);
    KubeConfig config;
    config.server = server_.url();
    client_ = std::make_unique<KubeClient>(config, 30, std::vector<ListWatch*>{}, [] {});
    writer_ = std::make_unique<KubeWriter>(*client_, nullptr, "", [this] { return now_; });
    for (const char* name : {"a", "b"}) {
      server_.Create("jobs", {{"metadata", {{"name", name}, {"namespace", "default"}}},
                              {"spec", {{"parallelism", 1}}}});
    }
  }
  KubeReply Patch(const std::string& name = "a") {
    return writer_->Write(KubeRequest{"PATCH", std::string(kJobs) + "/" + name + kFieldManager,
                                      Json{{"metadata", {{"labels", {{"x", "y"}}}}}}});
  }
  void Refuse(long code, const char* reason, int times = 1000) {
    server_.Refuse("PATCH " + std::string(kJobs) + "/a", code,
                   {{"reason", reason}, {"message", "no"}}, times);
  }
  int Sent(const std::string& name = "a") const {
    return server_.Count("PATCH " + std::string(kJobs) + "/" + name);
  }

  FakeApiServer server_;
  std::unique_ptr<KubeClient> client_;
  std::unique_ptr<KubeWriter> writer_;
  Seconds now_ = 1000;
};

TEST_F(KubeWriterTest, SendsRefusedWritesMoreAndMoreRarely) {
  Refuse(422, "Invalid");
  for (int polls = 0; polls < 600; ++polls, now_ += 0.2) {
    const KubeReply reply = Patch();
    EXPECT_FALSE(reply.ok());
    EXPECT_EQ(reply.Text(), "422 Invalid: no") << "what is not sent has the same answer";
  }
  EXPECT_EQ(Sent(), 9) << "pauses of 0.5, 1, 2, 4, 8, 16, 30, 30 s";
  EXPECT_EQ(writer_->refused(), 9);
}

TEST_F(KubeWriterTest, BacksOffForOneVerbOfOneObject) {
  Refuse(403, "Forbidden");
  EXPECT_FALSE(Patch("a").ok());
  EXPECT_TRUE(Patch("b").ok());
  EXPECT_TRUE(writer_->Write(KubeRequest{"DELETE", std::string(kJobs) + "/a"}).ok());
}

TEST_F(KubeWriterTest, AcceptedWritesEndTheBackOff) {
  Refuse(403, "Forbidden", 3);
  for (const Seconds pause : {0.0, 0.5, 1.0}) {
    now_ += pause;
    EXPECT_FALSE(Patch().ok());
  }
  now_ += 2;
  EXPECT_TRUE(Patch().ok());
  Refuse(403, "Forbidden", 1);
  EXPECT_FALSE(Patch().ok());
  now_ += KubeWriter::kFirstBackOff;
  EXPECT_TRUE(Patch().ok()) << "the next refusal begins anew";
}

TEST_F(KubeWriterTest, WaitsAsLongAsTheServerAsks) {
  const Json busy = {
      {"reason", "TooManyRequests"}, {"message", "no"}, {"details", {{"retryAfterSeconds", 40}}}};
  server_.Refuse("PATCH " + std::string(kJobs) + "/a", 429, busy, 1);
  EXPECT_EQ(Patch().code, 429);
  now_ += 39;
  EXPECT_FALSE(Patch().ok());
  EXPECT_EQ(Sent(), 1);
  now_ += 1;
  EXPECT_TRUE(Patch().ok());
}

TEST_F(KubeWriterTest, ConflictsAreRepeatedAtOnceButNotForEver) {
  Refuse(409, "Conflict");
  for (int tries = 0; tries < 20; ++tries) EXPECT_FALSE(Patch().ok());
  EXPECT_EQ(Sent(), 3);
}

TEST_F(KubeWriterTest, ObjectsThatAreGoneOrThereAreNoRefusal) {
  const KubeRequest create{"POST", std::string(kJobs) + kFieldManager,
                           Json{{"metadata", {{"name", "a"}, {"namespace", "default"}}}}};
  for (int tries = 0; tries < 2; ++tries) {
    EXPECT_TRUE(writer_->Write(create).Is("AlreadyExists"));
    EXPECT_TRUE(Patch("none").Is("NotFound"));
  }
  EXPECT_EQ(writer_->refused(), 0);
}

}  // namespace
}  // namespace allot
