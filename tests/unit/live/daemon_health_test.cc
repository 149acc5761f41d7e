// What 'allot doctor' thinks of a daemon, from answers in which one thing is not as it should be.

#include "live/daemon/daemon_health.h"

#include <gtest/gtest.h>

#include <functional>

namespace allot {
namespace {

DaemonFacts Sound() {
  DaemonFacts facts;
  facts.now = 1000;
  facts.status = {
      {"written", 999},   {"looked", 998},
      {"decided", 990},   {"interval", 10},
      {"policy", "drf"},  {"runtime", "slurm"},
      {"trouble", ""},    {"paused", false},
      {"drained", false}, {"jobs", nlohmann::ordered_json::array({{{"stage", "waiting"}}})}};
  facts.workers_address = "tcp:10.0.0.1:7171";
  facts.workers_reach = true;
  facts.nodes = 4;
  return facts;
}

TEST(DaemonHealthTest, ASoundDaemonIsFine) {
  for (const HealthFinding& one : LookAtDaemon(Sound())) {
    EXPECT_EQ(one.health, Health::kFine) << one.check << ": " << one.seen;
  }
}

struct Fault {
  const char* check;
  Health health;
  const char* seen;
  std::function<void(DaemonFacts*)> make;
};

TEST(DaemonHealthTest, EachFaultIsFoundByItsCheckAlone) {
  const Fault faults[] = {
      {"daemon.answer", Health::kWrong, "400 s old and must be less than 30",
       [](DaemonFacts* f) { f->status["written"] = 600; }},
      {"daemon.cluster", Health::kWrong, "no route to host",
       [](DaemonFacts* f) { f->status["trouble"] = "no route to host"; }},
      {"daemon.cluster", Health::kWarn, "has not answered",
       [](DaemonFacts* f) { f->status["looked"] = nullptr; }},
      {"daemon.decisions", Health::kWarn, "asked 500 s ago, and 1 job waits",
       [](DaemonFacts* f) { f->status["decided"] = 500; }},
      {"daemon.decisions", Health::kWarn, "never asked, and 1 job waits",
       [](DaemonFacts* f) { f->status["decided"] = nullptr; }},
      {"daemon.pause", Health::kWarn, "paused", [](DaemonFacts* f) { f->status["paused"] = true; }},
      {"daemon.pause", Health::kWarn, "no job begin",
       [](DaemonFacts* f) { f->status["drained"] = true; }},
      {"daemon.pause", Health::kWarn, "drained: n2",
       [](DaemonFacts* f) {
         f->status["nodes"] =
             nlohmann::ordered_json::array({{{"node", "n1"}, {"drained_by", "cluster"}},
                                            {{"node", "n2"}, {"drained_by", "allot"}}});
       }},
      {"daemon.port", Health::kWrong, "nothing listens at tcp:10.0.0.1:7171",
       [](DaemonFacts* f) { f->workers_reach = false; }},
      {"daemon.port", Health::kWarn, "loopback",
       [](DaemonFacts* f) { f->workers_address = "tcp:127.0.0.1:7171"; }}};
  for (const Fault& fault : faults) {
    DaemonFacts facts = Sound();
    fault.make(&facts);
    for (const HealthFinding& one : LookAtDaemon(facts)) {
      const bool meant = one.check == fault.check;
      EXPECT_EQ(one.health, meant ? fault.health : Health::kFine) << one.check << ": " << one.seen;
      if (!meant) continue;
      EXPECT_NE(one.seen.find(fault.seen), std::string::npos) << one.seen;
      EXPECT_NE(one.advice, "") << one.check;
    }
  }
}

TEST(DaemonHealthTest, WhoHasNothingToDecideIsFine) {
  DaemonFacts facts = Sound();
  facts.status["decided"] = 0;
  facts.status["jobs"] = nlohmann::ordered_json::array();
  EXPECT_EQ(LookAtDaemon(facts)[2].health, Health::kFine);
}

TEST(DaemonHealthTest, ALongIntervalIsNoFault) {
  DaemonFacts facts = Sound();
  facts.status["decided"] = 500;
  facts.status["interval"] = 60;
  EXPECT_EQ(LookAtDaemon(facts)[2].health, Health::kFine);
}

}  // namespace
}  // namespace allot
