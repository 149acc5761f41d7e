#include "live/runtimes/slurm/slurm_client.h"

#include <memory>
#include <utility>

#include "core/cpu_elsewhere.h"
#include "live/runtimes/slurm/slurm_tags.h"

namespace allot {

SlurmClient::SlurmClient(const SlurmAccess& access, bool read_only)
    : SlurmClient(OpenSlurm(access), read_only) {}

SlurmClient::SlurmClient(OpenedSlurm slurm, bool read_only)
    : read_only_(read_only),
      back_end_(std::move(slurm.back_end)),
      way_(std::move(slurm.why)),
      sacctmgr_(std::move(slurm.sacctmgr)) {}

SlurmClient::~SlurmClient() = default;

const SlurmSnapshot& SlurmClient::TakeSnapshot() {
  const Status done = back_end_->Load(&snapshot_);
  if (!done.ok()) throw RunError("{}", done.message());
  AddCpuSecondsElsewhere(snapshot_.cpu_elsewhere);
  if (MayWrite().ok()) EndUntagged();
  return snapshot_;
}

// Workers that a daemon submitted held and could not tag any more (slurm_commands.cc): Submit has
// ended before any look, so there is none of ours in between. Nobody waits for them, and anybody
// can submit thousands that look so: they are of no snapshot, and ended in the time that chores
// have.
void SlurmClient::EndUntagged() {
  std::erase_if(snapshot_.jobs, [&](const std::shared_ptr<const SlurmJob>& job) {
    if (!job->on_hold || !job->admin_comment.empty() || !job->comment.starts_with(kWorkerTag)) {
      return false;
    }
    untagged_.Add(SlurmChore::kEnd, job->id,
                  [this, name = job->known_as()] { return back_end_->Cancel(name); });
    return true;
  });
  untagged_.Do();
}

std::string SlurmClient::ControllerAddress() { return Settings().address; }
std::string SlurmClient::StateFolder() { return Settings().state_folder; }

SlurmSettings SlurmClient::Settings() {
  SlurmSettings settings;
  const Status done = back_end_->LoadSettings(&settings);
  if (!done.ok()) throw RunError("{} (through {})", done.message(), way_);
  return settings;
}

Status SlurmClient::NodeEvents(int days, std::vector<SlurmNodeEvent>* events) const {
  if (!sacctmgr_) return Status::Refused("Slurm's program sacctmgr is not installed");
  constexpr Seconds kPatience = 10;
  return LoadNodeEvents(*sacctmgr_, days, kPatience, events);
}

Status SlurmClient::MayWrite() const {
  if (read_only_) return Status::Refused("a dry run changes nothing in Slurm");
  return may_act_ ? may_act_() : Status::Ok();
}

Status SlurmClient::Submit(const SlurmSubmission& submission, std::uint32_t* id) {
  Status may = MayWrite();
  return may.ok() ? back_end_->Submit(submission, id) : may;
}

Status SlurmClient::Change(const SlurmChange& change) {
  Status may = MayWrite();
  return may.ok() ? back_end_->Change(change) : may;
}

Status SlurmClient::Requeue(std::uint32_t id) {
  Status may = MayWrite();
  return may.ok() ? back_end_->Requeue(id) : may;
}

Status SlurmClient::Cancel(const std::string& job) {
  Status may = MayWrite();
  return may.ok() ? back_end_->Cancel(job) : may;
}

Status SlurmClient::Split(const std::string& tasks, const std::string& partition) {
  Status may = MayWrite();
  return may.ok() ? back_end_->Split(tasks, partition) : may;
}

Status MayServeThrough(const OpenedSlurm& opened, unsigned user) {
  if (opened.no_module.empty() || user == 0) return Status::Ok();
  return Status::Refused(
      "there is no way by libslurm ({}), and by Slurm's programs only root may submit for others, "
      "this is user {}: install liballot_slurm-RELEASE.so of this build for the controller's "
      "release (docs/deploy.md, Install), serve as root, or say api=commands where all jobs are "
      "this user's",
      opened.no_module, user);
}

}  // namespace allot
