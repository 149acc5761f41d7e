#include "live/state/live_records.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "core/index.h"
#include "live/runtimes/job_options.h"

namespace allot {
namespace {

constexpr std::array<std::string_view, 5> kJobStates = {"active", "held", "finished", "failed",
                                                        "cancelled"};

JournalRecord Known(double value) { return std::isfinite(value) ? JournalRecord(value) : nullptr; }

}  // namespace

std::string_view JobStateName(JobState state) {
  return kJobStates[static_cast<std::size_t>(state)];
}

JobState ParseJobState(std::string_view name, JobState otherwise) {
  const auto state = std::find(kJobStates.begin(), kJobStates.end(), name);
  return state == kJobStates.end() ? otherwise : JobState(state - kJobStates.begin());
}

double NumberIn(const JournalRecord& record, const char* key, double otherwise) {
  const auto found = record.find(key);
  return found == record.end() || found->is_null() ? otherwise : found->get<double>();
}

namespace record {

JournalRecord Nodes(const std::vector<RuntimeNode>& nodes) {
  JournalRecord list = JournalRecord::array();
  for (const RuntimeNode& node : nodes) {
    list.push_back({{"node", node.name},
                    {"type", node.gpu_type},
                    {"gpus", node.capacity.gpus},
                    {"cpus", node.capacity.cpus},
                    {"up", node.up}});
    if (node.taken > 0) list.back()["taken"] = node.taken;
    if (node.drained) list.back()["drained"] = true;
  }
  return {{"nodes", std::move(list)}};
}

JournalRecord Job(const RuntimeJob& job, Seconds submit, Seconds deadline) {
  JournalRecord asked = {
      {"job", job.id},    {"user", job.user},          {"name", job.name},
      {"submit", submit}, {"submit_unix", job.submit}, {"deadline", Known(deadline)}};
  RecordJobOptions(job, &asked);
  asked["time_limit"] = Known(job.time_limit);
  asked["priority"] = job.priority;
  asked["comment"] = job.comment;
  if (!job.known_as.empty()) asked["known_as"] = job.known_as;
  if (!job.account.empty()) asked["account"] = job.account;
  return asked;
}

RuntimeJob AskedOf(const JournalRecord& r) {
  RuntimeJob job;
  job.id = r.at("job");
  job.user = r.at("user");
  job.name = r.at("name");
  job.known_as = r.value("known_as", std::string());
  job.submit = r.at("submit_unix");
  job.account = r.value("account", std::string());
  job.time_limit = NumberIn(r, "time_limit", kNever);
  job.priority = r.at("priority");
  job.comment = r.at("comment");
  TakeJobOptions(r, &job);
  return job;
}

JournalRecord Workers(const std::string& job, const std::vector<LiveWorker>& workers,
                      const std::vector<RuntimeNode>& nodes) {
  JournalRecord list = JournalRecord::array();
  for (const LiveWorker& worker : workers) {
    list.push_back(
        {{"worker", worker.id}, {"node", nodes[At(worker.node)].name}, {"gpus", worker.gpus}});
  }
  return {{"job", job}, {"workers", std::move(list)}};
}

JournalRecord Give(const std::string& job, const std::string& configuration,
                   std::span<const NodeShare> shares, const std::vector<RuntimeNode>& nodes,
                   const std::string& why) {
  JournalRecord list = JournalRecord::array();
  for (const NodeShare& share : shares) list.push_back({nodes[At(share.node)].name, share.gpus});
  return {
      {"job", job}, {"configuration", configuration}, {"shares", std::move(list)}, {"why", why}};
}

}  // namespace record
}  // namespace allot
