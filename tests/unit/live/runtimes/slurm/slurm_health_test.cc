// Each check of 'allot doctor' on Slurm, on settings in which it alone is not fine.

#include "live/runtimes/slurm/slurm_health.h"

#include <gtest/gtest.h>

#include <functional>

namespace allot {
namespace {

SlurmFacts Sound() {
  SlurmFacts facts;
  facts.settings = {.version = "22.05.9",
                    .library = "22.05.8",
                    .user_id = 64030,
                    .user = "slurm",
                    .scheduler = "sched/backfill",
                    .scheduler_parameters = "batch_sched_delay=0,sched_interval=2",
                    .select = "select/cons_tres",
                    .job_submit = "lua",
                    .accounting = "accounting_storage/slurmdbd",
                    .state_folder = "/var/spool/slurmctld",
                    .priority = "priority/multifactor",
                    .requeue = true,
                    .partitions = {{"main", true}, {"elastic", false}}};
  facts.gpu_nodes = 4;
  facts.gpu_nodes_up = 4;
  facts.partition = "main";
  facts.queue = "elastic";
  facts.launcher = "/bin/sh";
  facts.user_id = 64030;
  return facts;
}

TEST(SlurmHealthTest, ASoundClusterIsFine) {
  for (const HealthFinding& one : CheckSlurm(Sound())) {
    EXPECT_EQ(one.health, Health::kFine) << one.check << ": " << one.seen;
    EXPECT_EQ(one.advice, "") << one.check;
  }
}

struct Fault {
  const char* check;
  Health health;
  const char* seen;  // part of what is said
  std::function<void(SlurmFacts*)> make;
};

TEST(SlurmHealthTest, EachFaultIsFoundByItsCheckAlone) {
  const Fault faults[] = {
      {"slurm.version", Health::kWrong, "controller 23.11.4, library 22.05.8",
       [](SlurmFacts* f) { f->settings.version = "23.11.4"; }},
      {"slurm.user", Health::kWrong, "uid 1000; only SlurmUser slurm (64030)",
       [](SlurmFacts* f) { f->user_id = 1000; }},
      {"slurm.version", Health::kWarn, "controller 23.11.4, programs 22.05.8",
       [](SlurmFacts* f) {
         f->settings.api = "commands";
         f->settings.version = "23.11.4";
         f->user_id = 0;
       }},
      {"slurm.user", Health::kWrong, "the daemon does not start",
       [](SlurmFacts* f) { f->settings.api = "commands"; }},
      {"slurm.user", Health::kWarn, "elastic jobs of others do not begin",
       [](SlurmFacts* f) {
         f->settings.api = "commands";
         f->api_named = true;
       }},
      {"slurm.partitions", Health::kWrong, "no partition 'elastic'",
       [](SlurmFacts* f) { f->settings.partitions.pop_back(); }},
      {"slurm.partitions", Health::kWrong, "'elastic' is up",
       [](SlurmFacts* f) { f->settings.partitions[1].up = true; }},
      {"slurm.partitions", Health::kWrong, "'main' is down",
       [](SlurmFacts* f) { f->settings.partitions[0].up = false; }},
      {"slurm.partitions", Health::kWrong, "'home' does not exist",
       [](SlurmFacts* f) {
         f->others = {"main", "home"};
       }},
      {"slurm.partitions", Health::kWrong, "'elastic' is down: jobs that run there",
       [](SlurmFacts* f) { f->others = {"elastic"}; }},
      {"slurm.gpus", Health::kWrong, "0 nodes with GPUs",
       [](SlurmFacts* f) { f->gpu_nodes = f->gpu_nodes_up = 0; }},
      {"slurm.gpus", Health::kWarn, "0 of them up", [](SlurmFacts* f) { f->gpu_nodes_up = 0; }},
      {"slurm.select", Health::kWrong, "select/linear",
       [](SlurmFacts* f) { f->settings.select = "select/linear"; }},
      {"slurm.memory", Health::kWarn, "gets all of its nodes",
       [](SlurmFacts* f) { f->settings.partitions[0].memory = SlurmMemory::kWholeByNone; }},
      {"slurm.output", Health::kWarn, "JobFileAppend=0",
       [](SlurmFacts* f) { f->settings.appends_output = false; }},
      {"slurm.kill_wait", Health::kWarn, "KillWait=5",
       [](SlurmFacts* f) { f->settings.kill_wait = 5; }},
      {"slurm.port", Health::kWarn, "port 45351: while it is away",
       [](SlurmFacts* f) { f->port = 45351; }},
      {"slurm.submission", Health::kWarn, "beside allot",
       [](SlurmFacts* f) { f->settings.job_submit = ""; }},
      {"slurm.scheduler", Health::kWrong, "sched_interval=-1",
       [](SlurmFacts* f) { f->settings.scheduler_parameters = "sched_interval=-1"; }},
      {"slurm.scheduler", Health::kWarn, "with defer",
       [](SlurmFacts* f) { f->settings.scheduler_parameters += ",defer"; }},
      {"slurm.scheduler", Health::kWarn, "(none): workers wait",
       [](SlurmFacts* f) { f->settings.scheduler_parameters = ""; }},
      {"slurm.requeue", Health::kWarn, "JobRequeue=0",
       [](SlurmFacts* f) { f->settings.requeue = false; }},
      {"slurm.accounting", Health::kWarn, "no accounting",
       [](SlurmFacts* f) { f->settings.accounting = "accounting_storage/none"; }},
      {"slurm.claim", Health::kWarn, "/var/spool/slurmctld cannot be written",
       [](SlurmFacts* f) { f->may_claim = false; }},
      {"slurm.claim", Health::kFine, "; a.1.2 is in charge, as it said 3 s ago",
       [](SlurmFacts* f) {
         f->in_charge = "a.1.2";
         f->renewed_ago = 3;
       }},
      {"slurm.claim", Health::kWrong, "to open '/var/spool/slurmctld/allot.lock'",
       [](SlurmFacts* f) {
         f->may_not_open = "user 64030 must be able to open '/var/spool/slurmctld/allot.lock'";
       }},
      {"slurm.launcher", Health::kWrong, "/no/such/program",
       [](SlurmFacts* f) { f->launcher = "/no/such/program"; }}};
  for (const Fault& fault : faults) {
    SlurmFacts facts = Sound();
    fault.make(&facts);
    for (const HealthFinding& one : CheckSlurm(facts)) {
      const bool meant = one.check == fault.check;
      EXPECT_EQ(one.health, meant ? fault.health : Health::kFine) << one.check << ": " << one.seen;
      if (!meant) continue;
      EXPECT_NE(one.seen.find(fault.seen), std::string::npos) << one.seen;
      EXPECT_EQ(one.advice.empty(), one.health == Health::kFine) << one.check;
    }
  }
}

}  // namespace
}  // namespace allot
