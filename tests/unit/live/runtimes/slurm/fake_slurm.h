#pragma once
// A Slurm of no machines for tests of the runtime: its jobs and nodes are what the test says, and
// what is asked for is counted.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "clients/slurm/shared_jobs.h"
#include "clients/slurm/slurm_back_end.h"

namespace allot::testing_support {

// What the test sees and says, while the runtime owns the back end.
struct FakeSlurmState {
  std::map<std::uint32_t, SlurmJob> jobs;  // by number
  std::vector<SlurmNode> nodes;
  SlurmLimits limits;
  std::vector<SlurmPartition> partitions;
  bool refuses = false;  // to change anything
  int changes = 0;       // asked for
  int cancels = 0;
  std::uint32_t last = 1000;  // number
};

class FakeSlurm : public SlurmBackEnd {
 public:
  explicit FakeSlurm(FakeSlurmState* state) : state_(*state) {}

  Status Load(SlurmSnapshot* snapshot) override {
    SharedJobs jobs(snapshot->jobs);
    for (const auto& [id, job] : state_.jobs) jobs.Add(job);
    snapshot->jobs = jobs.Take();
    snapshot->nodes = state_.nodes;
    snapshot->limits = state_.limits;
    snapshot->partitions = state_.partitions;
    return Status::Ok();
  }
  Status LoadSettings(SlurmSettings* /*settings*/) override { return Status::Ok(); }
  Status Submit(const SlurmSubmission& submission, std::uint32_t* id) override {
    SlurmJob& job = state_.jobs[*id = ++state_.last];
    job.id = *id;
    job.user_id = submission.user_id;
    job.partition = submission.partition;
    job.comment = job.admin_comment = submission.comment;
    job.gpus = submission.gres;
    job.nodes = submission.node;
    job.cpus_per_task = submission.cpus_per_task;
    job.memory = submission.memory;
    job.state = SlurmState::kRunning;
    return Status::Ok();
  }
  Status Change(const SlurmChange& change) override {
    ++state_.changes;
    if (state_.refuses) return Status::Refused("no");
    SlurmJob& job = state_.jobs.at(change.id);
    if (!change.partition.empty()) job.partition = change.partition;
    if (!change.admin_comment.empty()) job.admin_comment = change.admin_comment;
    if (change.one_core) {
      job.cpus = job.cpus_per_node = job.cpus_per_task = 1;
      if (change.one_core->memory_mib > 0) job.memory = change.one_core->memory_mib;
      if (change.one_core->any_features) job.constraint.clear();
    }
    return Status::Ok();
  }
  Status Requeue(std::uint32_t /*id*/) override { return Status::Ok(); }
  Status Cancel(const std::string& /*job*/) override {
    ++state_.cancels;
    return Status::Ok();
  }
  Status Split(const std::string& /*tasks*/, const std::string& /*partition*/) override {
    return Status::Ok();
  }

 private:
  FakeSlurmState& state_;
};

}  // namespace allot::testing_support
