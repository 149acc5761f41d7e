// What each kind of record does to a LiveState.

#include "core/error.h"
#include "live/state/live_state.h"
#include "live/state/state_records.h"

namespace allot {

// Records of other kinds are for people.
const std::map<std::string, LiveState::Handler>& LiveState::Handlers() {
  using Record = JournalRecord;
  // A kind of record that names a job.
  const auto of_job = [](auto apply) -> Handler {
    return [apply](LiveState& state, const Record& r, Seconds at) {
      apply(state, state.JobOf(r), r, at);
    };
  };
  const Handler adopt = of_job([](LiveState& state, LiveJob& job, const Record& r, Seconds at) {
    for (const Record& one : r.at("workers")) {
      LiveWorker worker;
      worker.id = one.at("worker");
      worker.node = state.NodeOf(one.at("node"));
      worker.gpus = one.at("gpus");
      worker.since = at;
      if (worker.node < 0) throw DataError("a journal names its nodes, got '{}'", one.dump());
      job.worker_group.Adopt(std::move(worker));
    }
  });
  static const std::map<std::string, Handler> handlers = {
      // ---- the run and its nodes ----
      {"serve", [](LiveState& state, const Record& r, Seconds) { state.origin_ = r.at("origin"); }},
      {"nodes", [](LiveState& state, const Record& r, Seconds) { state.SetNodes(r); }},
      {"drain", [](LiveState& state, const Record& r, Seconds) { state.SetDrained(r, true); }},
      {"undrain", [](LiveState& state, const Record& r, Seconds) { state.SetDrained(r, false); }},
      {"maintenance",
       [](LiveState& state, const Record& r, Seconds) {
         state.maintained_nodes_ = r.at("nodes").get<std::set<std::string>>();
         state.Refresh();
       }},
      {"pause", [](LiveState& state, const Record&, Seconds) { state.paused_ = true; }},
      {"resume", [](LiveState& state, const Record&, Seconds) { state.paused_ = false; }},

      // ---- jobs ----
      {"job",
       [](LiveState& state, const Record& r, Seconds) {
         if (state.nodes_.empty()) throw DataError("a journal names nodes before jobs");
         // The journal remembers for longer than the daemon did: names come again.
         state.job_table_.ForgetRetired(r.at("job"));
         state.job_table_.Add(std::make_shared<const RuntimeJob>(record::AskedOf(r)),
                              r.at("submit"), NumberIn(r, "deadline", kNever));
       }},
      {"give", of_job([](LiveState& state, LiveJob& job, const Record& r, Seconds at) {
         const std::vector<NodeShare> shares = state.SharesOf(r);
         state.job_table_.Give(job, state.GivenConfiguration(r, job, shares), shares,
                               NumberIn(r, "since", at));
         if (r.value("lost", false)) job.history.Lost();
       })},
      {"placed", of_job([](LiveState& state, LiveJob& job, const Record& r, Seconds) {
         const std::vector<NodeShare> shares = state.SharesOf(r);
         state.job_table_.Place(job, state.GivenConfiguration(r, job, shares), shares);
       })},
      {"take", of_job([](LiveState& state, LiveJob& job, const Record&, Seconds at) {
         state.job_table_.Take(job, at);
       })},
      {"account", of_job([](LiveState&, LiveJob& job, const Record& r, Seconds) {
         job.attained_gpu_seconds = r.at("gpu_seconds");
         job.attained_seconds = r.at("seconds");
       })},
      {"over", of_job([](LiveState& state, LiveJob& job, const Record& r, Seconds at) {
         job.SetState(ParseJobState(r.at("state").get<std::string>(), job.asked->state));
         job.ended = at;
         job.run_time = NumberIn(r, "run_time", kUnknown);
         state.job_table_.End(job, job.asked->state == JobState::kFinished ? at : kNever);
       })},
      {"retire", of_job([](LiveState& state, LiveJob& job, const Record&, Seconds) {
         if (!job.over) {
           throw DataError("a journal retires jobs that are over, got '{}'", job.asked->id);
         }
         state.job_table_.Retire(job);
       })},

      // ---- their workers ----
      {"start", adopt},
      {"found", adopt},
      {"refused", of_job([](LiveState&, LiveJob& job, const Record& r, Seconds at) {
         for (const Record& worker : r.at("workers")) job.worker_group.Gone(worker, false, 0, at);
         job.worker_group.StartRefused(at, r.value("why", std::string()));
       })},
      {"announce", of_job([](LiveState&, LiveJob& job, const Record& r, Seconds at) {
         job.worker_group.Announced({r.at("epoch"), r.at("members")}, at);
       })},
      {"stop", of_job([](LiveState&, LiveJob& job, const Record& r, Seconds at) {
         const StopFault fault = r.value("late", false)      ? StopFault::kLate
                                 : r.value("stalled", false) ? StopFault::kStalled
                                                             : StopFault::kNone;
         job.worker_group.Stopped(r.at("worker"), r.at("kill") ? StopMode::kKill : StopMode::kSave,
                                  fault, r.value("step", std::int64_t{0}), at);
       })},
      {"stays", of_job([](LiveState&, LiveJob& job, const Record&, Seconds) {
         job.worker_group.StopsUndone();
       })},
      {"gone", of_job([](LiveState&, LiveJob& job, const Record& r, Seconds at) {
         job.worker_group.Gone(r.at("worker"), r.at("failed"), r.value("step", std::int64_t{0}),
                               at);
       })},

      // ---- what was measured ----
      {"rate", of_job([](LiveState& state, LiveJob& job, const Record& r, Seconds) {
         const Span span = ParseSpan(r.value("nodes", "any"));
         state.job_table_.Measure(job, r.at("gpus"), r.at("type"), span, r.at("rate"),
                                  RateFit::kMemory);
       })},
      {"batch", of_job([](LiveState& state, LiveJob& job, const Record& r, Seconds) {
         state.job_table_.SetLimits(job, ReadLimits(r));
       })},
      {"noise", of_job([](LiveState& state, LiveJob& job, const Record& r, Seconds) {
         state.job_table_.SetNoise(job, r.at("noise"));
       })},
      {"timed", of_job([](LiveState& state, LiveJob& job, const Record& r, Seconds) {
         const std::int32_t nodes = r.at("nodes");
         state.job_table_.Timed(
             job, r.at("type"), nodes,
             {nodes > 1, r.at("gpus"), r.at("local"), r.at("gradient"), r.at("iteration")});
       })},

      // ---- a journal that was made anew (state_records.h) ----
      {"kept", of_job([](LiveState& state, LiveJob& job, const Record& r, Seconds) {
         ResumeJob(r, state, state.SharesOf(r), &state.job_table_, &job);
       })},
      {"learned", [](LiveState& state, const Record& r, Seconds) { Learn(r, &state.job_table_); }},
      {"counts", [](LiveState& state, const Record& r,
                    Seconds) { state.job_table_.Count(r.at("finished"), r.at("last_submit")); }},
  };
  return handlers;
}

// All, or one node.
void LiveState::SetDrained(const JournalRecord& record, bool drained) {
  if (!record.contains("node")) {
    drained_ = drained;
    return;
  }
  const auto node = record.at("node").get<std::string>();
  if (drained) {
    drained_nodes_.insert(node);
  } else {
    drained_nodes_.erase(node);
  }
  Refresh();
}

}  // namespace allot
