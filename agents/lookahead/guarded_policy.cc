#include "agents/lookahead/guarded_policy.h"

#include <algorithm>

#include "cluster/validate.h"
#include "core/error.h"
#include "core/nested_spec.h"
#include "sim/profile.h"

namespace allot {

GuardedPolicy::GuardedPolicy(PolicyInfo info, std::unique_ptr<Policy> own,
                             std::unique_ptr<Policy> teacher, std::unique_ptr<Policy> shadow,
                             const GuardOptions& options)
    : info_(std::move(info)),
      own_(std::move(own)),
      teacher_(std::move(teacher)),
      shadow_(std::move(shadow)),
      options_(options),
      arrivals_(options.rules, options.memory) {}

void GuardedPolicy::OnEpisodeStart(const EpisodeContext& context) {
  own_->OnEpisodeStart(context);
  teacher_->OnEpisodeStart(context);
  arrivals_.OnEpisodeStart();
  next_check_ = 0;
  fallen_ = false;
  decisions_ = by_teacher_ = invalid_ = checks_ = 0;
  first_invalid_.clear();
  reason_.clear();
}

void GuardedPolicy::FallBack(const Observation& o, std::string reason) {
  fallen_ = true;
  reason_ = fmt::format("from decision {} at {} s on: {}", o.decision, o.now, reason);
}

void GuardedPolicy::CountInvalid(const Observation& o, const std::string& rule) {
  if (invalid_++ == 0) {
    first_invalid_ = fmt::format("decision {} at {} s: {}", o.decision, o.now, rule);
  }
  if (invalid_ >= options_.most_invalid) {
    FallBack(o, fmt::format("{} invalid decisions, the first {}", invalid_, first_invalid_));
  }
}

void GuardedPolicy::CheckDrift(const Observation& o) {
  if (arrivals_.ended() < options_.min_jobs || o.now < next_check_) return;
  next_check_ = o.now + options_.every * o.interval;
  ++checks_;
  const double measured = arrivals_.MeasuredMeanJct(o);
  const double simulated = arrivals_.SimulatedMeanJct(o, *shadow_);
  if (measured <= (1 + options_.margin) * simulated) return;
  FallBack(o, fmt::format("mean JCT {:.0f} s measured, {:.0f} s of {} simulated on the same "
                          "arrivals, more than {} worse",
                          measured, simulated, teacher_->info().id, options_.margin));
}

void GuardedPolicy::Decide(const Observation& o, Allocation* allocation) {
  ++decisions_;
  teacher_->Decide(o, allocation);
  if (!fallen_) {
    arrivals_.Observe(o);
    CheckDrift(o);
  }
  if (!fallen_) {
    try {
      own_->Decide(o, &own_answer_);
      const Status status = ValidateAllocation(o, own_answer_);
      if (status.ok()) {
        *allocation = own_answer_;
        return;
      }
      CountInvalid(o, status.message());
    } catch (const Error& error) {
      if (error.code() == ExitCode::kInterrupted) throw;
      CountInvalid(o, error.what());
    }
  }
  ++by_teacher_;
}

Seconds GuardedPolicy::HoldsUntil(const Observation& o, std::span<const std::int32_t> running) {
  return fallen_ ? allot::HoldsUntil(*teacher_, o, running) : 0;
}

PolicyNotes GuardedPolicy::notes() const {
  PolicyNotes notes = {{"decisions by teacher", fmt::format("{} of {}", by_teacher_, decisions_)},
                       {"invalid decisions", std::to_string(invalid_)},
                       {"drift checks", std::to_string(checks_)}};
  if (!first_invalid_.empty()) notes.emplace_back("first invalid decision", first_invalid_);
  if (!reason_.empty()) notes.emplace_back("fell back", reason_);
  return notes;
}

namespace {

PolicyInfo GuardedInfo() {
  PolicyInfo info;
  info.id = "guarded";
  info.summary = "a policy that a teacher replaces when it breaks rules or becomes worse";
  info.source = "allot";
  info.needs_lengths = true;
  info.time_driven = true;
  info.params = {
      FileParam({"policy", "index", "the policy that is guarded, e.g. index/alpha=1"},
                FilesOfInnerPolicy),
      FileParam({"checkpoint", "", "guard learned:checkpoint=DIR instead"}),
      FileParam({"teacher", "optimus", "the policy that takes over, e.g. las/queues=3600"},
                FilesOfInnerPolicy),
      {"margin", "0.1", "how much worse than the teacher's the mean JCT may be, as a share of it",
       0, 1e6},
      {"check-interval", "100", "intervals between comparisons with the teacher", 1, 1e9},
      {"min-jobs", "50", "jobs that must have ended before the first comparison", 1, 1e9},
      {"max-invalid", "3", "invalid decisions before the teacher takes over", 1, 1e9},
      {"max-jobs", "2000", "jobs compared, at most", 1, 1e9},
      {"profile", "default", "simulator rules for the teacher"}};
  info.make = [info](const Params& params) -> std::unique_ptr<Policy> {
    const ProfileInfo& profile =
        Registry<ProfileInfo>::Global().Get("profile", params.Text("profile"));
    GuardOptions options;
    profile.apply(&options.rules);
    options.margin = params.Number("margin");
    options.every = params.Integer("check-interval");
    options.min_jobs = params.Integer("min-jobs");
    options.most_invalid = params.Integer("max-invalid");
    options.memory = static_cast<std::size_t>(params.Integer("max-jobs"));
    const std::string& checkpoint = params.Text("checkpoint");
    const std::string own = checkpoint.empty()
                                ? PolicySpecUnder(profile, NestedSpec(params.Text("policy")))
                                : "learned:checkpoint=" + checkpoint;
    const std::string teacher = PolicySpecUnder(profile, NestedSpec(params.Text("teacher")));
    return std::make_unique<GuardedPolicy>(info, MakePolicy(own, params.loader()),
                                           MakePolicy(teacher, params.loader()),
                                           MakePolicy(teacher, params.loader()), options);
  };
  return info;
}

ALLOT_REGISTER(PolicyInfo, GuardedInfo());

}  // namespace
}  // namespace allot
