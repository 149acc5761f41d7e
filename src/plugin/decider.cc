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

Json GpuList(std::uint64_t mask) {
  Json gpus = Json::array();
  for (int gpu = 0; gpu < kMaxGpusPerNode; ++gpu) {
    if ((mask >> gpu & 1) != 0) gpus.push_back(gpu);
  }
  return gpus;
}

// `names` by row.
Json DecisionJson(const Observation& o, const Allocation& allocation, Seconds holds_until,
                  const std::vector<std::string>& names) {
  std::map<JobIndex, std::size_t> row_of;
  for (std::size_t row = 0; row < o.job.size(); ++row) row_of[o.job[row]] = row;
  Json jobs = Json::array();
  for (const Allocation::Entry& entry : allocation.entries()) {
    Json shares = Json::array();
    for (const NodeShare& share : allocation.shares(entry)) {
      shares.push_back(
          {{"node", share.node}, {"units", share.units.counts()}, {"gpus", GpuList(share.gpus)}});
    }
    jobs.push_back({{"job", names[row_of.at(entry.job)]},
                    {"configuration", entry.configuration},
                    {"relaunch", entry.relaunch},
                    {"shares", std::move(shares)}});
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
  kind_ = Kind::kNone;
  number_.clear();
  next_number_ = 0;
  users_ = {};
  groups_ = {};
  reader_.Forget();
  events_.Reset();
  last_ = nullptr;
  last_time_ = -kNever;
}

void Decider::Take(Kind kind) const {
  if (kind_ != Kind::kNone && kind_ != kind) {
    throw UsageError("a policy takes snapshots of one kind, {} before and {} now",
                     kind_ == Kind::kText ? "text" : "arrays",
                     kind == Kind::kText ? "text" : "arrays");
  }
}

const allot_decision& Decider::Decide(const allot_snapshot& snapshot) {
  Take(Kind::kArrays);
  last_ = nullptr;  // it is about to be overwritten
  Observation& o = reader_.Read(snapshot);
  CheckTime(o);
  reader_.KeepNames();
  DecideOn(&o, Kind::kArrays, reader_.tells_ended());
  FillDecision();
  return decision_;
}

const std::string& Decider::Decide(const char* snapshot) {
  Take(Kind::kText);
  std::unique_ptr<Snapshot> parsed = ParseSnapshot(snapshot, "snapshot");
  CheckTime(parsed->observation);
  Number(parsed.get());
  last_ = nullptr;
  text_ = std::move(parsed);
  Observation& o = text_->observation;
  DecideOn(&o, Kind::kText, text_->tells_ended);
  answer_ = JsonText(DecisionJson(o, allocation_, holds_until_, text_->names), -1);
  return answer_;
}

// Jobs of a text are known by name; what has gone is forgotten, and its number never used again.
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

void Decider::DecideOn(Observation* observation, Kind kind, bool tells_ended) {
  std::vector<EndedJob> told = std::move(observation->events.ended);
  events_.Find(observation);
  if (tells_ended) observation->events.ended = std::move(told);
  const Observation& o = *observation;
  if (kind_ == Kind::kNone) {
    EpisodeContext context;
    context.cluster = o.cluster;
    policy_->OnEpisodeStart(context);
    if (explainer_ != nullptr) explainer_->OnEpisodeStart();
  }
  kind_ = kind;
  last_time_ = o.now;
  policy_->Decide(o, &allocation_);
  if (explainer_ != nullptr) explainer_->Observe(o);
  const Status legal = ValidateAllocation(o, allocation_);
  if (!legal.ok()) throw RunError("policy '{}': {}", policy_->info().id, legal.message());
  holds_until_ = HoldsUntil(*policy_, o, running_.Of(o, allocation_));
  last_ = &o;
}

void Decider::FillDecision() {
  const auto clear = [](auto&... columns) { (columns.clear(), ...); };
  clear(job_, configuration_, relaunch_, share_node_, share_units_, share_gpus_);
  share_begin_.assign(1, 0);
  for (const Allocation::Entry& entry : allocation_.entries()) {
    job_.push_back(entry.job);
    configuration_.push_back(entry.configuration);
    relaunch_.push_back(entry.relaunch ? 1 : 0);
    for (const NodeShare& share : allocation_.shares(entry)) {
      share_node_.push_back(share.node);
      share_units_.insert(share_units_.end(), share.units.counts().begin(),
                          share.units.counts().end());
      share_gpus_.push_back(share.gpus);
    }
    share_begin_.push_back(static_cast<std::int32_t>(share_node_.size()));
  }
  decision_ = {.struct_size = sizeof(allot_decision),
               .job_count = static_cast<std::int32_t>(job_.size()),
               .holds_until = holds_until_,
               .job = job_.data(),
               .configuration = configuration_.data(),
               .relaunch = relaunch_.data(),
               .share_begin = share_begin_.data(),
               .share_node = share_node_.data(),
               .share_units = share_units_.data(),
               .share_gpus = share_gpus_.data()};
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
      jobs.push_back({{"job", kind_ == Kind::kText ? Json(text_->names[At(row)]) : Json(job.job)},
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
