#include "live/port/live_cluster.h"

#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "core/calendar.h"
#include "core/counted.h"
#include "core/cpu_time.h"
#include "core/error.h"
#include "core/index.h"
#include "core/interrupt.h"
#include "core/strings.h"
#include "core/wall_clock.h"
#include "live/port/limited_sizes.h"
#include "live/port/live_rules.h"
#include "live/port/past_outages.h"
#include "live/state/records_json.h"

namespace allot {
namespace {

// Which GPUs of the node others have is not known by number: the last ones that no job of ours has.
std::uint64_t GpusOfOthers(const RuntimeNode& node, std::uint64_t ours) {
  std::uint64_t free = GpuMask(node.capacity.gpus) & ~ours;
  std::uint64_t taken = 0;
  for (GpuCount left = node.taken; left > 0 && free != 0; --left) {
    const std::uint64_t last = std::bit_floor(free);
    taken |= last;
    free &= ~last;
  }
  return taken;
}

// As the journal says it.
std::string_view TextOf(Corrections::Reason correction) {
  switch (correction) {
    case Corrections::Reason::kNone:
      return "";
    case Corrections::Reason::kGuarantees:
      return ", corrected for guarantees";
    case Corrections::Reason::kFairShares:
      return ", corrected for fair shares";
  }
  return "";
}

MaintenanceWindows WindowsOf(const OperatorRules* rules) {
  if (rules == nullptr) return {};
  return {rules->maintenance(), [](const Maintenance& rule, const std::string& when) {
            const auto time = ParseCalendar(when);
            if (time) return static_cast<Seconds>(*time);
            throw UsageError(
                "{} of a live cluster must be \"YYYY-MM-DD HH:MM:SS\" (UTC), got '{}' (and 'to' "
                "'{}')",
                rule.place, rule.from, rule.to);
          }};
}

}  // namespace

LiveCluster::LiveCluster(Runtime& runtime, Journal* journal, const LiveClock& clock,
                         LiveOptions options, const std::vector<TimedRecord>& past,
                         std::optional<RuntimeSnapshot> first)
    : runtime_(runtime),
      clock_(clock),
      options_(std::move(options)),
      state_(options_.job_table, options_.topology),
      writer_(&state_, journal, clock),
      reader_(runtime, writer_, counts_, options_.dry_run),
      blame_(writer_, counts_),
      pending_(writer_, counts_),
      newcomers_(writer_),
      workers_(runtime, writer_, counts_),
      batches_(runtime, writer_),
      checkpoints_(runtime, state_),
      windows_(WindowsOf(options_.job_table.rules.get())),
      first_(std::move(first)),
      begins_(journal != nullptr && past.empty()) {
  for (std::size_t i = 0; i < past.size(); ++i) {
    try {
      state_.Apply(past[i]);
    } catch (const std::exception& error) {
      throw DataError(
          "record {} of the journal, '{}', says what cannot be: {}; 'allot journal "
          "repair' leaves it out",
          i + 1, KindOf(past[i].record), error.what());
    }
  }
  reader_.SetJournalEnd(state_.last());
  const bool origin_moved = clock_.origin() < state_.origin();  // FindRunBegin
  if (origin_moved) state_.Apply({clock_.Now(), record::Serve{clock_.origin()}});
  observation_.cluster = &state_.present();
  observation_.interval = options_.interval;
  observation_.share_begin.assign(1, 0);
  observation_.decision = -1;
  FindConstraints();
  polled_at_ = clock_.Now();
  for (const LiveJob* job : state_.job_table().active()) {
    state_.job_table().WorkersOf(*job).ExpectAll(polled_at_);
  }
}

Status LiveCluster::Validate(const Allocation& allocation) const {
  return ValidateLiveAllocation(observation_, allocation);
}

// ---- decisions ----

ApplyReport LiveCluster::Apply(const Allocation& allocation) {
  ApplyReport report;
  if (applied_ == observation_.decision) return report;
  report.refused = Validate(allocation);
  return report.refused.ok() ? ApplyValidated(allocation) : report;
}

void LiveCluster::OnCorrections(const Corrections& corrections) {
  correction_ = corrections.reason;
  if (correction_ == Corrections::Reason::kGuarantees) ++counts_.corrected_for_guarantees;
  if (correction_ == Corrections::Reason::kFairShares) ++counts_.corrected_for_fair_shares;
  if (!corrections.not_kept.ok()) {
    spdlog::error("decision {} is not corrected, as the corrected answer would not be legal: {}",
                  observation_.decision, corrections.not_kept.message());
  }
  const auto& jobs = state_.job_table().jobs();
  for (const auto& [job, why, soon] : corrections.unplaced) {
    pending_.PlacedNowhere(jobs.at(job), why, soon);
  }
}

ApplyReport LiveCluster::ApplyValidated(const Allocation& allocation) {
  ApplyReport report;
  if (applied_ == observation_.decision) return report;
  applied_ = observation_.decision;
  batches_.KeepRequested(allocation.requested_batches());

  const auto& jobs = state_.job_table().jobs();
  std::unordered_map<JobIndex, const Allocation::Entry*> entries;
  for (const Allocation::Entry& entry : allocation.entries()) entries[entry.job] = &entry;
  const auto entry_of = [&entries](JobIndex job) {
    const auto found = entries.find(job);
    return found == entries.end() ? nullptr : found->second;
  };
  const std::string why = fmt::format("decision {}{}", observation_.decision, TextOf(correction_));
  const auto change = [&](const LiveJob& job, JournalRecord record) {
    if (options_.dry_run) {
      spdlog::info("would {} {}", KindOf(record), FieldsText(record));
      return;
    }
    writer_.Write(std::move(record));
    if (!job.changing_since) state_.job_table().SetChangingSince(job, clock_.Now());
  };
  // Those that give first, so that a crash in between leaves no GPU given twice.
  for (const JobIndex index : observation_.job) {
    const LiveJob& job = jobs.at(index);
    if (job.running < 0 || entry_of(index) != nullptr) continue;
    ++report.preempted;
    ++counts_.takes;
    change(job, record::Take{job.asked->id, why});
  }
  for (const JobIndex index : observation_.job) {
    const Allocation::Entry* entry = entry_of(index);
    if (entry == nullptr) continue;
    const LiveJob& job = jobs.at(index);
    const std::span<const NodeShare> shares = allocation.shares(*entry);
    const bool same_place =
        std::equal(shares.begin(), shares.end(), job.shares.begin(), job.shares.end());
    if (entry->configuration == job.running && same_place) continue;
    ++(job.running < 0                       ? report.launched
       : entry->configuration != job.running ? report.resized
                                             : report.moved);
    ++counts_.gives;
    record::Give give{job.asked->id, state_.Named(job, entry->configuration, shares), why};
    if (entry->share > 0) give.time_share = entry->share;
    change(job, std::move(give));
  }
  if (!options_.dry_run && report.launched + report.preempted + report.resized + report.moved > 0) {
    writer_.Write(record::Decide{observation_.decision, report.launched, report.preempted,
                                 report.resized, report.moved});
    workers_.Advance();
    Refresh();
  }
  return report;
}

void LiveCluster::Pause(const Asker& by) { writer_.Write(record::Pause{by}); }

void LiveCluster::Resume(const Asker& by) {
  writer_.Write(record::Resume{by});
  event_ = true;
}

void LiveCluster::Drain(const Asker& by) {
  writer_.Write(record::Drain{{}, by});
  event_ = true;
}

void LiveCluster::Undrain(const Asker& by) {
  writer_.Write(record::Undrain{{}, by});
  event_ = true;
}

void LiveCluster::CheckNode(const std::string& node) const {
  if (state_.NodeOf(node) >= 0) return;
  throw UsageError("unknown node '{}'{}", node, DidYouMean(node, NodeNames()));
}

void LiveCluster::DrainNode(const std::string& node, const Asker& by) {
  CheckNode(node);
  writer_.Write(record::Drain{node, by});
  event_ = true;
}

void LiveCluster::UndrainNode(const std::string& node, const Asker& by) {
  if (!state_.drained_nodes().contains(node)) CheckNode(node);  // one that is gone may be named
  writer_.Write(record::Undrain{node, by});
  event_ = true;
}

void LiveCluster::Cancel(const std::string& name, const Asker& by) {
  const std::string job = state_.job_table().IdOf(name);
  if (options_.dry_run) throw RunError("a dry run cancels no job: ask the daemon in charge");
  writer_.Write(record::Cancel{job, by});
  writer_.Commit();
  const Status done = AskRuntime([&] { return runtime_.Cancel(job); });
  if (!done.ok()) throw RunError("{}", done.message());
  event_ = true;
}

void LiveCluster::SetSettings(const LiveSettings& settings) {
  MaintenanceWindows windows = WindowsOf(settings.rules.get());
  options_.interval = observation_.interval = settings.interval;
  options_.poll = settings.poll;
  options_.job_table.rules = settings.rules;
  state_.job_table().SetRules(settings.rules);
  windows_ = std::move(windows);
  if (polled_) WarnOfRules();
  event_ = true;
}

// ---- waiting ----

bool LiveCluster::Over() const {
  if (Interrupted()) return true;
  return options_.until_idle && polled_ && more_ == 0 && state_.job_table().active().empty();
}

bool LiveCluster::WaitForChange(Seconds valid_until) {
  const Seconds interval = options_.interval;
  const Seconds begin = clock_.Now();
  const Seconds next = (std::floor(begin / interval) + 1) * interval;
  const Seconds tick =
      valid_until == kNever ? kNever : std::max(next, std::ceil(valid_until / interval) * interval);
  while (!Over()) {
    if (polled_) {
      const Seconds left = tick - clock_.Now();  // gone by where there is nothing to decide
      const Seconds pause = std::max(options_.poll, pace_.PauseAt(clock_.Now()));
      runtime_.Wait(left > 0 ? std::min(pause, std::max(left, 1e-3)) : pause);
    }
    const Seconds used = ThreadCpuSeconds();
    const bool event = PollRuntime();
    event_ = event || event_;
    pace_.CountPoll(clock_.Now(), ThreadCpuSeconds() - used, event);
    const bool due = (options_.decide_on_events && event_) || clock_.Now() >= tick;
    if (on_poll_) on_poll_();
    RenewJournal();
    if (due && !state_.paused() && BeginDecision()) return true;
  }
  Refresh();
  return false;
}

// False while no decision may change any job: then its events are left for the next one.
bool LiveCluster::BeginDecision() {
  FindPins();
  ShareLimits(limits_, FreeGpus(), pending_, HasFairShares() ? &newcomers_ : nullptr,
              &state_.job_table());
  ShowJobs();
  const std::vector<bool>& hidden = constraints_.hidden;
  if (std::find(hidden.begin(), hidden.end(), false) == hidden.end()) return false;
  ++observation_.decision;
  state_.job_table().FindEvents(&observation_);
  event_ = false;
  return true;
}

void LiveCluster::RenewJournal() {
  if (!writer_.journal_is_long()) return;
  writer_.Commit();  // a record that is not on disk is more than a warning
  try {
    writer_.RenewJournal();
  } catch (const std::exception& error) {  // the old one goes on
    spdlog::warn("the journal cannot be compacted now, will retry: {}", error.what());
    writer_.PostponeRenewal();
  }
}

bool LiveCluster::Hidden(const LiveJob& job) const {
  if (job.over || !job.fits() || job.asked->state == JobState::kHeld || job.fixed()) return true;
  if (pending_.BacksOff(job) || job.beyond) return true;
  return state_.drained() && job.running < 0;
}

// So that whoever tries the daemon on an empty cluster sees that it works.
void LiveCluster::ReportFirstPoll() const {
  GpuCount gpus = 0;
  for (const RuntimeNode& node : state_.nodes()) gpus += node.capacity.gpus;
  const auto& jobs = state_.job_table().active();
  const auto running =
      std::count_if(jobs.begin(), jobs.end(), [](const LiveJob* job) { return job->running >= 0; });
  spdlog::info("the cluster has {} with {}; {}, {} of them with GPUs{}",
               Counted(std::ssize(state_.nodes()), "node"), Counted(gpus, "GPU"),
               Counted(std::ssize(jobs), "job"), running,
               jobs.empty() ? ": waiting until one is submitted" : "");
}

void LiveCluster::LearnPastOutages() {
  std::vector<PastOutage> outages;
  const Status done = AskRuntime([&] { return runtime_.LoadPastOutages(&outages); });
  if (!done.ok()) spdlog::info("nothing is known of nodes that failed before: {}", done.message());
  if (outages.empty()) return;
  record::NodesBefore before =
      SumUpOutages(outages, state_.nodes().size(), clock_.Wall(), clock_.origin());
  spdlog::info(
      "nodes failed {:.0f} times before, by the cluster's accounting; on probation: {}",
      before.failures,
      before.repaired.empty() ? "none" : fmt::format("{}", fmt::join(before.repaired, ", ")));
  writer_.Write(std::move(before));
}

void LiveCluster::WarnOfRules() const {
  const auto& rules = options_.job_table.rules;
  if (rules == nullptr) return;
  for (const std::string& mismatch :
       rules->FindMismatches(state_.job_table().nominal(), NodeNames())) {
    spdlog::warn("rules: {}", mismatch);
  }
}

// Nodes that the file lacks are reported once, when they come.
void LiveCluster::WarnOfTopology() {
  if (topology_notes_ == state_.topology_notes()) return;
  topology_notes_ = state_.topology_notes();
  for (const std::string& note : topology_notes_) spdlog::warn("topology: {}", note);
}

// Of what is wrong with their jobs: where users look, it is not in the daemon's status.
void LiveCluster::TellUsers() {
  for (const LiveJob* job : state_.job_table().active()) {
    if (job->over || job->asked->state == JobState::kHeld) {
      state_.job_table().SetExplained(*job, std::nullopt);
      continue;
    }
    const bool runs = job->running >= 0;
    const std::string late = job->worker_group.lateness();
    std::string wrong = job->unfit && !runs ? *job->unfit : late;
    if (wrong.empty() && !runs) wrong = newcomers_.TroubleOf(*job);
    if (job->explained == wrong) continue;
    if (runs && !late.empty()) spdlog::warn("job {}: {}", job->asked->shown(), late);
    runtime_.Explain(job->asked->id,
                     wrong.empty() ? std::nullopt : std::optional(JobTrouble{wrong, runs}));
    state_.job_table().SetExplained(*job, wrong);
  }
}

// True where a maintenance window begins or ends, or jobs are to leave a node that is called back.
bool LiveCluster::FollowWindows() {
  if (!windows_.windows().empty()) windows_.SetNodes(NodeNames());
  recalls_.Find(windows_, state_.nodes());
  std::set<std::string> drained;
  for (const auto& nodes : {windows_.InForce(clock_.Wall()), recalls_.ToLeave(clock_.Wall())}) {
    for (const NodeIndex node : nodes) drained.insert(state_.nodes()[At(node)].name);
  }
  if (drained == state_.maintained_nodes()) return false;
  spdlog::info("in maintenance, or called back by the cluster: {}",
               drained.empty() ? "no node" : fmt::format("{}", fmt::join(drained, ", ")));
  writer_.Write(record::MaintainedNodes{drained});
  return true;
}

std::vector<std::string> LiveCluster::NodeNames() const {
  std::vector<std::string> names;
  names.reserve(state_.nodes().size());
  for (const RuntimeNode& node : state_.nodes()) names.push_back(node.name);
  return names;
}

void LiveCluster::FindPins() {
  observation_.now = std::max(observation_.now, clock_.Now());
  for (const LiveJob* job : state_.job_table().active()) {
    const bool runs = job->running >= 0 && !job->over;
    state_.job_table().SetPin(*job,
                              runs ? job->history.PinOf(job->rules, observation_.now) : Pin{});
  }
}

// Of all rows of the observation, in their order.
void LiveCluster::FindConstraints() {
  constraints_ = {};
  if (HasFairShares()) constraints_.usage = &state_.job_table().usage();
  bool requires_nodes = false;
  const auto failed_nodes = state_.FindFailedNodes(clock_.Now());
  for (const LiveJob* job : state_.job_table().active()) {
    if (!JobTable::IsObserved(*job)) continue;
    constraints_.AddRow(job->pin, Hidden(*job), job->rules, job->submitter, job->asks());
    NodeRequirements& required = constraints_.nodes_of.emplace_back();
    required.even = job->asked->even;
    if (!job->asked->only_on.empty()) required.only_on = {job->asked, &job->asked->only_on};
    required.avoided = pending_.AvoidedBy(*job);
    if (const auto failed = failed_nodes.find(job->index); failed != failed_nodes.end()) {
      required.avoided.insert(required.avoided.end(), failed->second.begin(), failed->second.end());
    }
    const std::vector<NodeIndex> leaving = recalls_.TooSoonFor(*job->asked, clock_.Wall());
    required.avoided.insert(required.avoided.end(), leaving.begin(), leaving.end());
    const std::vector<NodeIndex> full = NodesWithoutMemoryFor(*job);
    required.avoided.insert(required.avoided.end(), full.begin(), full.end());
    if (required.only_on != nullptr || required.even || !required.avoided.empty()) {
      required.request = RequestOf(*job, full);
      requires_nodes = true;
    }
  }
  if (requires_nodes) {
    constraints_.node_names = NodeNames();
  } else {
    constraints_.nodes_of.clear();
  }
  FindWithheldGpus();
  FindNodeUse();
}

// A start there would be pending until others give memory back. What other jobs of ours have, they
// may give.
std::vector<NodeIndex> LiveCluster::NodesWithoutMemoryFor(const LiveJob& job) const {
  std::vector<NodeIndex> full;
  const auto& [mib, whole_node] = job.asked->memory;
  if (mib == 0 && !whole_node) return full;
  for (std::size_t n = 0; n < state_.nodes().size(); ++n) {
    const std::optional<NodeMemory>& memory = state_.nodes()[n].memory;
    if (!memory) continue;
    const std::uint64_t left = memory->all - std::min(memory->all, memory->taken);
    if (whole_node ? memory->taken > 0 : mib > left) full.push_back(static_cast<NodeIndex>(n));
  }
  return full;
}

// What limits the job to some nodes, for people. `full`: nodes whose memory others have.
std::string LiveCluster::RequestOf(const LiveJob& job, std::span<const NodeIndex> full) const {
  if (full.empty()) return job.asked->limits;
  std::vector<std::string> names;
  names.reserve(full.size());
  for (const NodeIndex node : full) names.push_back(state_.nodes()[At(node)].name);
  const auto& [mib, whole_node] = job.asked->memory;
  return fmt::format("{}{}it needs {} of memory on a node, and others have that of {}",
                     job.asked->limits, job.asked->limits.empty() ? "" : "; ",
                     whole_node ? "all" : fmt::format("{} MiB", mib), fmt::join(names, ", "));
}

// GPUs that others have, and those of workers that may not be stopped. A GPU that a decision gave
// is not withheld from a worker that is about to start.
void LiveCluster::FindWithheldGpus() {
  HeldGpus& withheld = constraints_.withheld;
  withheld.assign(state_.nodes().size(), 0);
  HeldGpus ours = state_.Held();
  for (const LiveJob* job : state_.job_table().active()) {
    for (const NodeShare& share : job->shares) ours[At(share.node)] |= share.gpus;
    if (!job->pinned()) continue;
    for (const LiveWorker& worker : job->worker_group.workers()) {
      withheld[At(worker.node)] |= worker.gpus;
    }
  }
  for (std::size_t n = 0; n < withheld.size(); ++n) {
    withheld[n] |= GpusOfOthers(state_.nodes()[n], ours[n]);
  }
}

// By type: GPUs that are up, and neither jobs of ours nor others have.
std::vector<GpuCount> LiveCluster::FreeGpus() const {
  HeldGpus ours = state_.Held();
  for (const LiveJob* job : state_.job_table().active()) {
    for (const NodeShare& share : job->shares) ours[At(share.node)] |= share.gpus;
  }
  std::vector<GpuCount> free(state_.present().types().size(), 0);
  for (std::size_t n = 0; n < ours.size(); ++n) {
    const Node& node = state_.present().nodes()[n];
    const std::uint64_t left = GpuMask(node.capacity.gpus) & ~ours[n];
    free[At(node.type)] += std::max(0, std::popcount(left) - state_.nodes()[n].taken);
  }
  return free;
}

// Nothing starts on nodes that are near maintenance, fail jobs, or have lost GPUs.
void LiveCluster::FindNodeUse() {
  std::vector<NodeUse>& use = constraints_.node_use;
  const auto mark = [&](NodeIndex node, NodeUse as) {
    use.resize(state_.nodes().size(), NodeUse::kOpen);
    use[At(node)] = as;
  };
  for (std::size_t n = 0; n < state_.nodes().size(); ++n) {
    const auto node = static_cast<NodeIndex>(n);
    if (state_.IsClosed(node)) mark(node, NodeUse::kNoStarts);
  }
  const double wall = clock_.Wall();
  for (const NodeIndex node : windows_.Near(wall)) mark(node, NodeUse::kNoStarts);
  for (const NodeIndex node : recalls_.Near(wall)) mark(node, NodeUse::kNoStarts);
  const Seconds next = std::min(windows_.NextNear(wall), recalls_.NextNear(wall));
  if (next == kNever) return;
  constraints_.valid_until = std::min(constraints_.valid_until, observation_.now + next - wall);
}

void LiveCluster::Refresh() {
  FindPins();
  ShowJobs();
}

void LiveCluster::ShowJobs() {
  state_.job_table().Observe(&observation_);
  ShowRecalls();
  FindConstraints();
  observation_.events = {};
}

void LiveCluster::ShowRecalls() {
  std::vector<GpuCount> here;
  here.reserve(state_.nodes().size());
  for (const RuntimeNode& node : state_.nodes()) {
    const bool up = node.up() && !state_.drained_nodes().contains(node.name);
    here.push_back(up ? node.capacity.gpus : 0);
  }
  recalls_.Show(clock_.Wall(), here, &observation_);
}

bool LiveCluster::PollRuntime() {
  ++counts_.polls;
  RuntimeSnapshot snapshot;
  try {
    snapshot = first_ ? *std::exchange(first_, std::nullopt) : runtime_.TakeSnapshot();
  } catch (const std::exception& error) {
    ++counts_.failed_polls;
    if (unreachable_reason_ != error.what()) {
      spdlog::warn("runtime unreachable, making no changes until it answers: {}", error.what());
    }
    unreachable_reason_ = error.what();
    // Workers report to the daemon itself: jobs train on.
    if (polled_) {
      const Seconds before = std::exchange(polled_at_, clock_.Now());
      reader_.Measure(before, polled_at_);
    }
    return false;
  }
  counts_.last_poll_at = WallSeconds();
  if (!unreachable_reason_.empty()) spdlog::info("runtime answers again");
  if (!polled_ || !unreachable_reason_.empty()) answers_since_ = clock_.Now();
  unreachable_reason_.clear();
  const Seconds before = std::exchange(polled_at_, clock_.Now());
  more_ = snapshot.more;
  if (std::exchange(warning_, snapshot.warning) != snapshot.warning) {
    spdlog::warn("{}", warning_.value_or("the cluster's settings are right again"));
  }
  counts_.refused_writes = snapshot.refused_writes;
  bool event = reader_.Read(snapshot);
  event = std::exchange(limits_, snapshot.limits) != snapshot.limits || event;
  if (!std::exchange(polled_, true)) {
    ReportFirstPoll();
    WarnOfRules();
    if (begins_) LearnPastOutages();
    if (!options_.dry_run) workers_.RepeatAnnouncements();
  }
  WarnOfTopology();
  event = FollowWindows() || event;
  event = reader_.FollowPlaces() || event;
  event = (!options_.dry_run && blame_.Update(failure_rule())) || event;
  event = reader_.ReleaseLostGpus() || event;
  event = (!options_.dry_run && pending_.Withdraw(answers_since_)) || event;
  const bool newcomers = HasFairShares() && !options_.dry_run;
  event = (newcomers && newcomers_.TakeBackLate()) || event;
  reader_.Measure(before, polled_at_);
  batches_.RecordMeasurements();
  if (!options_.dry_run) {
    batches_.SendBatches();
    checkpoints_.Send();
    workers_.Advance();
    TellUsers();
  }
  return event;
}

void LiveCluster::StopAllJobs(Seconds at_most) {
  Pause();
  const std::vector<const LiveJob*> active = state_.job_table().active();
  for (const LiveJob* job : active) {
    if (job->running < 0 || job->pinned()) continue;
    writer_.Write(record::Take{job->asked->id, "the daemon ends"});
  }
  const Seconds begin = clock_.Now();
  while (clock_.Now() - begin < at_most) {
    PollRuntime();
    const auto& now_active = state_.job_table().active();
    if (std::all_of(now_active.begin(), now_active.end(),
                    [](const LiveJob* job) { return job->pinned() || job->worker_group.idle(); })) {
      return;
    }
    runtime_.Wait(options_.poll);
  }
}

}  // namespace allot
