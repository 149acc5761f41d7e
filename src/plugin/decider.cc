#include "plugin/decider.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "agents/learned/agent.h"
#include "cluster/validate.h"
#include "core/error.h"
#include "core/index.h"
#include "core/json_text.h"
#include "sched/online_policy.h"
#include "workload/history_file.h"

namespace allot {
namespace {

using Json = nlohmann::ordered_json;

// `names` by row.
Json DecisionJson(const Observation& o, const Allocation& allocation, Seconds holds_until,
                  const std::vector<std::string>& names) {
  std::map<JobIndex, std::size_t> row_of;
  for (std::size_t row = 0; row < o.job.size(); ++row) row_of[o.job[row]] = row;
  Json jobs = Json::array();
  for (const Allocation::Entry& entry : allocation.entries()) {
    jobs.push_back({{"job", names[row_of.at(entry.job)]},
                    {"configuration", entry.configuration},
                    {"relaunch", entry.relaunch},
                    {"shares", SharesJson(allocation.shares(entry))}});
    if (const auto beside = row_of.find(entry.partner); beside != row_of.end()) {
      jobs.back()["partner"] = names[beside->second];
    }
  }
  return {{"decision", o.decision},
          {"holds_until", std::isfinite(holds_until) ? Json(holds_until) : Json()},
          {"jobs", std::move(jobs)}};
}

}  // namespace

std::unique_ptr<Decider> Decider::OfSpec(std::string_view spec) {
  std::unique_ptr<Policy> policy = MakeOnlinePolicy(spec, FileLoader());
  return std::unique_ptr<Decider>(
      new Decider(std::move(policy), MakeExplainer(ParseNamedParams(spec))));
}

std::unique_ptr<Decider> Decider::OfCheckpoint(const std::string& folder,
                                               const std::string& placement) {
  const Agent agent = LoadAgent(folder);
  return std::unique_ptr<Decider>(new Decider(MakeLearnedPolicy(agent, {.placement = placement}),
                                              MakeExplainer(agent, {.placement = placement})));
}

void Decider::Reset() {
  started_ = false;
  number_.clear();
  next_number_ = 0;
  users_ = {};
  groups_ = {};
  events_.Reset();
  last_ = nullptr;
  last_time_ = -kNever;
}

const std::string& Decider::Decide(const char* snapshot) {
  std::unique_ptr<Snapshot> parsed = ParseSnapshot(snapshot, "snapshot");
  CheckTime(parsed->observation);
  Number(parsed.get());
  last_ = nullptr;
  snapshot_ = std::move(parsed);
  DecideOn(snapshot_.get());
  answer_ = JsonText(
      DecisionJson(snapshot_->observation, allocation_, holds_until_, snapshot_->names), -1);
  return answer_;
}

// Jobs are known by name; what has gone is forgotten, and its number never used again.
void Decider::Number(Snapshot* snapshot) {
  std::map<std::string, JobIndex> present;
  JobIndex next = next_number_;
  Observation& o = snapshot->observation;
  for (std::size_t row = 0; row < snapshot->names.size(); ++row) {
    const std::string& name = snapshot->names[row];
    const auto known = number_.find(name);
    o.job[row] = known != number_.end() ? known->second : next++;
    if (!present.emplace(name, o.job[row]).second) {
      throw DataError("snapshot: job {}: each job once, '{}' is there twice", row, name);
    }
  }
  for (std::size_t row = 0; row < snapshot->names.size(); ++row) {
    o.user[row] = users_.Intern(snapshot->users[o.user[row]]);
    o.group[row] = groups_.Intern(snapshot->groups[o.group[row]]);
  }
  for (std::size_t e = 0; e < o.events.ended.size(); ++e) {
    EndedJob& ended = o.events.ended[e];
    const auto known = number_.find(snapshot->ended_names[e]);
    ended.job = known != number_.end() ? known->second : -1;
    ended.user = users_.Intern(snapshot->users[ended.user]);
    ended.group = groups_.Intern(snapshot->groups[ended.group]);
  }
  o.user_names = &users_.names();
  o.group_names = &groups_.names();
  number_ = std::move(present);
  next_number_ = next;
}

void Decider::CheckTime(const Observation& o) const {
  if (o.now < last_time_) {
    throw DataError("'now' must not fall, got {} after {}", o.now, last_time_);
  }
}

void Decider::DecideOn(Snapshot* snapshot) {
  Observation& o = snapshot->observation;
  std::vector<EndedJob> ended = std::move(o.events.ended);
  events_.Find(&o);
  if (snapshot->tells_ended) o.events.ended = std::move(ended);
  if (!started_) {
    EpisodeContext context;
    context.cluster = o.cluster;
    policy_->OnEpisodeStart(context);
    if (explainer_ != nullptr) explainer_->OnEpisodeStart();
  }
  started_ = true;
  last_time_ = o.now;
  policy_->Decide(o, &allocation_);
  if (explainer_ != nullptr) explainer_->Observe(o);
  const Status legal = ValidateAllocation(o, allocation_);
  if (!legal.ok()) throw RunError("policy '{}': {}", policy_->info().id, legal.message());
  holds_until_ = HoldsUntil(*policy_, o, running_.Of(o, allocation_));
  last_ = &o;
}

const std::string& Decider::Explain() {
  if (last_ == nullptr) throw UsageError("there is no decision to explain yet");
  const Observation& o = *last_;
  Json answer = {{"policy", policy_->info().id},
                 {"summary", policy_->info().summary},
                 {"decision", o.decision},
                 {"now", o.now}};
  if (explainer_ != nullptr) {
    const Explanation explanation = explainer_->Explain(o);
    Json jobs = Json::array();
    for (std::int32_t row = 0; row < o.rows(); ++row) {
      const ExplainedJob& job = explanation.jobs[At(row)];
      jobs.push_back({{"job", snapshot_->names[At(row)]},
                      {"has", ConfigurationText(o, row, job.running)},
                      {"gets", ConfigurationText(o, row, job.granted)},
                      {"u", job.score.u},
                      {"beta", job.score.beta},
                      {"kappa", job.score.kappa},
                      {"why", job.why}});
      if (job.of_index) {
        jobs.back()["index"] = {
            {"u", job.of_index->u}, {"beta", job.of_index->beta}, {"kappa", job.of_index->kappa}};
      }
    }
    answer["jobs"] = std::move(jobs);
  }
  answer_ = JsonText(answer, -1);
  return answer_;
}

}  // namespace allot
