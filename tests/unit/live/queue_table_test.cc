#include "live/screens/queue_table.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace allot {
namespace {

using Json = nlohmann::ordered_json;

Json QueuedJob(const std::string& name, int least, int most, int asked = 0) {
  return {{"job", name + "-6b084e5c"},
          {"name", name},
          {"title", "mlp"},
          {"user", "eve"},
          {"stage", "waiting"},
          {"reason", ""},
          {"gpus", 0},
          {"asked", asked > 0 ? asked : least},
          {"min", least},
          {"max", most},
          {"types", ""},
          {"limits", ""},
          {"nodes", Json::object()},
          {"age", 3725.0},
          {"waits", 65.0}};
}

// Of eight GPUs two a100 and one v100 are free; another v100 was just given and is not held yet.
Json QueueStatus() {
  const auto node = [](const char* name, const char* type, int held, int taken) {
    return Json{{"node", name},   {"type", type}, {"gpus", 4},        {"held", held},
                {"taken", taken}, {"up", true},   {"drained", false}, {"maintenance", false}};
  };
  Json runs = QueuedJob("1", 1, 1);
  runs["gpus"] = 3;
  runs["stage"] = "training";
  runs["nodes"] = {{"n2", 3}};
  return {{"now", 4000.0},
          {"policy", "index"},
          {"paused", false},
          {"drained", false},
          {"trouble", ""},
          {"nodes", {node("n1", "a100", 0, 2), node("n2", "v100", 2, 0)}},
          {"jobs", Json::array({runs})}};
}

// The row of the table that begins with `name`, or its line below.
std::string QueueLine(const std::string& text, const std::string& name) {
  const std::size_t begin = text.find("\n" + name) + 1;
  return begin == 0 ? "" : text.substr(begin, text.find('\n', begin) - begin);
}

std::string QueueRow(const Json& job, Json status = QueueStatus()) {
  status["jobs"].push_back(job);
  return QueueLine(QueueText(status), job.at("name"));
}

TEST(QueueTable, TellsHowManyWaitAndWhatIsFree) {
  Json status = QueueStatus();
  EXPECT_EQ(QueueText(status), "0 of 1 job waits, 3 of 8 GPUs free, policy index\n");
  status["paused"] = true;
  status["trouble"] = "no route to host";
  EXPECT_EQ(QueueText(status),
            "0 of 1 job waits, 3 of 8 GPUs free, policy index, PAUSED\n"
            "nothing is changed until the cluster can be asked again: no route to host\n");
}

TEST(QueueTable, ARowSaysWhoAskedForWhatAndSinceWhen) {
  EXPECT_EQ(QueueRow(QueuedJob("42", 4, 4)),
            "42   eve   mlp   waiting  4           1h 02m  1m 05s             "
            "needs 4 GPUs, 2 free");
  Json elastic = QueuedJob("43", 1, 8, 2);
  elastic["types"] = "a100|v100";
  EXPECT_NE(QueueRow(elastic).find("waiting  2 (1-8)  a100|v100"), std::string::npos);
}

TEST(QueueTable, WhyFollowsFromTheStatusWhereTheDaemonSaysNothing) {
  const auto why = [](const Json& job, const Json& status = QueueStatus()) {
    const std::string row = QueueRow(job, status);
    return row.substr(row.find("1m 05s") + 6 + 13);
  };
  EXPECT_EQ(why(QueuedJob("2", 1, 1)), "2 GPUs free, none given by the policy");
  Json typed = QueuedJob("2", 2, 2);
  typed["types"] = "v100";
  EXPECT_EQ(why(typed), "needs 2 GPUs, 1 free");
  Json limited = QueuedJob("2", 1, 1);
  limited["limits"] = "--constraint=nvlink";
  EXPECT_EQ(why(limited), "2 GPUs free, not all for --constraint=nvlink");
  Json held = QueuedJob("2", 1, 1);
  held["stage"] = "held";
  held["reason"] = "held by its user";
  EXPECT_EQ(why(held), "held by its user");
  Json paused = QueueStatus();
  paused["paused"] = true;
  EXPECT_EQ(why(QueuedJob("2", 1, 1), paused), "allot is paused");
  Json drained = QueueStatus();
  drained["drained"] = true;
  EXPECT_EQ(why(QueuedJob("2", 1, 1), drained), "drained: no job begins");
  Json away = QueueStatus();
  away["nodes"][0]["up"] = false;
  EXPECT_EQ(why(QueuedJob("2", 2, 2), away), "needs 2 GPUs, 1 free");
}

TEST(QueueTable, ALongReasonStandsBelow) {
  Json job = QueuedJob("2", 1, 1);
  job["reason"] = std::string(61, 'x');
  Json status = QueueStatus();
  status["jobs"].push_back(job);
  const std::string text = QueueText(status);
  EXPECT_TRUE(QueueLine(text, "2 ").ends_with("see below")) << text;
  EXPECT_TRUE(text.ends_with("\n2: " + std::string(61, 'x') + "\n")) << text;
}

TEST(QueueTable, AForecastSaysWhenItStarts) {
  Json job = QueuedJob("2", 1, 1);
  job["eta"] = {{"end", {{"0.5", 9000.0}}}, {"start", {{"0.5", 4060.0}}}};
  EXPECT_NE(QueueRow(job).find("1m 00s"), std::string::npos);
}

TEST(QueueTable, ADaemonOfBeforeSaysLess) {
  Json job = QueuedJob("2", 1, 4);
  for (const char* key : {"title", "asked", "limits", "waits"}) job.erase(key);
  EXPECT_NE(QueueRow(job).find("1 (1-4)"), std::string::npos);
}

}  // namespace
}  // namespace allot
