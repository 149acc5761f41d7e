#include "live/status/status_json.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <concepts>
#include <nlohmann/json.hpp>
#include <tuple>
#include <type_traits>

#include "core/error.h"
#include "core/json_text.h"
#include "core/user_json.h"

namespace allot {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 6> kActionNames = {"status", "pause",  "resume",
                                                          "drain",  "cancel", "quote"};
constexpr std::array<std::string_view, 6> kVariantNames = {"as asked", "half",    "double",
                                                           "elastic",  "shorter", "other type"};
constexpr std::array<std::string_view, 2> kDrainerNames = {"allot", "cluster"};
constexpr std::array<const char*, 3> kForecastLevels = {"0.1", "0.5", "0.9"};
constexpr const char* kGoneNode = "gone";

constexpr const auto& NamesOf(JobStage) { return kJobStageNames; }
constexpr const auto& NamesOf(NodeState) { return kNodeStateNames; }
constexpr const auto& NamesOf(ControlAction) { return kActionNames; }
constexpr const auto& NamesOf(Drainer) { return kDrainerNames; }
constexpr const auto& NamesOf(QuoteVariant) { return kVariantNames; }

// A member and its key. The key of an Extra one is left out while the member is unset or false.
template <typename Member>
struct Row {
  constexpr Row(const char* its_key, Member its_member) : key(its_key), member(its_member) {}
  const char* key;
  Member member;
};
template <typename Member>
struct Extra {
  constexpr Extra(const char* its_key, Member its_member) : key(its_key), member(its_member) {}
  const char* key;
  Member member;
};

// The rows of each struct, in the order in which they are written.
constexpr auto RowsOf(const NodeStatus*) {  // what follows from its state is added
  using T = NodeStatus;
  return std::tuple(Row{"node", &T::name}, Row{"type", &T::gpu_type}, Row{"gpus", &T::gpus},
                    Row{"held", &T::worker_gpus}, Row{"taken", &T::foreign_gpus}, Row{"up", &T::up},
                    Extra{"avoided", &T::why}, Extra{"suspicion", &T::suspicion});
}

constexpr auto RowsOf(const SuspicionStatus*) {
  using T = SuspicionStatus;
  return std::tuple(Row{"odds", &T::odds}, Row{"jobs", &T::jobs});
}

constexpr auto RowsOf(const BatchStatus*) {
  using T = BatchStatus;
  return std::tuple(Row{"total", &T::total}, Row{"local", &T::local},
                    Row{"accumulation", &T::accumulation});
}

constexpr auto RowsOf(const ForecastStatus*) {
  using T = ForecastStatus;
  return std::tuple(Row{"made", &T::made}, Row{"until", &T::until}, Row{"start", &T::start},
                    Row{"end", &T::end});
}

constexpr auto RowsOf(const JobStatus*) {
  using T = JobStatus;
  return std::tuple(
      Row{"job", &T::id}, Row{"name", &T::name}, Row{"title", &T::title}, Row{"user", &T::user},
      Row{"model", &T::model}, Row{"stage", &T::stage}, Row{"reason", &T::reason},
      Row{"gpus", &T::allocated_gpus}, Row{"held", &T::worker_gpus},
      Row{"asked", &T::requested_gpus}, Row{"min", &T::min_gpus}, Row{"max", &T::max_gpus},
      Row{"type", &T::gpu_type}, Row{"types", &T::accepted_types}, Row{"limits", &T::limits},
      Row{"rates", &T::rates}, Row{"nodes", &T::nodes}, Row{"epoch", &T::epoch},
      Row{"step", &T::step}, Row{"work", &T::work}, Row{"total", &T::total_work},
      Row{"rate", &T::rate}, Row{"loss", &T::loss}, Row{"noise_scale", &T::noise_scale},
      Row{"batch", &T::batch}, Row{"age", &T::age}, Row{"waits", &T::waited},
      Row{"gpu_seconds", &T::gpu_seconds}, Row{"changes", &T::changes}, Extra{"plan", &T::plan},
      Extra{"eta", &T::forecast});
}

constexpr auto RowsOf(const ShadowStatus*) {
  using T = ShadowStatus;
  return std::tuple(Row{"policy", &T::policy}, Row{"decisions", &T::decisions},
                    Row{"failed", &T::failed}, Row{"agreement", &T::agreement},
                    Row{"asked", &T::asked});
}

constexpr auto RowsOf(const DaemonStatus*) {  // its jobs follow
  using T = DaemonStatus;
  return std::tuple(
      Row{"now", &T::now}, Row{"written", &T::written_at}, Row{"looked", &T::polled_at},
      Row{"decided", &T::decided_at}, Row{"interval", &T::interval}, Row{"runtime", &T::runtime},
      Row{"trouble", &T::trouble}, Row{"policy", &T::policy}, Row{"rules", &T::rules},
      Row{"fair_shares", &T::fair_shares}, Row{"corrected", &T::corrected},
      Row{"paused", &T::paused}, Row{"drained", &T::drained}, Row{"finished", &T::finished},
      Row{"more_jobs", &T::more_jobs}, Row{"decisions", &T::decisions},
      Row{"decision_us", &T::decision_us}, Row{"resizes", &T::resizes},
      Row{"last_resize_s", &T::last_resize}, Row{"workers_failed", &T::workers_failed},
      Row{"nodes", &T::nodes}, Extra{"warning", &T::warning}, Extra{"shadow", &T::shadow});
}

constexpr auto RowsOf(const QuoteRequest*) {
  using T = QuoteRequest;
  return std::tuple(Row{"gpus", &T::gpus}, Extra{"type", &T::type}, Extra{"limit", &T::limit});
}

constexpr auto RowsOf(const QuotedJob*) {
  using T = QuotedJob;
  return std::tuple(Row{"job", &T::variant}, Row{"gpus", &T::gpus}, Row{"max", &T::max_gpus},
                    Row{"type", &T::type}, Row{"limit", &T::limit}, Row{"start", &T::start});
}

constexpr auto RowsOf(const JobsInTheWay*) {
  using T = JobsInTheWay;
  return std::tuple(Row{"user", &T::user}, Row{"jobs", &T::jobs}, Row{"gpus", &T::gpus});
}

constexpr auto RowsOf(const Quote*) {
  using T = Quote;
  return std::tuple(Row{"made", &T::made}, Row{"ahead", &T::ahead_for}, Row{"jobs", &T::jobs},
                    Row{"gpus", &T::gpus}, Row{"free", &T::free_gpus}, Row{"running", &T::running},
                    Row{"waiting", &T::waiting}, Row{"notes", &T::notes});
}

constexpr auto RowsOf(const ControlRequest*) {
  using T = ControlRequest;
  return std::tuple(Row{"do", &T::action}, Extra{"job", &T::job}, Extra{"node", &T::node},
                    Extra{"undo", &T::undo}, Extra{"quote", &T::quote});
}

constexpr auto RowsOf(const DrainedNode*) {
  using T = DrainedNode;
  return std::tuple(Row{"node", &T::name}, Row{"state", &T::state});
}

constexpr auto RowsOf(const ControlReply*) {
  using T = ControlReply;
  return std::tuple(Row{"done", &T::done}, Row{"paused", &T::paused}, Row{"drained", &T::drained},
                    Extra{"node", &T::node});
}

template <typename T>
concept HasRows = requires(const T* value) {
  RowsOf(value);
};
template <typename T>
concept Enum = std::is_enum_v<T>;
template <typename T>
concept Plain = std::is_arithmetic_v<T> || std::same_as<T, std::string>;

// Values to JSON. Unset numbers and structs are null, unset texts "".
struct Encode {
  static Json Of(const Plain auto& value) { return value; }  // a number that is not finite: null
  static Json Of(Enum auto value) { return NamesOf(value)[static_cast<std::size_t>(value)]; }
  template <typename T>
  static Json Of(const std::optional<T>& value) {
    return value ? Of(*value) : Json();
  }
  static Json Of(const std::optional<std::string>& text) { return text.value_or(""); }
  static Json Of(std::optional<Drainer> drainer) { return drainer ? Of(*drainer) : Json(""); }
  static Json Of(std::optional<NodeState> state) { return state ? Of(*state) : Json(kGoneNode); }
  static Json Of(const ForecastTimes& times) {
    Json json;
    for (std::size_t level = 0; level < times.size(); ++level) {
      json[kForecastLevels[level]] = times[level];
    }
    return json;
  }
  template <typename Number>
  static Json Of(const ByName<Number>& numbers) {
    Json json = Json::object();
    for (const auto& [name, number] : numbers) json[name] = number;
    return json;
  }
  template <typename T>
  static Json Of(const std::vector<T>& list) {
    Json json = Json::array();
    for (const T& one : list) json.push_back(Of(one));
    return json;
  }
  static Json Of(const NodeStatus& node) {
    Json json = OfRows(node);
    json["drained"] = node.state == NodeState::kDrained;
    json["drained_by"] = Of(node.drained_by);
    json["maintenance"] = node.state == NodeState::kMaintenance;
    return json;
  }
  static Json Of(const HasRows auto& value) { return OfRows(value); }

 private:
  static Json OfRows(const auto& value) {
    Json json = Json::object();
    std::apply([&](const auto&... row) { (Add(row, value, &json), ...); }, RowsOf(&value));
    return json;
  }
  static void Add(const auto& row, const auto& value, Json* json) {
    (*json)[row.key] = Of(value.*row.member);
  }
  template <typename Member>
  static void Add(const Extra<Member>& row, const auto& value, Json* json) {
    if (value.*row.member) (*json)[row.key] = Of(value.*row.member);
  }
};

// JSON to values: the inverse. Json::exception or DataError for what is not as it must be.
struct Decode {
  static void To(const Json& json, Plain auto* value) { json.get_to(*value); }
  static void To(const Json& json, double* value) {
    *value = json.is_null() ? kUnknown : json.get<double>();
  }
  template <Enum E>
  static void To(const Json& json, E* value) {
    const auto& name = json.get_ref<const std::string&>();
    const auto& names = NamesOf(E{});
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      throw DataError("must be one of {}, got '{}'", fmt::join(names, ", "), name);
    }
    *value = static_cast<E>(found - names.begin());
  }
  template <typename T>
  static void To(const Json& json, std::optional<T>* value) {
    if (!json.is_null() && json != "") To(json, &value->emplace());
  }
  static void To(const Json& json, std::optional<NodeState>* state) {
    if (json != kGoneNode) To(json, &state->emplace());
  }
  static void To(const Json& json, ForecastTimes* times) {
    for (std::size_t level = 0; level < times->size(); ++level) {
      const Json& time = json.at(kForecastLevels[level]);
      (*times)[level] = time.is_null() ? kNever : time.get<Seconds>();
    }
  }
  template <typename Number>
  static void To(const Json& json, ByName<Number>* numbers) {
    for (const auto& [name, number] : json.items()) {
      To(number, &numbers->emplace_back(name, Number{}).second);
    }
  }
  template <typename T>
  static void To(const Json& json, std::vector<T>* list) {
    for (const Json& one : json) To(one, &list->emplace_back());
  }
  static void To(const Json& json, NodeStatus* node) {
    ToRows(json, node);
    To(json.at("drained_by"), &node->drained_by);
    node->state = json.at("drained").get<bool>()       ? NodeState::kDrained
                  : json.at("maintenance").get<bool>() ? NodeState::kMaintenance
                  : node->why                          ? NodeState::kAvoided
                  : node->up                           ? NodeState::kUp
                                                       : NodeState::kDown;
  }
  static void To(const Json& json, HasRows auto* value) { ToRows(json, value); }

 private:
  static void ToRows(const Json& json, auto* value) {
    std::apply([&](const auto&... row) { (Take(row, json, value), ...); }, RowsOf(value));
  }
  static void Take(const auto& row, const Json& json, auto* value) {
    To(json.at(row.key), &(value->*row.member));
  }
  template <typename Member>
  static void Take(const Extra<Member>& row, const Json& json, auto* value) {
    if (json.contains(row.key)) To(json.at(row.key), ValueOf(&(value->*row.member)));
  }
  static bool* ValueOf(bool* flag) { return flag; }
  template <typename T>
  static T* ValueOf(std::optional<T>* value) {
    return &value->emplace();
  }
};

// A daemon's answer that is no error.
template <typename T>
T ReadAnswer(std::string_view text) try {
  const auto json = ParseUserJson<Json>(text);
  if (!json.is_object()) {
    throw DataError("a daemon must answer with a JSON object, got '{}'", text.substr(0, 40));
  }
  if (json.contains("error")) throw RunError("{}", json.at("error").template get<std::string>());
  T value;
  Decode::To(json, &value);
  if constexpr (std::same_as<T, DaemonStatus>) Decode::To(json.at("jobs"), &value.jobs);
  return value;
} catch (const Json::exception& error) {
  throw DataError("the daemon's answer is not one of this version of allot: {}", error.what());
}

}  // namespace

std::string WriteStatus(const DaemonStatus& status, int indent) {
  Json json = Encode::Of(status);
  if (indent != kOneLine) {
    json["jobs"] = Encode::Of(status.jobs);
    return JsonText(json, indent);
  }
  // The text of many thousand jobs is megabytes; their JSON values would be several times that.
  constexpr std::size_t kTypicalJobBytes = 640;
  std::string text = JsonText(json, kOneLine);
  text.pop_back();
  text.reserve(text.size() + kTypicalJobBytes * (status.jobs.size() + 1));
  text += R"(,"jobs":[)";
  for (const JobStatus& job : status.jobs) {
    if (&job != status.jobs.data()) text += ',';
    text += JsonText(Encode::Of(job), kOneLine);
  }
  return text += "]}";
}

std::string WriteJobs(const std::vector<JobStatus>& jobs, int indent) {
  return JsonText(Encode::Of(jobs), indent);
}

std::string WriteNodes(const std::vector<NodeStatus>& nodes, int indent) {
  return JsonText(Encode::Of(nodes), indent);
}

std::string WriteRequest(const ControlRequest& request) {
  return JsonText(Encode::Of(request), kOneLine);
}

std::string WriteQuote(const Quote& quote, int indent) {
  return JsonText(Encode::Of(quote), indent);
}

std::string WriteReply(const ControlReply& reply) { return JsonText(Encode::Of(reply), kOneLine); }

std::string WriteError(std::string_view message) {
  return JsonText(Json{{"error", message}}, kOneLine);
}

ControlRequest ReadRequest(std::string_view text) try {
  const auto json = ParseUserJson<Json>(text);
  if (!json.is_object() || !json.contains("do")) throw UsageError(R"(a request is {{"do": ...}})");
  ControlRequest request;
  Decode::To(json, &request);
  if (request.action == ControlAction::kCancel && !request.job) {
    throw UsageError("'cancel' needs a 'job'");
  }
  if (request.action == ControlAction::kQuote && !request.quote) {
    throw UsageError("'quote' needs a 'quote': the job");
  }
  return request;
} catch (const Json::exception& error) {
  throw UsageError("the daemon cannot read this request: {}", error.what());
}

DaemonStatus ReadStatus(std::string_view text) { return ReadAnswer<DaemonStatus>(text); }

Quote ReadQuote(std::string_view text) { return ReadAnswer<Quote>(text); }

ControlReply ReadReply(std::string_view text) { return ReadAnswer<ControlReply>(text); }

}  // namespace allot
