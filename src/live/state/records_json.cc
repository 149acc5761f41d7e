#include "live/state/records_json.h"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/json_text.h"
#include "live/runtimes/job_options.h"
#include "live/workers/batch_message.h"

namespace allot {
namespace {

using Json = nlohmann::ordered_json;

std::string ShortText(const Json& json) { return JsonText(json, -1).substr(0, 80); }

// ---- the two directions ----
//
// Fields(io, record) below lists the fields of a struct in the order in which a journal has them.
// RecordWriter and RecordReader follow these lists, so that neither can forget a field.

template <typename V>
constexpr bool kIsList = std::same_as<V, std::set<std::string>>;
template <typename One>
constexpr bool kIsList<std::vector<One>> = true;

class RecordWriter {
 public:
  explicit RecordWriter(Json* json) : json_(*json) {}
  Json& json() { return json_; }

  // Fields that every journal has: a key and a value, and so on.
  template <typename V, typename... More>
  void operator()(const char* key, const V& value, const More&... more) {
    json_[key] = ValueOf(value);
    if constexpr (sizeof...(More) > 0) (*this)(more...);
  }
  // Fields that keep their default where a journal lacks them, because they came later or are for
  // people. Also numbers that may be infinite or unknown: JSON has null for their default.
  template <typename... Pairs>
  void Lenient(const Pairs&... pairs) {
    (*this)(pairs...);
  }
  // Fields that are only written where they differ from their default.
  template <typename V, typename... More>
  void IfSet(const char* key, const V& value, const More&... more) {
    if (value != V{}) (*this)(key, value);
    if constexpr (sizeof...(More) > 0) IfSet(more...);
  }
  template <typename V, typename... More>
  void IfSet(const char* key, const std::optional<V>& value, const More&... more) {
    if (value) (*this)(key, *value);
    if constexpr (sizeof...(More) > 0) IfSet(more...);
  }
  // Fields that are there together; `key` is one that they always have.
  template <typename V>
  void Group(const char* /*key*/, const std::optional<V>& group) {
    if (group) Fields(*this, *group);
  }

 private:
  template <typename V>
  static Json ValueOf(const V& value) {
    if constexpr (std::floating_point<V>) {
      return std::isfinite(value) ? Json(value) : Json(nullptr);
    } else if constexpr (std::same_as<V, JobState>) {
      return NameOf(value);
    } else if constexpr (std::same_as<V, Span>) {
      return TextOf(value);
    } else if constexpr (std::same_as<V, record::NamedGpus>) {
      return {value.node, value.gpus};
    } else if constexpr (kIsList<V>) {
      Json list = Json::array();
      for (const auto& each : value) list.push_back(ValueOf(each));
      return list;
    } else if constexpr (std::is_class_v<V> && !std::same_as<V, std::string>) {
      Json object = Json::object();
      RecordWriter io(&object);
      Fields(io, value);
      return object;
    } else {
      return value;
    }
  }

  Json& json_;
};

class RecordReader {
 public:
  explicit RecordReader(const Json& json) : json_(json) {}
  const Json& json() const { return json_; }

  template <typename V, typename... More>
  void operator()(const char* key, V& value, More&... more) {
    const auto found = json_.find(key);
    if (found == json_.end()) throw DataError("'{}' is missing", key);
    Read(*found, key, &value);
    if constexpr (sizeof...(More) > 0) (*this)(more...);
  }
  template <typename V, typename... More>
  void Lenient(const char* key, V& value, More&... more) {
    const auto found = json_.find(key);
    if (found != json_.end() && !found->is_null()) Read(*found, key, &value);
    if constexpr (sizeof...(More) > 0) Lenient(more...);
  }
  template <typename V, typename... More>
  void IfSet(const char* key, V& value, More&... more) {
    if (json_.contains(key)) (*this)(key, value);
    if constexpr (sizeof...(More) > 0) IfSet(more...);
  }
  template <typename V, typename... More>
  void IfSet(const char* key, std::optional<V>& value, More&... more) {
    if (json_.contains(key)) (*this)(key, value.emplace());
    if constexpr (sizeof...(More) > 0) IfSet(more...);
  }
  template <typename V>
  void Group(const char* key, std::optional<V>& group) {
    if (!json_.contains(key)) return;
    group = V{};  // Clang 14 has no emplace() of nested structs with default values
    Fields(*this, *group);
  }

 private:
  static void Expect(bool good, const char* key, const char* rule, const Json& json) {
    if (!good) throw DataError("'{}' must be {}, got {}", key, rule, ShortText(json));
  }
  template <typename V>
  static bool IsWhole(const Json& json) {
    if (json.is_number_unsigned()) return std::in_range<V>(json.get<std::uint64_t>());
    return json.is_number_integer() && std::in_range<V>(json.get<std::int64_t>());
  }
  static std::string TextIn(const Json& json, const char* key) {
    Expect(json.is_string(), key, "text", json);
    return json.get<std::string>();
  }

  template <typename V>
  static void Read(const Json& json, const char* key, V* value) {
    if constexpr (std::same_as<V, bool>) {
      Expect(json.is_boolean(), key, "true or false", json);
      *value = json.get<bool>();
    } else if constexpr (std::integral<V>) {
      Expect(IsWhole<V>(json), key, "a whole number", json);
      *value = json.get<V>();
    } else if constexpr (std::floating_point<V>) {
      Expect(json.is_number(), key, "a number", json);
      *value = json.get<V>();
    } else if constexpr (std::same_as<V, std::string>) {
      *value = TextIn(json, key);
    } else if constexpr (std::same_as<V, JobState>) {
      const std::string name = TextIn(json, key);
      const auto state = std::ranges::find_if(
          kJobStates, [&name](JobState known) { return NameOf(known) == name; });
      Expect(state != std::end(kJobStates), key, "the state of a job", json);
      *value = *state;
    } else if constexpr (std::same_as<V, Span>) {
      *value = ParseSpan(TextIn(json, key));
    } else if constexpr (std::same_as<V, record::NamedGpus>) {
      Expect(json.is_array() && json.size() == 2, key, "pairs of a node and its GPUs", json);
      Read(json[0], key, &value->node);
      Read(json[1], key, &value->gpus);
    } else if constexpr (kIsList<V>) {
      Expect(json.is_array(), key, "a list", json);
      for (const Json& each : json) {
        typename V::value_type one{};
        Read(each, key, &one);
        value->insert(value->end(), std::move(one));
      }
    } else {
      Expect(json.is_object(), key, "an object", json);
      RecordReader io(json);
      Fields(io, *value);
    }
  }

  const Json& json_;
};

template <typename Io>
constexpr bool kReads = std::same_as<Io, RecordReader&>;
template <typename Io, typename R>
using Of = std::conditional_t<kReads<Io>, R, const R>;

// ---- parts ----

void Fields(auto& io, Of<decltype(io), NodeMemory>& memory) {
  io("memory", memory.all, "memory_taken", memory.taken);
}
void Fields(auto& io, Of<decltype(io), NodeRecall>& recall) {
  io("recalled_from", recall.from);
  io.Lenient("recalled_until", recall.until);
  io.IfSet("binds_limits", recall.binds_limits);
}
void Fields(auto& io, Of<decltype(io), RuntimeNode>& node) {
  bool up = node.up();
  bool drained = node.state == NodeState::kDrained;
  io("node", node.name, "type", node.gpu_type, "gpus", node.capacity.gpus, "cpus",
     node.capacity.cpus, "up", up);
  io.IfSet("taken", node.taken, "drained", drained, "closed", node.closed);
  io.Group("memory", node.memory);
  io.Group("recalled_from", node.recall);
  if constexpr (kReads<decltype(io)>) {
    node.state = drained ? NodeState::kDrained : up ? NodeState::kUp : NodeState::kDown;
  }
}
void Fields(auto& io, Of<decltype(io), record::Allocated>& r) {
  io.IfSet("configuration", r.configuration);
  io("shares", r.nodes);
  io.IfSet("plan", r.plan);
}
void Fields(auto& io, Of<decltype(io), record::Worker>& r) {
  io("worker", r.id, "node", r.node, "gpus", r.gpus);
}
void Fields(auto& io, Of<decltype(io), Membership>& membership) {
  io("epoch", membership.epoch, "members", membership.members);
}
void Fields(auto& io, Of<decltype(io), RateFit::PlacedPoint>& at) {
  if constexpr (kReads<decltype(io)>) at.point.used = kUnknown;
  io("type", at.type, "nodes", at.span, "gpus", at.gpus, "log_rate", at.point.log_rate, "weight",
     at.point.weight);
  io.Lenient("used", at.point.used);
}
void Fields(auto& io, Of<decltype(io), TimingFits::SeenTiming>& seen) {
  io("type", seen.gpu_type, "nodes", seen.nodes, "gpus", seen.observation.gpus, "local",
     seen.observation.local_batch, "gradient", seen.observation.gradient, "iteration",
     seen.observation.iteration);
  if constexpr (kReads<decltype(io)>) seen.observation.several_nodes = seen.nodes > 1;
}
template <typename Io, typename Limits>
void LimitFields(Io& io, Limits& limits) {
  io("initial", limits.initial, "most", limits.most, "least_local", limits.least_local,
     "most_local", limits.most_local);
}
void Fields(auto& io, Of<decltype(io), record::Training>& r) {
  LimitFields(io, r.limits);
  io.Lenient("noise", r.noise);
  io("timed", r.timed);
  if constexpr (kReads<decltype(io)>) CheckBatchLimits(r.limits);
}

// ---- the run and its nodes ----

void Fields(auto& io, Of<decltype(io), record::ServedBy>& r) {
  io("pid", r.pid, "runtime", r.runtime, "policy", r.policy);
}
void Fields(auto& io, Of<decltype(io), record::Serve>& r) {
  io("origin", r.origin);
  io.Group("pid", r.daemon);
}
void Fields(auto& io, Of<decltype(io), record::Nodes>& r) { io("nodes", r.nodes); }
void Fields(auto& io, Of<decltype(io), record::Drain>& r) { io.IfSet("node", r.node, "by", r.by); }
void Fields(auto& io, Of<decltype(io), record::Undrain>& r) {
  io.IfSet("node", r.node, "by", r.by);
}
void Fields(auto& io, Of<decltype(io), record::MaintainedNodes>& r) { io("nodes", r.nodes); }
void Fields(auto& io, Of<decltype(io), record::Avoid>& r) {
  io("node", r.node, "until", r.until);
  io.Lenient("odds", r.odds, "jobs", r.jobs);
}
void Fields(auto& io, Of<decltype(io), record::Readmit>& r) { io("node", r.node); }
void Fields(auto& io, Of<decltype(io), record::NodesBefore>& r) {
  io("node_seconds", r.node_seconds, "failures", r.failures, "repaired", r.repaired);
  io.IfSet("failed_at", r.failed_at);
}
void Fields(auto& io, Of<decltype(io), record::Pause>& r) { io.IfSet("by", r.by); }
void Fields(auto& io, Of<decltype(io), record::Resume>& r) { io.IfSet("by", r.by); }

// ---- jobs ----

void Fields(auto& io, Of<decltype(io), record::NewJob>& r) {
  io("job", r.asked.id, "user", r.asked.user, "name", r.asked.name, "submit", r.submit,
     "submit_unix", r.asked.submit);
  io.Lenient("deadline", r.deadline);
  if constexpr (kReads<decltype(io)>) {
    TakeJobOptions(io.json(), &r.asked);
  } else {
    RecordJobOptions(r.asked, &io.json());
  }
  io.Lenient("time_limit", r.asked.time_limit);
  io("priority", r.asked.priority, "comment", r.asked.comment);
  io.IfSet("known_as", r.asked.known_as, "account", r.asked.account, "free_account",
           r.asked.free_account);
  io.Lenient("profile", r.profile);
}
void Fields(auto& io, Of<decltype(io), record::Give>& r) {
  io("job", r.job);
  Fields(io, r.allocated);
  io.Lenient("why", r.why);
  io.IfSet("share", r.time_share, "since", r.since, "lost", r.lost);
}
void Fields(auto& io, Of<decltype(io), record::Placed>& r) {
  io("job", r.job);
  Fields(io, r.allocated);
  io.Lenient("why", r.why);
}
void Fields(auto& io, Of<decltype(io), record::Take>& r) {
  io("job", r.job);
  io.Lenient("why", r.why);
}
void Fields(auto& io, Of<decltype(io), record::Account>& r) {
  io("job", r.job);
  io.Lenient("step", r.step, "work", r.work);
  io("gpu_seconds", r.gpu_seconds, "seconds", r.seconds);
}
void Fields(auto& io, Of<decltype(io), record::Over::Report>& r) {
  io("reason", r.reason);
  io.Lenient("step", r.step, "work", r.work);
}
void Fields(auto& io, Of<decltype(io), record::Over>& r) {
  io("job", r.job, "state", r.state);
  io.Group("reason", r.report);
  io.Lenient("gpu_seconds", r.gpu_seconds, "run_time", r.run_time);
}
void Fields(auto& io, Of<decltype(io), record::Retire>& r) { io("job", r.job); }

// ---- their workers ----

void Fields(auto& io, Of<decltype(io), record::Start>& r) {
  io("job", r.job, "workers", r.workers);
}
void Fields(auto& io, Of<decltype(io), record::Found>& r) {
  io("job", r.job, "workers", r.workers);
}
void Fields(auto& io, Of<decltype(io), record::Refused>& r) {
  io("job", r.job, "workers", r.workers);
  io.Lenient("why", r.why);
}
void Fields(auto& io, Of<decltype(io), record::Announce>& r) {
  io("job", r.job);
  Fields(io, r.membership);
  io.Lenient("why", r.why);
}
void Fields(auto& io, Of<decltype(io), record::Stop>& r) {
  bool kill = r.mode == StopMode::kKill;
  bool late = r.fault == StopFault::kLate;
  bool stalled = r.fault == StopFault::kStalled;
  io("job", r.job, "worker", r.worker, "kill", kill);
  io.Lenient("late", late, "stalled", stalled, "step", r.step, "why", r.why);
  if constexpr (kReads<decltype(io)>) {
    r.mode = kill ? StopMode::kKill : StopMode::kSave;
    r.fault = late ? StopFault::kLate : stalled ? StopFault::kStalled : StopFault::kNone;
  }
}
void Fields(auto& io, Of<decltype(io), record::Stays>& r) {
  io("job", r.job);
  io.Lenient("why", r.why);
}
void Fields(auto& io, Of<decltype(io), record::Gone>& r) {
  io("job", r.job, "worker", r.worker, "failed", r.failed);
  io.Lenient("step", r.step, "reason", r.reason);
}
void Fields(auto& io, Of<decltype(io), record::Succeeded>& r) { io("job", r.job); }

// ---- what was measured ----

void Fields(auto& io, Of<decltype(io), record::Rate>& r) {
  io("job", r.job, "type", r.type, "gpus", r.gpus);
  io.Lenient("nodes", r.span);
  io("rate", r.rate);
}
void Fields(auto& io, Of<decltype(io), record::Batch>& r) {
  io("job", r.job);
  LimitFields(io, r);
  if constexpr (kReads<decltype(io)>) CheckBatchLimits(r.limits());
}
void Fields(auto& io, Of<decltype(io), record::Noise>& r) { io("job", r.job, "noise", r.noise); }
void Fields(auto& io, Of<decltype(io), record::Timed>& r) {
  io("job", r.job, "type", r.type, "nodes", r.nodes, "gpus", r.gpus, "local", r.local, "gradient",
     r.gradient, "iteration", r.iteration);
}

// ---- a journal that was written anew ----

void Fields(auto& io, Of<decltype(io), record::Renewed>& r) { io.Lenient("archived", r.archived); }
void Fields(auto& io, Of<decltype(io), record::Kept::KeptWorker>& r) {
  Fields(io, r.worker);
  io("leaving", r.leaving, "killed", r.killed, "since", r.since);
}
void Fields(auto& io, Of<decltype(io), record::Kept::Group>& r) {
  io("workers", r.workers);
  Fields(io, r.membership);
  io("next_number", r.next_number, "restarting", r.restarting, "failures", r.backoff.failures);
  io.Lenient("late_tries", r.backoff.late_tries);
  io("refusals", r.backoff.refusals, "refusal", r.backoff.refusal, "refused_since",
     r.backoff.refused_since, "step_at_failure", r.backoff.step_at_failure, "not_before",
     r.backoff.not_before);
}
void Fields(auto& io, Of<decltype(io), record::Kept::History>& r) {
  io.Lenient("given_at", r.last);
  io("restarts_at", r.restarts, "lost", r.lost);
}
void Fields(auto& io, Of<decltype(io), record::Kept>& r) {
  io("job", r.job);
  // Here a job that has nothing has an empty text.
  std::string configuration = r.allocated.configuration.value_or("");
  io("configuration", configuration, "shares", r.allocated.nodes);
  io.IfSet("plan", r.allocated.plan);
  if constexpr (kReads<decltype(io)>) {
    if (!configuration.empty()) r.allocated.configuration = std::move(configuration);
  }
  io("changes", r.changes, "waiting_since", r.waiting_since, "gpu_seconds", r.gpu_seconds,
     "seconds", r.seconds);
  io.Lenient("first_start", r.first_start);
  io("preemptions", r.preemptions, "restarts", r.restarts, "moves", r.moves, "failures", r.failures,
     "fit", r.fit, "group", r.group);
  io.Group("given_at", r.history);
  io.IfSet("training", r.training);
}
void Fields(auto& io, Of<decltype(io), record::LearnedRates>& r) {
  io("user", r.user, "model", r.model, "fit", r.fit);
}
void Fields(auto& io, Of<decltype(io), record::LearnedTraining>& r) {
  io("of", r.key, "training", r.training);
}
void Fields(auto& io, Of<decltype(io), StartTrial>& r) {
  io("nodes", r.nodes, "failures", r.failures, "succeeded", r.succeeded, "failed_at", r.failed_at);
}
void Fields(auto& io, Of<decltype(io), record::NodeEvidence>& r) {
  io("node", r.node.name, "prior", r.node.prior, "accusers", r.node.accusers, "avoided",
     r.node.avoided, "until", r.node.avoided_until, "avoidances", r.node.avoidances);
}
void Fields(auto& io, Of<decltype(io), record::JobEvidence>& r) {
  bool broken = r.job.verdict == JobVerdict::kBroken;
  bool sound = r.job.verdict == JobVerdict::kSound;
  io("job", r.job.name, "user", r.job.user, "trials", r.job.trials, "broken", broken, "sound",
     sound, "over", r.job.over);
  if constexpr (kReads<decltype(io)>) {
    r.job.verdict = broken ? JobVerdict::kBroken : sound ? JobVerdict::kSound : JobVerdict::kNone;
  }
}
void Fields(auto& io, Of<decltype(io), record::UserEvidence>& r) {
  io("user", r.user.name, "broken", r.user.broken, "sound", r.user.sound, "at", r.user.at);
}
void Fields(auto& io, Of<decltype(io), record::LearnedUsage>& r) {
  io("account", r.account, "user", r.user, "gpu_seconds", r.gpu_seconds);
}
void Fields(auto& io, Of<decltype(io), record::LearnedWork>& r) {
  io("user", r.user, "stated", r.stated, "needed", r.needed);
}
void Fields(auto& io, Of<decltype(io), record::Counts>& r) {
  io("finished", r.finished, "last_submit", r.last_submit);
  io.IfSet("node_seconds", r.node_seconds, "node_failures", r.node_failures, "node_failed_at",
           r.node_failed_at);
}

// ---- for people ----

void Fields(auto& io, Of<decltype(io), record::Cancel>& r) {
  io.Lenient("job", r.job);
  io.IfSet("by", r.by);
}
void Fields(auto& io, Of<decltype(io), record::GiveUp>& r) {
  io.Lenient("job", r.job, "why", r.why);
}
void Fields(auto& io, Of<decltype(io), record::Decide>& r) {
  io.Lenient("decision", r.decision, "launched", r.launched, "preempted", r.preempted, "resized",
             r.resized, "moved", r.moved);
}
void Fields(auto& io, Of<decltype(io), record::Trains>& r) {
  io.Lenient("job", r.job, "epoch", r.epoch, "workers", r.workers, "step", r.step, "took", r.took);
}
void Fields(auto& io, Of<decltype(io), record::TrainsWith>& r) {
  io.Lenient("job", r.job, "gpus", r.batch.workers, "local", r.batch.local, "accumulation",
             r.batch.accumulation, "total", r.total, "noise", r.noise);
}

// ---- kinds ----

template <typename Variant>
struct ReadAs;
template <typename... R>
struct ReadAs<std::variant<R...>> {
  // The first alternative of this kind. "learned" names two: LearnedRates has no training.
  static JournalRecord Kind(std::string_view kind, const Json& json) {
    JournalRecord read = record::Other{std::string(kind)};
    const auto as = [&]<typename One>(One one) {
      if constexpr (!std::same_as<One, record::Other>) {
        if (One::kKind != kind) return false;
        if (std::same_as<One, record::LearnedTraining> && !json.contains("training")) return false;
        RecordReader io(json);
        Fields(io, one);
        read = std::move(one);
        return true;
      }
      return false;
    };
    (void)(as(R{}) || ...);
    return read;
  }
};

void AddFields(const JournalRecord& record, Json* json) {
  RecordWriter io(json);
  const auto add = [&io]<typename R>(const R& r) {
    if constexpr (!std::same_as<R, record::Other>) Fields(io, r);
  };
  std::visit(add, record);
}

}  // namespace

std::string_view KindOf(const JournalRecord& record) {
  return std::visit(
      []<typename R>(const R& r) -> std::string_view {
        if constexpr (std::same_as<R, record::Other>) {
          return r.kind;
        } else {
          return R::kKind;
        }
      },
      record);
}

std::string FieldsText(const JournalRecord& record) {
  Json json = Json::object();
  AddFields(record, &json);
  return JsonText(json, -1);
}

Json ToJson(const TimedRecord& record) {
  Json json = {{"at", record.at}, {"what", KindOf(record.record)}};
  AddFields(record.record, &json);
  return json;
}

TimedRecord RecordFrom(const Json& json) {
  TimedRecord record;
  std::string kind;
  if (!json.is_object() || !json.contains("at") || !json.contains("what")) {
    throw DataError("a record must be an object with 'at' and 'what', got {}", ShortText(json));
  }
  RecordReader io(json);
  io("at", record.at, "what", kind);
  try {
    record.record = ReadAs<JournalRecord>::Kind(kind, json);
  } catch (const std::exception& error) {  // of ours, or of the options of a job
    throw DataError("'{}': {}", kind, error.what());
  }
  return record;
}

}  // namespace allot
