#include "live/workers/hub_records.h"

#include <algorithm>

#include "live/workers/message_numbers.h"
#include "live/workers/progress_message.h"

namespace allot {
namespace {

template <typename Map>
auto* FindIn(Map& map, const std::string& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

}  // namespace

void HubRecords::AddJob(const std::string& job, const std::string& token) {
  HubJob& known = jobs_[job];
  if (known.token.empty()) known.token = token;
}

void HubRecords::RemoveJob(const std::string& job) {
  std::erase_if(workers_, [&](const auto& worker) { return worker.second.job == job; });
  jobs_.erase(job);
}

void HubRecords::Expect(const std::string& job, const std::string& worker, bool has_identity,
                        Seconds now) {
  const auto [known, is_new] = workers_.try_emplace(worker);
  if (is_new) known->second.heard = now;
  known->second.job = job;
  known->second.has_identity = known->second.has_identity || has_identity;
  jobs_.at(job).workers.insert(worker);
}

void HubRecords::RemoveWorker(const std::string& worker) {
  const auto found = workers_.find(worker);
  if (found == workers_.end()) return;
  jobs_.at(found->second.job).workers.erase(worker);
  workers_.erase(found);
}

HubJob* HubRecords::FindJob(const std::string& job) { return FindIn(jobs_, job); }
const HubJob* HubRecords::FindJob(const std::string& job) const { return FindIn(jobs_, job); }
HubWorker* HubRecords::FindWorker(const std::string& worker) { return FindIn(workers_, worker); }
const HubWorker* HubRecords::FindWorker(const std::string& worker) const {
  return FindIn(workers_, worker);
}

HubJob* HubRecords::JobWith(const std::string& job, const std::string& worker) {
  HubJob* const found = FindJob(job);
  return found != nullptr && found->workers.contains(worker) ? found : nullptr;
}

Status HubRecords::Announce(const std::string& job, const Membership& membership, bool* is_new) {
  *is_new = false;
  HubJob* const found = FindJob(job);
  if (found == nullptr) return Status::Refused("job {} has no workers to announce it to", job);
  const std::int64_t latest = found->membership.epoch;
  if (membership.epoch < latest) {
    return Status::Refused("job {}: epoch {} must not be earlier than the latest, {}", job,
                           membership.epoch, latest);
  }
  if (membership.epoch == latest) return Status::Ok();
  *is_new = true;
  found->membership = membership;
  found->progress.batch.iteration = kUnknown;  // of the group before
  return Status::Ok();
}

void HubRecords::CheckJoin(const nlohmann::json& message) {
  const MessageNumbers numbers(message);
  for (const char* key : {"epoch", "heard"}) (void)numbers.Whole(key, -1, -1);
  (void)numbers.Whole("step", 0);
  (void)message.value("address", "");
}

void HubRecords::Join(const std::string& worker, const nlohmann::json& message, Seconds now) {
  CheckJoin(message);
  HubWorker& w = workers_.at(worker);
  const MessageNumbers numbers(message);
  w.joined = true;
  w.heard = now;
  w.address = message.value("address", "");
  w.epoch = numbers.Whole("epoch", -1, -1);
  w.told_before = numbers.Whole("heard", -1, -1);
  JobProgress& progress = jobs_.at(w.job).progress;
  progress.step = std::max(progress.step, numbers.Whole("step", 0));
}

HubRecords::Said HubRecords::Hear(const std::string& id, const nlohmann::json& message) {
  HubWorker& worker = workers_.at(id);
  HubJob& job = jobs_.at(worker.job);
  const std::string say = message.at("say");
  const std::int64_t epoch = MessageNumbers(message).Whole("epoch", worker.epoch, -1);
  if (say == "broken") {
    worker.broken = std::max(worker.broken, epoch);
    return Said::kNews;
  }
  if (say != "progress" && say != "reached" && say != "saved" && say != "finished") {
    return Said::kNoneOfOurs;
  }
  if (say != "saved") worker.epoch = epoch;
  if (epoch < job.membership.epoch && say == "progress") {
    return Said::kProgress;  // of a group that was
  }
  if (job.finished && say != "finished") return Said::kProgress;
  const auto& members = job.membership.members;
  const bool leads = members.empty() || members.front() == id;
  job.progress = ReadProgress(message, leads, job.progress);  // all of it or nothing
  if (say == "finished") {
    job.finished = true;
    return Said::kFinished;
  }
  return say == "progress" ? Said::kProgress : Said::kNews;
}

JobProgress HubRecords::Progress(const std::string& id) const {
  const HubJob* const job = FindJob(id);
  if (job == nullptr) return {};
  JobProgress progress = job->progress;
  std::int64_t least = job->membership.epoch;
  std::int64_t most = -1;
  for (const std::string& member : job->membership.members) {
    const HubWorker* const worker = FindWorker(member);
    if (worker == nullptr) continue;
    least = std::min(least, worker->epoch);
    progress.broken = progress.broken || worker->broken == job->membership.epoch;
  }
  // Before anything was announced here, workers of an earlier daemon say what they are in, and what
  // they have heard of: an epoch that is not later says nothing to them.
  for (const std::string& name : job->workers) {
    const HubWorker& worker = workers_.at(name);
    most = std::max({most, worker.epoch, worker.told_before});
  }
  progress.epoch = job->membership.epoch < 0 ? most : least;
  return progress;
}

bool HubRecords::member(const std::string& worker) const {
  const HubWorker* const found = FindWorker(worker);
  return found != nullptr &&
         std::ranges::count(jobs_.at(found->job).membership.members, worker) > 0;
}

}  // namespace allot
