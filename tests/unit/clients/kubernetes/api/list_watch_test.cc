// The protocol of lists and watches, without a socket: recorded answers, and what may come wrong.

#include "clients/kubernetes/api/list_watch.h"

#include <gtest/gtest.h>

#include <random>

#include "core/file.h"

namespace allot {
namespace {

using Json = nlohmann::json;

std::string RecordedText(const std::string& name) {
  return ReadTextFile(ALLOT_TEST_DATA "/kubernetes/" + name);
}

struct Named {
  std::string name, value;
  friend bool operator==(const Named&, const Named&) = default;
};

Json Object(const std::string& name, int version, const std::string& value = "") {
  return {{"metadata",
           {{"uid", "uid-" + name}, {"name", name}, {"resourceVersion", std::to_string(version)}}},
          {"value", value}};
}

std::string Line(const std::string& type, const Json& object) {
  return Json({{"type", type}, {"object", object}}).dump() + "\n";
}

KubeReply ListOf(std::vector<Json> items, int version, const std::string& more = "") {
  Json meta = {{"resourceVersion", std::to_string(version)}};
  if (!more.empty()) meta["continue"] = more;
  return ReadKubeReply(200, Json({{"metadata", meta}, {"items", items}}).dump());
}

KubeReply Refusal(long code, const std::string& reason) {
  return ReadKubeReply(
      code,
      Json({{"kind", "Status"}, {"reason", reason}, {"code", code}, {"message", "why"}}).dump());
}

class ListWatchTest : public testing::Test {
 protected:
  ListWatchTest()
      : store_([](const Json& object) -> std::optional<Named> {
          return Named{object.at("metadata").at("name"), object.value("value", "")};
        }),
        watch_("/api/v1/pods", "labelSelector=x", store_) {}

  // "name=value name=value"
  std::string Known() const {
    std::string text;
    store_.ForEach([&](const Named& one) { text += one.name + "=" + one.value + " "; });
    return text;
  }
  std::string NextPath() {
    const auto ask = watch_.Next(now_);
    return ask ? ask->path : "none";
  }
  void BeginWatch(std::vector<Json> items, int version) {
    ASSERT_TRUE(watch_.Next(now_));
    watch_.OnList(ListOf(std::move(items), version), now_);
    const auto ask = watch_.Next(now_);
    ASSERT_TRUE(ask && ask->watch);
    watch_.OnOpen(now_);
  }
  // After its pause.
  std::string PathLater() {
    now_ = std::max(now_, watch_.due());
    return NextPath();
  }

  ObjectStore<Named> store_;
  ListWatch watch_;
  Seconds now_ = 1000;
};

constexpr const char* kListPath = "/api/v1/pods?labelSelector=x&limit=500";

std::string WatchPath(int version) {
  return "/api/v1/pods?labelSelector=x&watch=1&allowWatchBookmarks=true&timeoutSeconds=290"
         "&resourceVersion=" +
         std::to_string(version);
}

TEST_F(ListWatchTest, ListsInPagesAndWatchesFromTheListsVersion) {
  EXPECT_EQ(NextPath(), kListPath);
  EXPECT_EQ(NextPath(), "none") << "one request at a time";
  watch_.OnList(ListOf({Object("a", 3)}, 10, "to ken"), now_);
  EXPECT_EQ(Known(), "") << "a page is no list";
  EXPECT_FALSE(watch_.listed());
  EXPECT_EQ(NextPath(), std::string(kListPath) + "&continue=to%20ken");
  EXPECT_TRUE(watch_.OnList(ListOf({Object("b", 4)}, 10), now_));
  EXPECT_EQ(Known(), "a= b= ");
  EXPECT_TRUE(watch_.listed());
  EXPECT_EQ(NextPath(), WatchPath(10));
}

TEST_F(ListWatchTest, FollowsEvents) {
  BeginWatch({Object("a", 3, "1")}, 10);
  EXPECT_TRUE(watch_.OnBytes(Line("ADDED", Object("b", 11, "1")), now_));
  EXPECT_TRUE(watch_.OnBytes(Line("MODIFIED", Object("a", 12, "2")), now_));
  EXPECT_EQ(Known(), "a=2 b=1 ");
  EXPECT_TRUE(watch_.OnBytes(Line("DELETED", Object("a", 13)), now_));
  EXPECT_EQ(Known(), "b=1 ");
}

TEST_F(ListWatchTest, AnEventThatChangesNothingKeptIsNoChange) {
  BeginWatch({Object("a", 3, "1")}, 10);
  EXPECT_FALSE(watch_.OnBytes(Line("MODIFIED", Object("a", 12, "1")), now_));
}

TEST_F(ListWatchTest, TheNextWatchBeginsBehindTheLastWholeEvent) {
  BeginWatch({}, 10);
  const std::string half = Line("ADDED", Object("b", 12));
  watch_.OnBytes(Line("ADDED", Object("a", 11)) + half.substr(0, half.size() - 9), now_);
  EXPECT_EQ(Known(), "a= ");
  watch_.OnEnd(now_ += 5);
  EXPECT_EQ(watch_.trouble(), "");
  EXPECT_EQ(NextPath(), WatchPath(11));
  watch_.OnOpen(now_);
  watch_.OnBytes(half, now_);
  EXPECT_EQ(Known(), "a= b= ") << "nothing of the half line is left";
}

TEST_F(ListWatchTest, ABookmarkMovesTheVersion) {
  BeginWatch({}, 10);
  watch_.OnBytes(Line("BOOKMARK", {{"metadata", {{"resourceVersion", "50"}}}}), now_);
  watch_.OnEnd(now_ += 5);
  EXPECT_EQ(NextPath(), WatchPath(50));
}

TEST_F(ListWatchTest, LinesMayComeInAnyPieces) {
  BeginWatch({}, 10);
  const std::string text = Line("ADDED", Object("a", 11)) + "\r\n" + Line("ADDED", Object("b", 12));
  for (const char c : text) watch_.OnBytes(std::string_view(&c, 1), now_);
  EXPECT_EQ(Known(), "a= b= ");
}

TEST_F(ListWatchTest, WhatIsOlderThanWhatIsKnownChangesNothing) {
  BeginWatch({Object("a", 9, "9")}, 10);
  watch_.OnBytes(Line("MODIFIED", Object("a", 12, "12")) + Line("MODIFIED", Object("a", 11, "11")),
                 now_);
  EXPECT_EQ(Known(), "a=12 ");
  watch_.OnBytes(Line("DELETED", Object("a", 14)) + Line("MODIFIED", Object("a", 13, "13")), now_);
  EXPECT_EQ(Known(), "") << "what was deleted does not come back";
  watch_.OnEnd(now_ += 5);
  EXPECT_EQ(NextPath(), WatchPath(14)) << "the version never falls";
}

TEST_F(ListWatchTest, OurOwnAnswerIsSeenAtOnceAndStaysThoughTheListIsOlder) {
  ASSERT_TRUE(watch_.Next(now_));
  store_.Put(Object("ours", 11));
  watch_.OnList(ListOf({Object("a", 3)}, 10), now_);
  EXPECT_EQ(Known(), "a= ours= ");
}

TEST_F(ListWatchTest, AListDropsWhatIsNoLongerThere) {
  store_.Put(Object("old", 5));
  ASSERT_TRUE(watch_.Next(now_));
  watch_.OnList(ListOf({Object("a", 3)}, 10), now_);
  EXPECT_EQ(Known(), "a= ");
}

TEST_F(ListWatchTest, AWatchThatIsTooOldIsListedAgain) {
  BeginWatch({Object("a", 3)}, 10);
  const Json gone =
      Json::parse(R"({"kind":"Status","code":410,"reason":"Expired","message":"old"})");
  watch_.OnBytes(Line("ERROR", gone), now_);
  EXPECT_TRUE(watch_.wants_end());
  watch_.OnEnd(now_);
  EXPECT_EQ(Known(), "a= ") << "what is known stays until the list is there";
  EXPECT_EQ(watch_.trouble(), "");
  EXPECT_EQ(PathLater(), kListPath);
}

TEST_F(ListWatchTest, AWatchThatIsRefusedAsTooOldIsListedAgain) {
  ASSERT_TRUE(watch_.Next(now_));
  watch_.OnList(ListOf({}, 10), now_);
  ASSERT_TRUE(watch_.Next(now_));
  watch_.OnRefused(Refusal(410, "Expired"), now_);
  EXPECT_EQ(PathLater(), kListPath);
}

TEST_F(ListWatchTest, PagesThatAreTooOldBeginAnew) {
  ASSERT_TRUE(watch_.Next(now_));
  watch_.OnList(ListOf({Object("a", 3)}, 10, "token"), now_);
  ASSERT_TRUE(watch_.Next(now_));
  watch_.OnList(Refusal(410, "Expired"), now_);
  EXPECT_EQ(PathLater(), kListPath);
  watch_.OnList(ListOf({Object("b", 4)}, 11), now_);
  EXPECT_EQ(Known(), "b= ") << "nothing of the old pages is left";
}

TEST_F(ListWatchTest, ARefusalIsToldAndAskedAgainMoreAndMoreRarely) {
  Seconds before = 0;
  for (int tries = 0; tries < 12; ++tries) {
    ASSERT_TRUE(watch_.Next(now_));
    watch_.OnList(Refusal(403, "Forbidden"), now_);
    EXPECT_EQ(watch_.trouble(), "/api/v1/pods: 403 Forbidden: why");
    const Seconds pause = watch_.due() - now_;
    EXPECT_GE(pause, before);
    EXPECT_LE(pause, 10);
    EXPECT_EQ(NextPath(), "none");
    before = pause;
    now_ = watch_.due();
  }
  ASSERT_TRUE(watch_.Next(now_));
  watch_.OnList(ListOf({}, 10), now_);
  EXPECT_EQ(watch_.trouble(), "");
}

TEST_F(ListWatchTest, AServerThatAsksForPatienceGetsIt) {
  ASSERT_TRUE(watch_.Next(now_));
  KubeReply reply = Refusal(429, "TooManyRequests");
  reply.retry_after = 7;
  watch_.OnList(reply, now_);
  EXPECT_EQ(watch_.due(), now_ + 7);
}

TEST_F(ListWatchTest, NobodysPatienceIsWithoutEnd) {
  ASSERT_TRUE(watch_.Next(now_));
  KubeReply reply = Refusal(429, "TooManyRequests");
  reply.retry_after = 1e12;
  watch_.OnList(reply, now_);
  EXPECT_EQ(watch_.due(), now_ + 60);
}

TEST_F(ListWatchTest, WatchesThatAreCutAtOnceAreNotOpenedInALoop) {
  BeginWatch({}, 10);
  watch_.OnEnd(now_);
  EXPECT_GT(watch_.due(), now_);
}

TEST_F(ListWatchTest, WatchesThatEndWithoutAnEventAreListedAgain) {
  for (const Seconds open : {0.0, 5.0, 30.0}) {
    BeginWatch({Object("a", 3)}, 10);
    for (int silent = 1; silent < 3; ++silent) {
      watch_.OnEnd(now_ += open);
      EXPECT_EQ(PathLater(), WatchPath(10)) << silent << " silent watches of " << open << " s";
      watch_.OnOpen(now_);
    }
    watch_.OnEnd(now_ += open);
    EXPECT_EQ(watch_.trouble(), "") << "what is known is as new as the list";
    EXPECT_EQ(PathLater(), kListPath);
    // Until one is heard of, a list comes before each watch.
    watch_.OnList(ListOf({Object("b", 12)}, 12), now_);
    EXPECT_EQ(Known(), "b= ");
    ASSERT_EQ(NextPath(), WatchPath(12));
    watch_.OnOpen(now_);
    watch_.OnEnd(now_ += open);
    EXPECT_EQ(PathLater(), kListPath);
    watch_.OnList(ListOf({}, 13), now_);
    ASSERT_EQ(NextPath(), WatchPath(13));
    watch_.OnOpen(now_);
    watch_.OnBytes(Line("BOOKMARK", {{"metadata", {{"resourceVersion", "14"}}}}), now_);
    watch_.OnEnd(now_ += 2);
    EXPECT_EQ(NextPath(), WatchPath(14)) << "a bookmark is a word";
    watch_.OnRefused(Refusal(410, "Expired"), now_);
    now_ = watch_.due();
  }
}

TEST_F(ListWatchTest, OneWatchThatWasSilentForMinutesIsListedAgain) {
  BeginWatch({}, 10);
  watch_.OnBytes("\n \n", now_ += 60);
  watch_.OnEnd(now_ += 90);
  EXPECT_EQ(NextPath(), kListPath);
}

TEST_F(ListWatchTest, SilentWatchesAreListedAgainEveryTenSecondsAtMost) {
  BeginWatch({}, 10);
  int lists = 0;
  watch_.OnEnd(now_);
  for (const Seconds end = now_ + 600; now_ < end; now_ = std::max(now_, watch_.due())) {
    if (watch_.Next(now_)->watch) {
      watch_.OnOpen(now_);
      watch_.OnEnd(now_);
    } else {
      ++lists;
      watch_.OnList(ListOf({}, 10), now_);
    }
  }
  EXPECT_GE(lists, 50);
  EXPECT_LE(lists, 70);
}

TEST_F(ListWatchTest, ALineThatIsNoEventEndsTheStreamAndIsToldOfAndListedAgain) {
  for (const char* line :
       {"nonsense\n", "{\n", "[]\n", "{}\n",
        R"({"type":"ADDED"})"
        "\n",
        R"({"type":"ADDED","object":{}})"
        "\n",
        R"({"type":"ADDED","object":null})"
        "\n",
        R"({"type":"ADDED","object":{"metadata":null}})"
        "\n",
        R"({"type":"DANCED","object":{"metadata":{"resourceVersion":"11","uid":"u"}}})"
        "\n",
        R"({"type":"ADDED","object":{"metadata":{"resourceVersion":11,"uid":"u"}}})"
        "\n"}) {
    BeginWatch({}, 10);
    watch_.OnBytes(line, now_);
    EXPECT_TRUE(watch_.wants_end()) << line;
    EXPECT_NE(watch_.trouble(), "") << line;
    watch_.OnEnd(now_);
    now_ = std::max(now_, watch_.due());
  }
  EXPECT_EQ(NextPath(), kListPath);
}

TEST_F(ListWatchTest, ALineThatNestsWithoutEndIsNotRead) {
  BeginWatch({}, 10);
  const std::string deep(100'000, '[');
  watch_.OnBytes(R"({"type":"ERROR","object":)" + deep + "\n", now_);
  EXPECT_TRUE(watch_.wants_end());
  EXPECT_NE(watch_.trouble().find("deeper than 100"), std::string::npos) << watch_.trouble();
}

TEST_F(ListWatchTest, EventsThatComeTwiceChangeNothing) {
  BeginWatch({}, 10);
  const std::string events = Line("ADDED", Object("a", 11, "1")) +
                             Line("MODIFIED", Object("a", 12, "2")) +
                             Line("ADDED", Object("b", 13)) + Line("DELETED", Object("b", 14));
  EXPECT_TRUE(watch_.OnBytes(events, now_));
  EXPECT_FALSE(watch_.OnBytes(events, now_));
  EXPECT_EQ(Known(), "a=2 ");
  EXPECT_FALSE(watch_.wants_end());
}

TEST_F(ListWatchTest, ALineIsDroppedAsSoonAsItIsTooLong) {
  BeginWatch({}, 10);
  const std::string piece(16 * 1024, 'x');
  std::size_t taken = 0;
  while (!watch_.wants_end() && taken < std::size_t{64} * 1024 * 1024) {
    watch_.OnBytes(piece, now_);
    taken += piece.size();
  }
  EXPECT_LE(taken, std::size_t{8} * 1024 * 1024 + piece.size());
  watch_.OnBytes(Line("ADDED", Object("a", 11)), now_);
  EXPECT_EQ(Known(), "") << "nothing more of this stream is read";
}

TEST_F(ListWatchTest, ALineWithoutEndIsNotKept) {
  BeginWatch({}, 10);
  const std::string much(std::size_t{9} * 1024 * 1024, 'x');
  watch_.OnBytes(much, now_);
  EXPECT_TRUE(watch_.wants_end());
  EXPECT_NE(watch_.trouble().find("at most 8388608 bytes"), std::string::npos) << watch_.trouble();
}

TEST_F(ListWatchTest, AnAnswerThatIsReadLateBringsNothingBack) {
  store_.Put(Object("a", 1));
  store_.Remove(Object("a", 3));
  store_.Bookmark();
  store_.Bookmark();
  EXPECT_FALSE(store_.PutWritten(Object("a", 2, "deleting")));
  EXPECT_EQ(Known(), "") << "the watch has told that it is gone";
  EXPECT_TRUE(store_.PutWritten(Object("b", 4)));
  EXPECT_EQ(Known(), "b= ");
}

TEST_F(ListWatchTest, ATombstoneIsKeptForTwoBookmarks) {
  BeginWatch({}, 10);
  const std::string mark = Line("BOOKMARK", {{"metadata", {{"resourceVersion", "50"}}}});
  watch_.OnBytes(Line("DELETED", Object("a", 11)) + mark, now_);
  watch_.OnBytes(Line("MODIFIED", Object("a", 10)), now_);
  EXPECT_EQ(Known(), "");
  watch_.OnBytes(mark + Line("ADDED", Object("a", 60)), now_);
  EXPECT_EQ(Known(), "a= ");
}

// ---- what a real server said ----

TEST(RecordedWatch, PodsOfARealServerAreFollowedToTheirEnd) {
  ObjectStore<std::string> names(
      [](const Json& object) -> std::optional<std::string> { return object["metadata"]["name"]; });
  ListWatch watch("/api/v1/pods", "", names);
  ASSERT_TRUE(watch.Next(0));
  const KubeReply empty =
      ReadKubeReply(200, R"({"kind":"PodList","metadata":{"resourceVersion":"369"},"items":null})");
  watch.OnList(empty, 0);
  ASSERT_TRUE(watch.Next(0));
  watch.OnOpen(0);
  watch.OnBytes(RecordedText("watch-pods.jsonl"), 0);
  EXPECT_FALSE(watch.wants_end()) << watch.trouble();
  EXPECT_EQ(names.size(), 0U) << "all were deleted in the end";
  watch.OnEnd(70);
  EXPECT_TRUE(watch.Next(70)->path.ends_with("resourceVersion=396")) << "the last bookmark's";
}

TEST(RecordedWatch, WhateverIsCutOrBrokenNothingIsLostForEver) {
  const std::string text = RecordedText("watch-pods.jsonl") + RecordedText("watch-jobs.jsonl");
  std::mt19937 random(1);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  for (int round = 0; round < 300; ++round) {
    ObjectStore<std::string> pods([](const nlohmann::json& pod) {
      return std::optional(pod.at("metadata").at("name").get<std::string>());
    });
    ListWatch watch("/api/v1/pods", "", pods);
    std::string broken = text;
    for (int change = 0; change < 5; ++change) {
      const std::size_t at = below(broken.size() - 1);
      switch (below(3)) {
        case 0:
          broken[at] = static_cast<char>(below(256));
          break;
        case 1:
          broken.erase(at, below(200));
          break;
        default:
          broken.insert(at, broken.substr(below(broken.size()), below(200)));
      }
    }
    Seconds now = 0;
    std::size_t at = 0;
    while (at < broken.size()) {  // whatever comes, it asks again
      now = std::max(now, watch.due());
      const auto ask = watch.Next(now);
      ASSERT_TRUE(ask);
      if (!ask->watch) {
        watch.OnList(ListOf({}, 300), now);
        continue;
      }
      watch.OnOpen(now);
      while (at < broken.size() && !watch.wants_end()) {
        const std::size_t piece = std::min(broken.size() - at, 1 + below(4000));
        watch.OnBytes(std::string_view(broken).substr(at, piece), now);
        at += piece;
      }
      watch.OnEnd(now += 2);
    }
    ASSERT_LE(watch.due(), now + 10);
  }
}

}  // namespace
}  // namespace allot
