// What 'allot doctor' thinks of a daemon, from answers in which one thing is not as it should be.

#include "live/daemon/daemon_health.h"

#include <gtest/gtest.h>

#include <functional>

namespace allot {
namespace {

DaemonFacts Sound() {
  DaemonFacts facts;
  facts.now = 1000;
  facts.status.written_at = 999;
  facts.status.polled_at = 998;
  facts.status.decided_at = 990;
  facts.status.interval = 10;
  facts.status.nodes.resize(4);
  facts.status.jobs.resize(1);  // waiting
  facts.workers_address = "tcp:10.0.0.1:7171";
  facts.workers_reach = true;
  return facts;
}

TEST(DaemonHealthTest, ASoundDaemonIsFine) {
  for (const HealthFinding& one : CheckDaemon(Sound())) {
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
       [](DaemonFacts* f) { f->status.written_at = 600; }},
      {"daemon.cluster", Health::kWrong, "no route to host",
       [](DaemonFacts* f) { f->status.trouble = "no route to host"; }},
      {"daemon.cluster", Health::kWarn, "has not answered",
       [](DaemonFacts* f) { f->status.polled_at.reset(); }},
      {"daemon.decisions", Health::kWarn, "asked 500 s ago, and 1 job waits",
       [](DaemonFacts* f) { f->status.decided_at = 500; }},
      {"daemon.decisions", Health::kWarn, "never asked, and 1 job waits",
       [](DaemonFacts* f) { f->status.decided_at.reset(); }},
      {"daemon.pause", Health::kWarn, "paused", [](DaemonFacts* f) { f->status.paused = true; }},
      {"daemon.fair_shares", Health::kWarn, "fair shares are off",
       [](DaemonFacts* f) { f->status.fair_shares = false; }},
      {"daemon.pause", Health::kWarn, "no job starts",
       [](DaemonFacts* f) { f->status.drained = true; }},
      {"daemon.pause", Health::kWarn, "drained: n2",
       [](DaemonFacts* f) {
         f->status.nodes[0] = {.name = "n1", .drained_by = Drainer::kCluster};
         f->status.nodes[1] = {.name = "n2", .drained_by = Drainer::kAllot};
       }},
      {"daemon.port", Health::kWrong, "nothing listens at tcp:10.0.0.1:7171",
       [](DaemonFacts* f) { f->workers_reach = false; }},
      {"daemon.port", Health::kWarn, "loopback",
       [](DaemonFacts* f) { f->workers_address = "tcp:127.0.0.1:7171"; }}};
  for (const Fault& fault : faults) {
    DaemonFacts facts = Sound();
    fault.make(&facts);
    for (const HealthFinding& one : CheckDaemon(facts)) {
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
  facts.status.decided_at = 0;
  facts.status.jobs.clear();
  EXPECT_EQ(CheckDaemon(facts)[2].health, Health::kFine);
}

TEST(DaemonHealthTest, ALongIntervalIsNoFault) {
  DaemonFacts facts = Sound();
  facts.status.decided_at = 500;
  facts.status.interval = 60;
  EXPECT_EQ(CheckDaemon(facts)[2].health, Health::kFine);
}

}  // namespace
}  // namespace allot
