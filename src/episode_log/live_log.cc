#include "episode_log/live_log.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <ctime>
#include <utility>

#include "core/error.h"
#include "core/index.h"
#include "metrics/evaluation.h"
#include "metrics/run_directory.h"

namespace allot {
namespace {

namespace fs = std::filesystem;

// "NAME-v0", or the first number that is free in the folder.
std::string Numbered(const fs::path& folder, const std::string& name) {
  for (int number = 0;; ++number) {
    std::string numbered = fmt::format("{}-v{}", name, number);
    if (!fs::exists(folder / numbered)) return numbered;
  }
}

std::string CalendarOf(double unix_time) {
  const auto seconds = static_cast<std::time_t>(std::floor(unix_time));
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &utc);
  return text;
}

// A name that all of our formats accept.
std::string ProfileOf(const LiveJob& job) {
  return job.asked->model.empty() ? "unknown" : FolderName(job.asked->model);
}

Outcome OutcomeOf(const LiveJob& job) {
  if (!job.over) return Outcome::kUnreported;
  if (job.asked->state == JobState::kFinished) return Outcome::kPassed;
  return job.asked->state == JobState::kFailed ? Outcome::kFailed : Outcome::kKilled;
}

// Throughput of all models at the GPU counts that their jobs may have, on all types.
std::string ProfilesCsv(const JobTable& job_table, const std::vector<const LiveJob*>& jobs) {
  std::map<std::string, std::pair<const LiveJob*, GpuCount>> largest;
  for (const LiveJob* job : jobs) {
    auto& [one, gpus] = largest[ProfileOf(*job)];
    one = job;
    gpus = std::max(gpus, job->asked->max_gpus);
  }
  std::string csv = "profile,gpu_type,gpus,nodes,rate\n";
  for (const auto& [name, entry] : largest) {
    const ModelPtr model = job_table.ModelOf(*entry.first);
    for (const GpuTypeSpec& type : job_table.nominal().type_specs()) {
      for (const Span& span : model->SpansOn(type.name)) {
        for (GpuCount gpus = span.least; gpus <= std::min(entry.second, type.gpus); ++gpus) {
          const std::vector<UnitCounts> nodes = FewestNodes(gpus, type.node_gpus, span);
          if (nodes.empty()) continue;
          const double rate = model->Rate({type.name, nodes, {}}, {});
          csv += fmt::format("{},{},{},{},{}\n", name, type.name, gpus, TextOf(span), rate);
        }
      }
    }
  }
  return csv;
}

}  // namespace

LiveLog::LiveLog(Options options, const Daemon& daemon)
    : options_(std::move(options)), daemon_(daemon), begin_(daemon.cluster().now()) {
  for (const auto& [index, job] : daemon.cluster().state().job_table().jobs()) {
    if (job.over) over_before_.insert(index);
  }
  if (options_.log_root.empty()) return;
  const std::string dataset =
      "live/" + Numbered(fs::path(options_.log_root) / "live", options_.name);
  log_.emplace(EpisodeLog::Options{.root = options_.log_root,
                                   .policy = options_.policy,
                                   .command = options_.command,
                                   .dataset = dataset});
  episode_ = log_->BeginLive();
}

void LiveLog::OnDecision(const Observation& o, const Allocation& allocation) {
  if (episode_ != nullptr) episode_->OnDecision(o, allocation);
  for (const double estimate : o.estimated_work) {
    told_lengths_ = told_lengths_ && !std::isnan(estimate);
  }
  if (options_.out.empty()) return;
  TimelinePoint point{o.now, o.rows(), static_cast<std::int32_t>(allocation.entries().size()), 0};
  for (const Allocation::Entry& entry : allocation.entries()) {
    const auto row = std::lower_bound(o.job.begin(), o.job.end(), entry.job) - o.job.begin();
    const ConfigurationTable& table = *o.table[static_cast<std::size_t>(row)];
    point.gpus_used += table[entry.configuration].demand.gpus;
  }
  timeline_.push_back(point);
  NoteHoldings(o, allocation);
  decision_us_.push_back(static_cast<float>(1e6 * daemon_.decisions().last_seconds));
}

void LiveLog::NoteHoldings(const Observation& o, const Allocation& allocation) {
  std::map<JobIndex, std::vector<NodeHolding>> given;
  for (const Allocation::Entry& entry : allocation.entries()) {
    for (const NodeShare& share : allocation.shares(entry)) {
      given[entry.job].push_back({share.node, static_cast<GpuCount>(std::popcount(share.gpus))});
    }
  }
  for (const JobIndex job : o.job) {
    std::vector<NodeHolding>& before = noted_[job];
    std::vector<NodeHolding>& now = given[job];
    if (before == now) continue;
    notes_.push_back({.time = o.now, .job = job, .nodes = now});
    before = std::move(now);
  }
}

std::vector<std::string> LiveLog::End(const std::string& runtime) {
  const LiveCluster& cluster = daemon_.cluster();
  const JobTable& job_table = cluster.state().job_table();
  LiveFacts facts;
  facts.end = cluster.now();
  facts.runtime = runtime;
  facts.cluster = job_table.nominal();
  facts.rules.interval = cluster.options().interval;
  facts.rules.restart_cost = cluster.options().job_table.restart_cost;
  facts.rules.decide_on_events = cluster.options().decide_on_events;
  facts.rules.lengths = LengthEstimates::Parse(told_lengths_ ? "true" : "none");
  facts.workload.name = "live";
  facts.workload.origin = CalendarOf(cluster.origin());

  std::vector<const LiveJob*> jobs;
  std::vector<JobRecord> records;
  for (const auto& [index, job] : job_table.jobs()) {
    facts.row_of.resize(At(index) + 1, -1);
    if (over_before_.contains(index) || !job.fits()) continue;
    facts.row_of.back() = static_cast<std::int32_t>(jobs.size());
    const Seconds run_time = job.over ? job.run_time : job_table.RunTime(job);
    const bool ran = job.attained_gpu_seconds > 0;
    Job row;
    row.id = job.asked->id;
    row.submit = job.submit;
    row.gpus = job.asked->requested;
    row.duration = run_time > 0 ? run_time : cluster.options().poll;  // ended within a poll
    row.min_gpus = job.asked->min_gpus;
    row.max_gpus = job.asked->max_gpus;
    row.model = facts.workload.models.Intern(ProfileOf(job));
    row.tenant = facts.workload.tenants.Intern(job.asked->user);
    row.user = facts.workload.users.Intern(job.asked->user);
    row.group = facts.workload.groups.Intern(job.asked->model);
    row.gpu_types = facts.workload.gpu_types.Intern(job.asked->gpu_types);
    row.priority = job.asked->priority;
    row.deadline = job.deadline;
    row.outcome = OutcomeOf(job);
    facts.workload.jobs.push_back(std::move(row));
    facts.finish.push_back(job.over && ran ? job.ended : kNever);
    facts.until.push_back(job.over ? job.ended : facts.end);
    records.push_back(job.record);
    records.back().job = static_cast<JobIndex>(jobs.size());
    jobs.push_back(&job);
  }
  std::vector<std::string> written;
  if (jobs.empty()) return {"no job came: nothing is written"};
  facts.profiles = ProfilesCsv(job_table, jobs);
  if (!options_.out.empty()) {
    const fs::path folder = fs::path(options_.out) / Numbered(options_.out, options_.name);
    WriteOut(folder, facts, records);
    written.push_back("results: " + folder.string());
  }
  if (log_ && log_->EndLive(std::move(facts))) {
    log_->Close();
    written.push_back("episode log: " + log_->directory().string());
  }
  return written;
}

void LiveLog::WriteOut(const fs::path& folder, const LiveFacts& facts,
                       const std::vector<JobRecord>& records) const {
  Evaluation evaluation;
  evaluation.title = "Live run";
  evaluation.command = options_.command;
  evaluation.cluster = facts.cluster.ToString();
  evaluation.length_estimates = facts.rules.lengths.ToString();
  evaluation.restart_cost_s = facts.rules.restart_cost;
  evaluation.interval_s = facts.rules.interval;
  evaluation.decide_on_events = facts.rules.decide_on_events;
  evaluation.reference = options_.name;
  evaluation.workloads.emplace_back();
  evaluation.workloads.back().name = facts.workload.name;
  evaluation.workloads.back().jobs = static_cast<std::int64_t>(records.size());
  EvaluatedPolicy policy;
  policy.id = options_.name;
  policy.label = options_.policy;
  policy.runs.push_back(Summarise({.policy = options_.policy,
                                   .gpus = facts.cluster.total().gpus,
                                   .records = records,
                                   .timeline = timeline_,
                                   .decisions = static_cast<std::int64_t>(timeline_.size()),
                                   .decision_us = decision_us_,
                                   .wall_s = facts.end - begin_,
                                   .workload = &facts.workload}));
  evaluation.policies.push_back(std::move(policy));
  std::vector<AllocationNote> notes;
  for (AllocationNote note : notes_) {
    note.job = facts.row_of[At(note.job)];
    if (note.job >= 0) notes.push_back(std::move(note));
  }
  WriteRunDirectory(
      RunDirectory(folder, evaluation, evaluation.workloads.front(), evaluation.policies.front()),
      evaluation.policies.front().runs.front(), records, TracedJobs(facts.workload), timeline_,
      notes);
  WriteEvaluation(folder, evaluation);
}

}  // namespace allot
