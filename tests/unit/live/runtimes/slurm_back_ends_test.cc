// Both back ends of the Slurm runtime on one cluster say the same of each of its jobs, nodes and
// settings, field by field. As slurm_place.cc: ALLOT_TEST_SLURM=1 says that there is one.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>

#include "core/json_text.h"
#include "live/runtimes/slurm/slurm_client.h"

namespace allot {
namespace {

using nlohmann::json;

json ToJson(const SlurmJob& job) {
  return {{"id", job.id},
          {"user_id", job.user_id},
          {"group_id", job.group_id},
          {"user", job.user},
          {"name", job.name},
          {"partition", job.partition},
          {"comment", job.comment},
          {"admin_comment", job.admin_comment},
          {"gpus", job.gpus},
          {"other_gpus", job.other_gpus},
          {"nodes", job.nodes},
          {"gpus_on", job.gpus_on},
          {"work_dir", job.work_dir},
          {"account", job.account},
          {"qos", job.qos},
          {"state", job.state},
          {"completing", job.completing},
          {"ended", job.ended},
          {"held", job.on_hold},
          {"array", job.array},
          {"task", job.task},
          {"tasks", job.tasks},
          {"at_most", job.at_most},
          {"part", job.part},
          {"exclusive", job.exclusive},
          {"waits", job.waits},
          {"reason", job.reason},
          {"pending", job.pending},
          {"elsewhere", job.elsewhere},
          {"submit", job.submit},
          {"deadline", job.deadline},
          {"time_limit", job.time_limit},
          {"nodes_asked", job.nodes_asked},
          {"constraint", job.constraint},
          {"excluded_nodes", job.excluded_nodes},
          {"cpus", job.cpus},
          {"cpus_per_node", job.cpus_per_node},
          {"cpus_per_task", job.cpus_per_task},
          {"memory", job.memory},
          {"requeue", job.requeue},
          {"nice", job.nice},
          {"priority", job.priority}};
}

json ToJson(const SlurmNode& node) {
  return {{"name", node.name},
          {"gres", node.gres},
          {"partitions", node.partitions},
          {"features", node.features},
          {"cpus", node.cpus},
          {"cpus_in_use", node.cpus_in_use},
          {"memory_mib", node.memory_mib},
          {"up", node.state.IsUsableNow()},
          {"drained", node.state.IsDrained()},
          {"unknown", node.state.IsUnknown()},
          {"reserved", node.reserved},
          {"cpus_reserved", node.cpus_reserved},
          {"gpus_reserved", node.gpus_reserved}};
}

json ToJson(const SlurmSnapshot& snapshot) {
  json all = {{"jobs", json::object()}, {"nodes", json::object()}};
  for (const auto& job : snapshot.jobs) all["jobs"][std::to_string(job->id)] = ToJson(*job);
  for (const SlurmNode& node : snapshot.nodes) all["nodes"][node.name] = ToJson(node);
  return all;
}

// All but which back end it is of.
json ToJson(const SlurmSettings& settings) {
  json partitions = json::object();
  for (const SlurmPartition& one : settings.partitions) partitions[one.name] = one.up;
  return {{"version", settings.version},
          {"library", settings.library},
          {"address", settings.address},
          {"user_id", settings.user_id},
          {"user", settings.user},
          {"scheduler", settings.scheduler},
          {"scheduler_parameters", settings.scheduler_parameters},
          {"select", settings.select},
          {"job_submit", settings.job_submit},
          {"accounting", settings.accounting},
          {"state_folder", settings.state_folder},
          {"requeue", settings.requeue},
          {"partitions", partitions}};
}

void Do(const std::string& command) {
  ASSERT_EQ(std::system(("cd /tmp && " + command + " >/dev/null").c_str()), 0) << command;
}

// Text that would be another job, another field, no UTF-8 or no JSON.
constexpr const char* kHostile =
    "sbatch -o /dev/null -J \"$(printf 'x\\n\\\\\"},{\"job_id\":1')\" --comment=\"$(printf "
    "'JobId=1 \\303\\244 \\377\\364\\217\\277\\277 AdminComment=elastic-of:1')\" --wrap=true";

// What users write, and try.
constexpr const char* kReservation =
    "scontrol create reservation=seen starttime=now duration=60 users=root nodes=n1 "
    "flags=ignore_jobs";

constexpr const char* kSlurmJobs[] = {
    // Slurm begins them in this order.
    "sbatch -o /dev/null -p main -w n4 --wrap='exit 3'",
    "sbatch -o /dev/null -p main -w n4 --wrap='kill -SEGV $$'",
    "sbatch -o /dev/null -p main -w n4 --wrap=true",
    "sbatch -o /dev/null -p main --gres=gpu:2 --comment='a \"b\" x=1' --wrap='sleep 600'",
    "sbatch -o /dev/null -p main --gres=gpu:v100:1 -N1 --nice=7 --requeue --wrap='sleep 600'",
    "sbatch -o /dev/null -p main -N2 -w n3,n4 --gres=gpu:1 -t 1-0 --wrap='sleep 600'",
    "sbatch -o /dev/null -p main -w n4 --gpus=2 --no-requeue --wrap='sleep 600'",
    "sbatch -o /dev/null -p main -w n4 -n2 --gpus-per-task=1 --wrap='sleep 600'",
    "sbatch -o /dev/null -C 'v100|p100' --gres=gpu:1 --wrap=true",
    "sbatch -o /dev/null --array=1-7:2%2 --gres=gpu:1 --wrap=true",
    "sbatch -o /dev/null -p main --array=0-1 -w n4 --wrap='sleep 600'",
    "sbatch -o /dev/null --exclusive=user --gres=gpu:1 --wrap=true",
    "sbatch -o /dev/null -H -D /usr -c 2 --mem=100 -t 5 --deadline=now+7200 --wrap=true",
    "sbatch -o /dev/null -p main --mem-per-cpu=7 --dependency=singleton -J wrap --wrap=true",
    "sbatch -o /dev/null -p main --begin=now+3600 --wrap=true",
    "sbatch -o /dev/null -p main --exclusive --wrap='sleep 600'",
    "sbatch -o /dev/null -p main -x n1,n[3-4] --gres=gpu:4 --wrap='sleep 600'",
    kHostile,
    kReservation,
    "scontrol update nodename=n2 state=drain reason='two words'",
};

TEST(SlurmBackEnds, SayTheSameOfACluster) {
  if (std::getenv("ALLOT_TEST_SLURM") == nullptr) GTEST_SKIP() << "needs a Slurm cluster";
  SlurmClient libslurm({.api = "libslurm", .patience = 60}, true);
  SlurmClient commands({.api = "commands", .patience = 60}, true);
  EXPECT_EQ(ToJson(libslurm.Settings()), ToJson(commands.Settings()));
  for (const char* one : kSlurmJobs) Do(one);
  // Between the two looks it may change: some jobs begin, some end.
  json left;
  json right;
  bool settled = false;
  for (int tries = 0; tries < 600 && !settled; ++tries) {
    left = ToJson(libslurm.TakeSnapshot());
    right = ToJson(commands.TakeSnapshot());
    std::set<std::string> reasons;
    for (const json& job : left["jobs"]) reasons.insert(job["reason"].get<std::string>());
    settled = left == right && reasons.contains("RUNNING") && reasons.contains("COMPLETED") &&
              reasons.contains("FAILED, exit code 3, signal 0") &&
              reasons.contains("FAILED, exit code 0, signal 11");
    if (!settled) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  Do("scontrol delete reservation=seen");
  Do("scontrol update nodename=n2 state=resume");
  Do("scancel --user=root");
  EXPECT_TRUE(settled) << JsonText(json::diff(left, right)) << JsonText(left);
  EXPECT_GE(left["jobs"].size(), std::size(kSlurmJobs) - 2);
}

// What a daemon knows of a job is older than what it says: Slurm would run a finished one again.
TEST(SlurmBackEnds, RequeueNoJobThatIsOver) {
  if (std::getenv("ALLOT_TEST_SLURM") == nullptr) GTEST_SKIP() << "needs a Slurm cluster";
  for (const char* api : {"libslurm", "commands"}) {
    SlurmClient client({.api = api, .patience = 60}, false);
    std::uint32_t last = 0;
    for (const auto& job : client.TakeSnapshot().jobs) last = std::max(last, job->id);
    Do("sbatch -o /dev/null -p main -w n4 --requeue --wrap=true");
    const auto ended = [&]() -> const SlurmJob* {
      for (const auto& job : client.TakeSnapshot().jobs) {
        if (job->id > last && job->ended && !job->completing) return job.get();
      }
      return nullptr;
    };
    const SlurmJob* job = nullptr;
    for (int tries = 0; tries < 600 && job == nullptr; ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      job = ended();
    }
    ASSERT_NE(job, nullptr) << api;
    (void)client.Requeue(job->id);  // refused by libslurm only: scontrol is content
    job = ended();
    ASSERT_NE(job, nullptr) << api << ": it runs again";
    EXPECT_EQ(job->state, SlurmState::kCompleted) << api;
  }
}

}  // namespace
}  // namespace allot
