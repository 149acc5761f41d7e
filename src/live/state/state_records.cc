#include "live/state/state_records.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/index.h"
#include "live/workers/batch_message.h"
#include "perf/configuration_key.h"

namespace allot {
namespace {

JournalRecord NumberOrNothing(double value) {
  return std::isfinite(value) ? JournalRecord(value) : nullptr;
}

double NumberOr(const JournalRecord& value, double otherwise) {
  return value.is_null() ? otherwise : value.get<double>();
}

// ---- what was measured ----

JournalRecord FitRecord(const RateFit& fit) {
  JournalRecord list = JournalRecord::array();
  for (const RateFit::PlacedPoint& at : fit.Points()) {
    list.push_back({{"type", at.type},
                    {"nodes", TextOf(at.span)},
                    {"gpus", at.gpus},
                    {"log_rate", at.point.log_rate},
                    {"weight", at.point.weight},
                    {"used", NumberOrNothing(at.point.used)}});
  }
  return list;
}

RateFit ReadFit(const JournalRecord& list, RateFit fit) {
  for (const JournalRecord& one : list) {
    fit.PutPoint({one.at("type"),
                  ParseSpan(one.at("nodes").get<std::string>()),
                  one.at("gpus"),
                  {one.at("log_rate"), one.at("weight"), NumberOr(one.at("used"), kUnknown)}});
  }
  return fit;
}

JournalRecord TrainingRecord(const TrainingEstimate& training) {
  const BatchLimits& limits = training.limits();
  JournalRecord timed = JournalRecord::array();
  for (const TimingFits::SeenTiming& seen : training.fits().Seen()) {
    timed.push_back({{"type", seen.gpu_type},
                     {"nodes", seen.nodes},
                     {"gpus", seen.observation.gpus},
                     {"local", seen.observation.local_batch},
                     {"gradient", seen.observation.gradient},
                     {"iteration", seen.observation.iteration}});
  }
  return {{"initial", limits.initial},
          {"most", limits.most},
          {"least_local", limits.least_local},
          {"most_local", limits.most_local},
          {"noise", NumberOrNothing(training.noise())},
          {"timed", std::move(timed)}};
}

TrainingEstimate ReadTraining(const JournalRecord& r) {
  TrainingEstimate training(ReadLimits(r));
  for (const JournalRecord& one : r.at("timed")) {
    const std::int32_t nodes = one.at("nodes");
    training.Observe(
        one.at("type").get<std::string>(), nodes,
        {nodes > 1, one.at("gpus"), one.at("local"), one.at("gradient"), one.at("iteration")});
  }
  training.SetNoise(NumberOr(r.at("noise"), kUnknown));
  return training;
}

// ---- workers ----

JournalRecord GroupRecord(const WorkerGroupPast& past, const std::vector<RuntimeNode>& nodes) {
  JournalRecord workers = JournalRecord::array();
  for (const LiveWorker& worker : past.workers) {
    workers.push_back({{"worker", worker.id},
                       {"node", nodes[At(worker.node)].name},
                       {"gpus", worker.gpus},
                       {"leaving", worker.leaving},
                       {"killed", worker.killed},
                       {"since", worker.since}});
  }
  return {{"workers", std::move(workers)},
          {"epoch", past.membership.epoch},
          {"members", past.membership.members},
          {"next_number", past.next_number},
          {"restarting", past.restarting},
          {"failures", past.backoff.failures},
          {"late_tries", past.backoff.late_tries},
          {"refusals", past.backoff.refusals},
          {"refusal", past.backoff.refusal},
          {"refused_since", past.backoff.refused_since},
          {"step_at_failure", past.backoff.step_at_failure},
          {"not_before", past.backoff.not_before}};
}

WorkerGroupPast ReadGroup(const JournalRecord& r, const LiveState& state) {
  WorkerGroupPast past;
  for (const JournalRecord& one : r.at("workers")) {
    LiveWorker worker;
    worker.id = one.at("worker");
    worker.node = state.NodeOf(one.at("node"));
    worker.gpus = one.at("gpus");
    worker.leaving = one.at("leaving");
    worker.killed = one.at("killed");
    worker.since = one.at("since");
    if (worker.node < 0) throw DataError("a journal names its nodes, got '{}'", one.dump());
    past.workers.push_back(std::move(worker));
  }
  past.membership = {r.at("epoch"), r.at("members")};
  past.next_number = r.at("next_number");
  past.restarting = r.at("restarting");
  past.backoff.failures = r.at("failures");
  past.backoff.late_tries = r.value("late_tries", 0);
  past.backoff.refusals = r.at("refusals");
  past.backoff.refusal = r.at("refusal");
  past.backoff.refused_since = r.at("refused_since");
  past.backoff.step_at_failure = r.at("step_at_failure");
  past.backoff.not_before = r.at("not_before");
  return past;
}

// ---- jobs ----

JournalRecord KeptRecord(const LiveJob& job, const LiveState& state) {
  JournalRecord shares = JournalRecord::array();
  for (const NodeShare& share : job.shares) {
    shares.push_back({state.nodes()[At(share.node)].name, share.gpus});
  }
  const std::string configuration =
      job.running < 0 ? "" : job.table->KeyText(job.running, state.job_table().nominal().types());
  const JobRecord& counted = job.record;
  JournalRecord kept = {{"job", job.asked->id},
                        {"configuration", configuration},
                        {"shares", std::move(shares)},
                        {"changes", job.changes},
                        {"waiting_since", job.waiting_since},
                        {"gpu_seconds", job.attained_gpu_seconds},
                        {"seconds", job.attained_seconds},
                        {"first_start", NumberOrNothing(counted.first_start)},
                        {"preemptions", counted.preemptions},
                        {"restarts", counted.restarts},
                        {"moves", counted.moves},
                        {"failures", counted.failures},
                        {"fit", FitRecord(job.fit)},
                        {"group", GroupRecord(job.worker_group.past(), state.nodes())}};
  if (job.rules.hold_jobs() && job.changes > 0) {
    kept["given_at"] = NumberOrNothing(job.history.last());
    kept["restarts_at"] = job.history.restarts();
    kept["lost"] = job.history.lost();
  }
  if (job.training) kept["training"] = TrainingRecord(*job.training);
  return kept;
}

class RecordTeller {
 public:
  RecordTeller(Seconds at, const std::function<void(const JournalRecord&)>& tell)
      : at_(at), tell_(tell) {}
  void Add(const char* what, const JournalRecord& fields) { AddAt(at_, what, fields); }
  void AddAt(Seconds at, const char* what, const JournalRecord& fields) {
    JournalRecord record = {{"at", at}, {"what", what}};
    record.update(fields);
    tell_(record);
  }

 private:
  Seconds at_;
  const std::function<void(const JournalRecord&)>& tell_;
};

void AddJob(const LiveJob& job, const LiveState& state, RecordTeller* teller) {
  JournalRecord asked = record::Job(*job.asked, job.submit, job.deadline);
  asked["profile"] = state.job_table().ProfileOf(job.asked->model);
  teller->Add("job", asked);
  teller->Add("kept", KeptRecord(job, state));
  if (!job.over) return;
  teller->AddAt(job.ended, "over",
                {{"job", job.asked->id},
                 {"state", JobStateName(job.asked->state)},
                 {"gpu_seconds", job.attained_gpu_seconds},
                 {"run_time", NumberOrNothing(job.run_time)}});
  const std::vector<LiveJob*>& active = state.job_table().active();
  if (std::find(active.begin(), active.end(), &job) == active.end()) {
    teller->Add("retire", {{"job", job.asked->id}});
  }
}

}  // namespace

void TellState(const LiveState& state, double origin, Seconds now,
               const std::function<void(const JournalRecord&)>& tell) {
  RecordTeller teller(now, tell);
  const JournalRecord nothing = JournalRecord::object();
  const JobTable& jobs = state.job_table();
  teller.Add("serve", {{"origin", origin}});
  if (!state.nodes().empty()) teller.Add("nodes", record::Nodes(state.nodes()));
  if (state.paused()) teller.Add("pause", nothing);
  if (state.drained()) teller.Add("drain", nothing);
  for (const std::string& node : state.drained_nodes()) teller.Add("drain", {{"node", node}});
  if (!state.maintained_nodes().empty()) {
    teller.Add("maintenance", {{"nodes", state.maintained_nodes()}});
  }
  for (const auto& [of, fit] : jobs.rates().latest()) {
    teller.Add("learned", {{"user", of.first}, {"model", of.second}, {"fit", FitRecord(fit)}});
  }
  for (const auto& [of, training] : jobs.latest_training()) {
    teller.Add("learned", {{"of", of}, {"training", TrainingRecord(training)}});
  }
  for (const auto& [index, job] : jobs.jobs()) AddJob(*job, state, &teller);
  teller.Add("counts", {{"finished", jobs.finished()}, {"last_submit", jobs.last_submit()}});
}

void ResumeJob(const JournalRecord& r, const LiveState& state, std::span<const NodeShare> shares,
               JobTable* job_table, LiveJob* job) {
  if (r.contains("training")) {
    job->training = std::make_unique<TrainingEstimate>(ReadTraining(r.at("training")));
  }
  job_table->Resume(*job, ReadFit(r.at("fit"), job_table->rates().Prior(job->asked->model)),
                    r.at("configuration"), shares);
  job->changes = r.at("changes");
  if (r.contains("given_at")) {
    job->history = ChangeHistory::Of(NumberOr(r.at("given_at"), -kNever), r.at("restarts_at"),
                                     r.at("lost").get<bool>());
  }
  job->waiting_since = r.at("waiting_since");
  job->attained_gpu_seconds = job->record.gpu_seconds = r.at("gpu_seconds");
  job->attained_seconds = r.at("seconds");
  job->record.first_start = NumberOr(r.at("first_start"), kNever);
  job->record.preemptions = r.at("preemptions");
  job->record.restarts = r.at("restarts");
  job->record.moves = r.at("moves");
  job->record.failures = r.at("failures");
  job->worker_group.SetPast(ReadGroup(r.at("group"), state));
}

BatchLimits ReadLimits(const JournalRecord& record) {
  const BatchLimits limits{record.at("initial"), record.at("most"), record.at("least_local"),
                           record.at("most_local")};
  CheckBatchLimits(limits);
  return limits;
}

void Learn(const JournalRecord& r, JobTable* job_table) {
  if (r.contains("training")) {
    job_table->LearnTraining(r.at("of"), ReadTraining(r.at("training")));
    return;
  }
  const std::string model = r.at("model");
  job_table->LearnRates(r.at("user"), model, ReadFit(r.at("fit"), job_table->rates().Prior(model)));
}

}  // namespace allot
