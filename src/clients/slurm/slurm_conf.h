#pragma once
// How a cluster of Slurm decides, as its slurm.conf says: priorities, backfill, partitions. Read
// by the policy `slurm` (agents/heuristic/slurm.cc). Defaults are those of Slurm's documentation
// (slurm.conf(5) of 22.05; the PriorityType is multifactor, as from 23.11 on).

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/types.h"

namespace allot {

// The whole text of a file; throws where it cannot be read.
using ReadText = std::function<std::string(const std::string& path)>;

// Weights of TRES: of those that Slurm has, these two are known of a job.
struct SlurmWeights {
  double cpu = 0;
  double gpu = 0;
};

struct SlurmConfNode {
  std::string name;
  GpuCount gpus = 0;
  int weight = 1;  // lower ones are taken first
};

struct SlurmConfPartition {
  std::string name;
  std::vector<std::string> nodes{};  // empty: all
  Seconds max_time = kNever;
  std::optional<Seconds> default_time{};
  int tier = 1;
  int job_factor = 1;
  std::string qos{};  // whose limits all its jobs have; "": none
  bool is_default = false;
  std::optional<SlurmWeights> billing{};  // none: what jobs are charged is their CPUs
};

struct SlurmConf {
  bool multifactor = true;       // else priority/basic: first in, first out
  bool backfill = true;          // else sched/builtin
  bool enforces_limits = false;  // of accounts and QOS (AccountingStorageEnforce)

  // Of priority/multifactor.
  double weight_age = 0;
  double weight_fair_share = 0;
  double weight_job_size = 0;
  double weight_partition = 0;
  double weight_qos = 0;
  SlurmWeights weight_tres{};
  Seconds max_age = 7 * 86400.0;
  Seconds half_life = 7 * 86400.0;  // kNever: nothing decays
  Seconds calc_period = 300;        // priorities and usage are computed so often
  double dampening = 1;             // of classic fair shares
  bool favor_small = false;
  bool relative_to_time = false;  // SMALL_RELATIVE_TO_TIME
  bool fair_tree = true;

  // Of the scheduler.
  int queue_depth = 100;  // default_queue_depth
  Seconds sched_interval = 60;
  Seconds bf_interval = 30;
  Seconds bf_window = 86400;
  Seconds bf_resolution = 60;
  int bf_max_job_test = 500;
  int bf_max_job_user = 0;  // 0: no limit

  std::vector<SlurmConfPartition> partitions{};  // in the order of the file
  std::vector<SlurmConfNode> nodes{};            // likewise
  // What the file says about decisions and nothing here keeps: "PreemptType=preempt/qos". Each
  // once.
  std::vector<std::string> not_kept{};
};

// Reads the file and those that it includes, whose paths are relative to its folder. DataError with
// file and line for an unknown PriorityType or SchedulerType, weights and numbers out of their
// range, times that are none, and files that are not there.
SlurmConf ReadSlurmConf(const std::string& path, const ReadText& read);

// The file itself and those that it includes, as far as they are there (ParamSpec::files).
std::vector<std::string> FilesOfSlurmConf(const std::string& path);

// "gres/gpu=4" of "cpu=8,gres/gpu=4", by names without case; nullopt where it is not named or no
// number.
std::optional<double> TresNumber(std::string_view list, std::string_view name);

}  // namespace allot
