#include "live/slurm/slurm_json.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/strings.h"
#include "live/runtime.h"
#include "live/slurm/foreign_bytes.h"
#include "live/slurm/slurm_text.h"

namespace allot {
namespace {

using nlohmann::json;

constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max();

// What is read of a job or a node; the rest, most of it, is dropped while it is parsed.
const std::set<std::string, std::less<>>& Fields() {
  static const std::set<std::string, std::less<>> fields = {"account",
                                                            "active_features",
                                                            "admin_comment",
                                                            "alloc_cpus",
                                                            "array_job_id",
                                                            "array_max_tasks",
                                                            "array_task_id",
                                                            "array_task_string",
                                                            "comment",
                                                            "cpus",
                                                            "cpus_per_task",
                                                            "current_working_directory",
                                                            "deadline",
                                                            "dependency",
                                                            "excluded_nodes",
                                                            "exit_code",
                                                            "features",
                                                            "gres",
                                                            "gres_detail",
                                                            "group_id",
                                                            "het_job_id",
                                                            "job_id",
                                                            "job_state",
                                                            "memory_per_cpu",
                                                            "memory_per_node",
                                                            "minimum_cpus_per_node",
                                                            "name",
                                                            "nice",
                                                            "node_count",
                                                            "nodes",
                                                            "partition",
                                                            "partitions",
                                                            "priority",
                                                            "qos",
                                                            "real_memory",
                                                            "requeue",
                                                            "resv_name",
                                                            "shared",
                                                            "state",
                                                            "state_flags",
                                                            "state_reason",
                                                            "submit_time",
                                                            "time_limit",
                                                            "tres_per_job",
                                                            "tres_per_node",
                                                            "tres_per_socket",
                                                            "tres_per_task",
                                                            "user_id",
                                                            "user_name"};
  return fields;
}

constexpr int kOfRecord = 3;  // depth of a field: {"jobs": [{field

template <typename Record>
std::vector<Record> ReadRecords(std::string_view text, const char* list,
                                Record (*read)(const json& record)) {
  std::vector<Record> records;
  try {
    const json parsed =
        json::parse(HideForeignBytes(text), [](int depth, json::parse_event_t event, json& at) {
          return event != json::parse_event_t::key || depth != kOfRecord ||
                 Fields().contains(at.get_ref<const std::string&>());
        });
    const json& all = parsed.at(list);
    records.reserve(all.size());
    for (const json& record : all) records.push_back(read(record));
  } catch (const json::exception& error) {
    throw DataError("slurm: its programs must say JSON with the list '{}': {}", list, error.what());
  }
  return records;
}

std::string Text(const json& record, const char* field) {
  const auto found = record.find(field);
  if (found == record.end() || !found->is_string()) return "";
  return ShowForeignBytes(found->get_ref<const std::string&>());
}

// A list of names, or a text with commas.
std::vector<std::string> Names(const json& record, const char* field) {
  std::vector<std::string> names;
  const auto found = record.find(field);
  if (found != record.end() && found->is_array()) {
    for (const json& name : *found) {
      if (name.is_string()) names.push_back(name.get<std::string>());
    }
    return names;
  }
  const std::string text = Text(record, field);
  for (const std::string_view name : Split(text, ',')) {
    if (!name.empty()) names.emplace_back(name);
  }
  return names;
}

// A list of words, or one word; in capitals.
std::vector<std::string> Words(const json& record, const char* field) {
  std::vector<std::string> words;
  const auto found = record.find(field);
  if (found == record.end()) return words;
  const auto add = [&](const json& word) {
    if (!word.is_string()) return;
    words.push_back(word.get<std::string>());
    for (char& letter : words.back()) letter = static_cast<char>(std::toupper(letter));
  };
  if (!found->is_array()) {
    add(*found);
  } else {
    for (const json& word : *found) add(word);
  }
  return words;
}

bool Has(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Newer releases have new ways to ask for nodes: whatever is not the one word for sharing is one.
bool WantsNodes(const std::vector<std::string>& shared) {
  return std::any_of(shared.begin(), shared.end(), [](const std::string& word) {
    return word != "SHARED" && word != "OVERSUBSCRIBE";
  });
}

// nullopt: not set. kEndless: no limit.
std::optional<std::uint64_t> Number(const json& value) {
  if (value.is_number()) return value.get<std::uint64_t>();
  if (!value.is_object()) return std::nullopt;
  if (value.value("infinite", false)) return kEndless;
  if (!value.value("set", false)) return std::nullopt;
  return value.value("number", std::uint64_t{0});
}

std::optional<std::uint64_t> Number(const json& record, const char* field) {
  const auto found = record.find(field);
  return found == record.end() ? std::nullopt : Number(*found);
}

template <typename To>
To NumberOr(const json& record, const char* field, To otherwise) {
  const auto number = Number(record, field);
  return number ? static_cast<To>(*number) : otherwise;
}

std::uint32_t Needed(const json& record, const char* field) {
  const auto number = Number(record, field);
  if (!number || *number >= kNoTimeLimit) {
    throw DataError("slurm: '{}' of a job must be a number in JSON, it is not: {}", field,
                    record.value(field, json()).dump());
  }
  return static_cast<std::uint32_t>(*number);
}

struct StateWord {
  const char* word;
  SlurmState state;
};

constexpr StateWord kStates[] = {
    {"PENDING", SlurmState::kPending},     {"RUNNING", SlurmState::kRunning},
    {"SUSPENDED", SlurmState::kRunning},   {"COMPLETED", SlurmState::kCompleted},
    {"CANCELLED", SlurmState::kCancelled}, {"FAILED", SlurmState::kFailed},
    {"TIMEOUT", SlurmState::kFailed},      {"NODE_FAIL", SlurmState::kFailed},
    {"PREEMPTED", SlurmState::kFailed},    {"BOOT_FAIL", SlurmState::kFailed},
    {"DEADLINE", SlurmState::kFailed},     {"OUT_OF_MEMORY", SlurmState::kFailed}};

// 22.05 says one word: that a job is completing, then, and not from which state. Until it is over
// such a job counts as one that runs, and as one that waits where it will run again.
void ReadState(const json& record, SlurmJob* job) {
  const std::vector<std::string> words = Words(record, "job_state");
  if (words.empty()) throw DataError("slurm: 'job_state' of job {} must be a word", job->id);
  const auto* known = std::find_if(std::begin(kStates), std::end(kStates),
                                   [&](const StateWord& one) { return Has(words, one.word); });
  const bool again = Has(words, "REQUEUED") || Has(words, "REQUEUE_HOLD") ||
                     Has(words, "REQUEUE_FED") || Has(words, "SPECIAL_EXIT");
  if (known != std::end(kStates)) {
    job->state = known->state;
    job->reason = known->word;
  } else {
    job->state = again || Has(words, "RESV_DEL_HOLD") ? SlurmState::kPending : SlurmState::kRunning;
    job->reason = words.front();
  }
  job->completing = Has(words, "COMPLETING") || Has(words, "REQUEUED");
  job->ended = job->state != SlurmState::kPending && job->state != SlurmState::kRunning && !again;
}

// 22.05: as wait() says it. Later: {return_code, signal: {id}}.
std::string ExitText(const json& record) {
  const auto found = record.find("exit_code");
  std::uint64_t code = 0;
  std::uint64_t signal = 0;
  if (found != record.end() && found->contains("return_code")) {
    code = Number((*found)["return_code"]).value_or(0);
    const json& of_signal = found->value("signal", json::object());
    signal = NumberOr<std::uint64_t>(of_signal, of_signal.contains("id") ? "id" : "signal_id", 0);
  } else if (found != record.end()) {
    const std::uint64_t status = Number(*found).value_or(0);
    code = status >> 8;
    signal = status & 0x7f;
  }
  return fmt::format(", exit code {}, signal {}", code, signal);
}

// What the job holds, by node; "" where that is no GRES, but the whole node.
std::map<std::string, std::string> GresByNode(const json& record, const SlurmJob& job) {
  std::map<std::string, std::string> gres;
  const std::vector<std::string> hosts = ExpandHosts(job.nodes);
  if (Has(Words(record, "shared"), "NONE")) {
    for (const std::string& host : hosts) gres.emplace(host, "");
  }
  const auto found = record.find("gres_detail");
  if (found == record.end() || !found->is_array()) return gres;
  for (std::size_t n = 0; n < std::min(hosts.size(), found->size()); ++n) {
    if ((*found)[n].is_string()) gres[hosts[n]] = (*found)[n].get<std::string>();
  }
  return gres;
}

// Other reasons are limits of the user, the account or the partition.
bool IsOfNodes(const std::string& reason) {
  return reason == "Resources" || reason == "Priority" || reason == "ReqNodeNotAvail" ||
         reason == "Reservation";
}

void ReadWaiting(const json& record, SlurmJob* job) {
  const std::string reason = Text(record, "state_reason");
  const std::string dependency = Text(record, "dependency");
  if (reason == "BeginTime") {
    job->waits = "its begin time is to come";
  } else if (!dependency.empty()) {
    job->waits = fmt::format("it depends on {}", dependency);
  }
  if (job->state != SlurmState::kPending) return;
  job->held = Number(record, "priority") == 0U;
  job->elsewhere = IsOfNodes(reason);
  job->pending = reason.empty() || reason == "None" ? kNoWord : reason;
}

SlurmJob ReadJob(const json& record) {
  SlurmJob job;
  job.id = Needed(record, "job_id");
  job.user_id = Needed(record, "user_id");
  job.group_id = Needed(record, "group_id");
  job.user = Text(record, "user_name");
  if (job.user.empty()) job.user = std::to_string(job.user_id);
  job.name = Text(record, "name");
  job.partition = Text(record, "partition");
  job.comment = Text(record, "comment");
  job.admin_comment = Text(record, "admin_comment");
  job.gpus = Text(record, "tres_per_node");
  for (const char* other : {"tres_per_job", "tres_per_task", "tres_per_socket"}) {
    const std::string asked = Text(record, other);
    // Newer releases write CPUs a task there, too.
    if (job.other_gpus.empty() && asked.find("gres") != std::string::npos) job.other_gpus = asked;
  }
  job.nodes = Text(record, "nodes");
  job.exclusive = WantsNodes(Words(record, "shared"));
  if (!job.nodes.empty()) job.gpus_on = GresByNode(record, job);
  job.work_dir = Text(record, "current_working_directory");
  job.account = Text(record, "account");
  job.qos = Text(record, "qos");
  ReadState(record, &job);
  job.array = NumberOr<std::uint32_t>(record, "array_job_id", 0);
  job.task = NumberOr<std::int64_t>(record, "array_task_id", -1);
  job.tasks = Text(record, "array_task_string");
  // A record that stands for one task is this task.
  if (const auto lone = ParseInteger(job.tasks.substr(0, job.tasks.find('%')))) {
    job.task = *lone;
    job.tasks.clear();
  }
  job.at_most = NumberOr<std::uint32_t>(record, "array_max_tasks", 0);
  job.in_reservation = !Text(record, "resv_name").empty();
  job.part = NumberOr<std::uint32_t>(record, "het_job_id", 0) != 0;
  if (job.state == SlurmState::kFailed) job.reason += ExitText(record);
  ReadWaiting(record, &job);
  job.submit = NumberOr<std::time_t>(record, "submit_time", 0);
  job.deadline = NumberOr<std::time_t>(record, "deadline", 0);
  job.time_limit = NumberOr<std::uint32_t>(record, "time_limit", kNoTimeLimit);
  job.nodes_asked = std::max(1U, NumberOr<std::uint32_t>(record, "node_count", 1));
  job.constraint = Text(record, "features");
  job.excluded_nodes = ExpandHosts(Text(record, "excluded_nodes"));
  job.cpus = std::max(1U, NumberOr<std::uint32_t>(record, "cpus", 1));
  job.cpus_per_node = std::max(1U, NumberOr<std::uint32_t>(record, "minimum_cpus_per_node", 1));
  job.priority = NumberOr<std::uint32_t>(record, "priority", 0);
  // 22.05 does not say it, but what it is for a job of one task a node.
  job.cpus_per_task = NumberOr<std::uint16_t>(record, "cpus_per_task",
                                              static_cast<std::uint16_t>(job.cpus_per_node));
  const auto per_cpu = Number(record, "memory_per_cpu");
  job.memory =
      per_cpu ? kMemoryPerCpu | *per_cpu : NumberOr<std::uint64_t>(record, "memory_per_node", 0);
  const auto requeue = record.find("requeue");
  job.requeue = requeue == record.end() || !requeue->is_boolean() || requeue->get<bool>();
  const auto nice = record.find("nice");
  job.nice = nice != record.end() && nice->is_number() ? nice->get<double>() : 0;
  return job;
}

SlurmNode ReadNode(const json& record) {
  SlurmNode node;
  node.name = Text(record, "name");
  if (node.name.empty()) throw DataError("slurm: a node must have a name in JSON, one has none");
  node.gres = Text(record, "gres");
  node.partitions = Names(record, "partitions");
  node.features = Names(record, "active_features");
  node.cpus = NumberOr<int>(record, "cpus", 0);
  node.cpus_in_use = NumberOr<int>(record, "alloc_cpus", 0);
  node.memory_mib = NumberOr<std::uint64_t>(record, "real_memory", 0);
  std::vector<std::string> words = Words(record, "state");
  for (std::string& flag : Words(record, "state_flags")) words.push_back(std::move(flag));
  // One that does not respond keeps what it runs: it is lost when Slurm says DOWN, after
  // SlurmdTimeout. A controller that was restarted knows nodes again within seconds.
  constexpr const char* kUnfit[] = {"DRAIN",         "FAIL",          "MAINTENANCE", "POWERED_DOWN",
                                    "POWERING_DOWN", "REBOOT_ISSUED", "INVALID_REG"};
  const bool fit = std::none_of(std::begin(kUnfit), std::end(kUnfit),
                                [&](const char* flag) { return Has(words, flag); });
  node.up = fit && (Has(words, "IDLE") || Has(words, "ALLOCATED") || Has(words, "MIXED"));
  node.unknown = fit && Has(words, "UNKNOWN");
  return node;
}

}  // namespace

std::vector<SlurmJob> ReadJobsJson(std::string_view text) {
  return ReadRecords<SlurmJob>(text, "jobs", ReadJob);
}

std::vector<SlurmNode> ReadNodesJson(std::string_view text) {
  return ReadRecords<SlurmNode>(text, "nodes", ReadNode);
}

}  // namespace allot
