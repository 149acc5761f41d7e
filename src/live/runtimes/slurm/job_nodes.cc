#include "live/runtimes/slurm/job_nodes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "core/error.h"
#include "core/strings.h"

namespace allot {
namespace {

// Slurm's encoding of --mem-per-cpu.
constexpr std::uint64_t kPerCpu = std::uint64_t{1} << 63U;

// or := and ('|' and)*, and := one ('&' one)*, one := '!' one | '(' or ')' | name
class Constraint {
 public:
  Constraint(std::string_view text, const std::vector<std::string>& features)
      : left_(text), features_(features) {}

  bool Or() {
    bool holds = And();
    while (Take('|')) holds = And() || holds;
    return holds;
  }
  bool understood() const { return understood_ && left_.empty(); }

 private:
  bool And() {
    bool holds = One();
    while (Take('&') || Take(',')) holds = One() && holds;
    return holds;
  }

  bool One() {
    if (Take('!')) return !One();
    if (Take('(')) {
      const bool holds = Or();
      understood_ = Take(')') && understood_;
      return holds;
    }
    const std::size_t end = std::min(left_.find_first_of("&|,()[]*!"), left_.size());
    const std::string_view name = left_.substr(0, end);
    left_.remove_prefix(end);
    understood_ = understood_ && !name.empty();
    return std::find(features_.begin(), features_.end(), name) != features_.end();
  }

  bool Take(char sign) {
    if (!left_.starts_with(sign)) return false;
    left_.remove_prefix(1);
    return true;
  }

  std::string_view left_;
  const std::vector<std::string>& features_;
  bool understood_ = true;
};

}  // namespace

bool Satisfies(const std::vector<std::string>& features, std::string_view constraint) {
  if (constraint.empty()) return true;
  Constraint reads(constraint, features);
  const bool holds = reads.Or();
  return holds || !reads.understood();
}

std::string WhyNotOn(const SlurmNode& node, const SlurmJob& job) {
  if (!Satisfies(node.features, job.constraint)) {
    return fmt::format("--constraint={}", job.constraint);
  }
  const auto& excluded = job.excluded_nodes;
  if (std::find(excluded.begin(), excluded.end(), node.name) != excluded.end()) {
    return fmt::format("--exclude={}", node.name);
  }
  if (job.cpus_per_node > static_cast<std::uint32_t>(node.cpus)) {
    return fmt::format("{} cores on a node", job.cpus_per_node);
  }
  if ((job.memory & kPerCpu) == 0 && job.memory > node.memory_mib) {
    return fmt::format("--mem={}M", job.memory);
  }
  return "";
}

std::vector<NodeKind> JobNodes::Kinds() const {
  std::vector<NodeKind> kinds;
  kinds.reserve(all_.size());
  for (const NodeOffer& one : all_) {
    kinds.push_back(
        {one.name, one.type, one.gpus, one.node->features, one.node->cpus, one.node->memory_mib});
  }
  return kinds;
}

const JobNodes::Allowed& JobNodes::AllowedTo(const SlurmJob& slurm) {
  const std::string key =
      fmt::format("{}\n{}\n{}\n{}", slurm.constraint, fmt::join(slurm.excluded_nodes, ","),
                  slurm.cpus_per_node, slurm.memory);
  const auto [known, is_new] = known_.try_emplace(key);
  Allowed& allowed = known->second;
  if (!is_new) return allowed;
  std::set<std::string> why;
  for (const NodeOffer& one : all_) {
    const std::string not_on = WhyNotOn(*one.node, slurm);
    if (not_on.empty()) {
      allowed.nodes.push_back(&one);
    } else {
      why.insert(not_on);
    }
  }
  allowed.why = fmt::format("{}", fmt::join(why, ", "));
  return allowed;
}

void JobNodes::Narrow(const SlurmJob& slurm, RuntimeJob* job) {
  const Allowed& allowed = AllowedTo(slurm);
  if (allowed.nodes.size() == all_.size()) return;
  std::set<std::string> accepted;
  for (const std::string_view type : Split(job->gpu_types, '|')) accepted.emplace(type);
  std::map<std::string, GpuCount> by_type;
  for (const NodeOffer* one : allowed.nodes) {
    if (!job->gpu_types.empty() && !accepted.contains(one->type)) continue;
    by_type[one->type] += one->gpus;
    job->only_on.push_back(one->name);
  }
  job->limits = allowed.why;
  GpuCount most = 0;  // a job runs on GPUs of one type at a time
  std::vector<std::string> types;
  for (const auto& [type, gpus] : by_type) {
    most = std::max(most, gpus);
    types.push_back(type);
  }
  if (most < job->min_gpus) {
    throw DataError("a job of at least {} GPUs may run on nodes that have {} of one type ({})",
                    job->min_gpus, most, allowed.why);
  }
  job->gpu_types = Join(types, "|");
  job->max_gpus = std::min(job->max_gpus, most);
  job->requested = std::min(job->requested, most);
}

}  // namespace allot
