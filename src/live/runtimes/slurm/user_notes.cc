#include "live/runtimes/slurm/user_notes.h"

#include <optional>
#include <string_view>

namespace allot {
namespace {

constexpr std::string_view kNotPlaced = "allot does not place this job: ";
constexpr const char* kPlaced = "allot places this job when there are GPUs for it";

// Whether it tells a user that something is wrong.
bool Complains(const std::string& admin_comment) {
  const std::optional<JobTag> tag = ParseJobTag(admin_comment);
  return tag ? !tag->why.empty() : admin_comment.starts_with(kNotPlaced);
}

}  // namespace

bool UserNotes::NotPlaced(const SlurmJob& slurm, const std::string& why) {
  return Show(slurm, std::string(kNotPlaced) + why);
}

bool UserNotes::Explain(const std::string& job, const SlurmJob& slurm, const std::string& why) {
  // Slurm's record may be older than the last note.
  if (why.empty() && !Complains(slurm.admin_comment) && !written_.contains(slurm.id)) {
    explained_.erase(job);
    return false;
  }
  explained_[job] = why;
  return true;
}

bool UserNotes::ShowExplanation(const std::string& job, const SlurmJob& slurm) {
  const auto explained = explained_.find(job);
  if (explained == explained_.end()) return true;
  if (!explained->second.empty()) return NotPlaced(slurm, explained->second);
  return !slurm.admin_comment.starts_with(kNotPlaced) || Show(slurm, kPlaced);
}

void UserNotes::ShowExplanation(const SlurmJob& slurm, JobTag* tag) {
  const auto explained = explained_.find(tag->job);
  if (explained == explained_.end() || tag->failed || tag->stopping) return;
  tag->why = explained->second;
  (void)Show(slurm, ToText(*tag));
}

bool UserNotes::Show(const SlurmJob& slurm, const std::string& text) {
  said_.insert(slurm.id);
  if (slurm.admin_comment == text) return true;
  const auto written = written_.find(slurm.id);
  if (written != written_.end() && written->second == text) return false;
  chores_.Add(SlurmChore::kTell, slurm.id, [this, id = slurm.id, text] {
    Status done = client_.Change({.id = id, .admin_comment = text});
    if (done.ok()) written_[id] = text;
    return done;
  });
  return false;
}

void UserNotes::Drop(const std::function<bool(const std::string& job)>& listed) {
  std::erase_if(explained_, [&](const auto& entry) { return !listed(entry.first); });
  std::erase_if(written_, [this](const auto& entry) { return !said_.contains(entry.first); });
  said_.clear();
}

}  // namespace allot
