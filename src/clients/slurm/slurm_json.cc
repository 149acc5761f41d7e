#include "clients/slurm/slurm_json.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "clients/slurm/foreign_bytes.h"
#include "clients/slurm/job_facts.h"
#include "clients/slurm/resources.h"
#include "clients/slurm/value_text.h"
#include "core/error.h"
#include "core/strings.h"

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
                                                            "alloc_memory",
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
                                                            "start_time",
                                                            "state",
                                                            "state_flags",
                                                            "state_reason",
                                                            "submit_time",
                                                            "time_limit",
                                                            "tres_alloc_str",
                                                            "tres_per_job",
                                                            "tres_per_node",
                                                            "tres_per_socket",
                                                            "tres_per_task",
                                                            "tres_req_str",
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

// 22.05: as wait() says it. Later: {return_code, signal: {id}}.
void ReadExit(const json& record, SlurmJobFacts* facts) {
  const auto found = record.find("exit_code");
  if (found != record.end() && found->contains("return_code")) {
    facts->exit_code = Number((*found)["return_code"]).value_or(0);
    const json& signal = found->value("signal", json::object());
    facts->exit_signal =
        NumberOr<std::uint64_t>(signal, signal.contains("id") ? "id" : "signal_id", 0);
  } else if (found != record.end()) {
    const std::uint64_t status = Number(*found).value_or(0);
    facts->exit_code = status >> 8;
    facts->exit_signal = status & 0x7f;
  }
}

// What it has been given, node by node.
void ReadGiven(const json& record, const SlurmJob& job, SlurmJobFacts* facts) {
  if (job.nodes.empty()) return;
  facts->hosts = ExpandHosts(job.nodes);
  facts->whole_nodes = Has(Words(record, "shared"), "NONE");
  const auto found = record.find("gres_detail");
  if (found == record.end() || !found->is_array()) return;
  for (const json& one : *found) {
    if (!one.is_string()) break;
    facts->gres.push_back(one.get<std::string>());
  }
}

void ReadFactsOf(const json& record, SlurmJob* job) {
  SlurmJobFacts facts;
  const std::vector<std::string> states = Words(record, "job_state");
  if (states.empty()) throw DataError("slurm: 'job_state' of job {} must be a word", job->id);
  for (const std::string& word : states) {
    if (const auto state = ParseSlurmJobState(word)) facts.states.Add(*state);
  }
  const std::string reason = Text(record, "state_reason");
  const std::string dependency = Text(record, "dependency");
  const std::string tasks = Text(record, "array_task_string");
  const std::string a_job = Text(record, "tres_per_job");
  const std::string a_task = Text(record, "tres_per_task");
  const std::string a_socket = Text(record, "tres_per_socket");
  facts.reason = reason;
  facts.dependency = dependency;
  facts.priority = Number(record, "priority");
  facts.tasks = tasks;
  facts.asked_otherwise = {a_job, a_task, a_socket};
  ReadExit(record, &facts);
  ReadGiven(record, *job, &facts);
  ReadJobFacts(facts, job);
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
  job.tres = Text(record, "tres_req_str");
  job.nodes = Text(record, "nodes");
  job.exclusive = WantsNodes(Words(record, "shared"));
  job.work_dir = Text(record, "current_working_directory");
  job.account = Text(record, "account");
  job.qos = Text(record, "qos");
  job.array = NumberOr<std::uint32_t>(record, "array_job_id", 0);
  job.task = NumberOr<std::int64_t>(record, "array_task_id", -1);
  job.at_most = NumberOr<std::uint32_t>(record, "array_max_tasks", 0);
  job.in_reservation = !Text(record, "resv_name").empty();
  job.part = NumberOr<std::uint32_t>(record, "het_job_id", 0) != 0;
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
  job.memory_held = TresMemory(Text(record, "tres_alloc_str"));
  const auto requeue = record.find("requeue");
  job.requeue = requeue == record.end() || !requeue->is_boolean() || requeue->get<bool>();
  const auto nice = record.find("nice");
  job.nice = nice != record.end() && nice->is_number() ? nice->get<double>() : 0;
  ReadFactsOf(record, &job);
  // Of a job that waits Slurm says when it may begin, and says something else all the time.
  if (job.state == SlurmState::kRunning) {
    job.start = NumberOr<std::time_t>(record, "start_time", 0);
  }
  return job;
}

// sinfo of later releases prints sums over nodes that are alike: {"maximum": 64, "total": 128}.
const json& OfOneNode(const json& record, const char* field) {
  static const json none;
  const auto found = record.find(field);
  if (found == record.end()) return none;
  for (const char* inner : {"maximum", "total"}) {
    if (found->is_object() && found->contains(inner)) return (*found)[inner];
  }
  return *found;
}

std::int64_t CountOf(const json& record, const char* field) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 53U;
  const json& value = OfOneNode(record, field);
  if (value.is_number() && !value.is_number_unsigned()) return 0;
  return static_cast<std::int64_t>(std::min(Number(value).value_or(0), kMost));
}

int SmallCountOf(const json& record, const char* field) {
  return static_cast<int>(std::min<std::int64_t>(CountOf(record, field), 1 << 30));
}

// "IDLE+DRAIN"
std::string StateText(const json& record) {
  std::vector<std::string> words;
  for (const char* field : {"state", "state_flags"}) {
    for (std::string& word : Words(record, field)) words.push_back(std::move(word));
  }
  return Join(words, "+");
}

SlurmNode ReadNode(const json& record) {
  SlurmNode node = ReadNodeJson(record);
  if (node.name.empty()) throw DataError("slurm: a node must have a name in JSON, one has none");
  return node;
}

}  // namespace

SlurmNode ReadNodeJson(const json& record) {
  SlurmNode node;
  node.name = Text(record, "name");
  const json& gres = OfOneNode(record, "gres");
  if (gres.is_string()) node.gres = ShowForeignBytes(gres.get_ref<const std::string&>());
  node.partitions = Names(record, "partitions");
  node.features = Names(record, "active_features");
  node.cpus = SmallCountOf(record, "cpus");
  node.cpus_in_use = SmallCountOf(record, "alloc_cpus");
  node.memory_mib = static_cast<std::uint64_t>(
      CountOf(record, record.contains("real_memory") ? "real_memory" : "memory"));
  node.memory_in_use = static_cast<std::uint64_t>(CountOf(record, "alloc_memory"));
  const auto stated = record.find("node");
  node.state_text = StateText(stated != record.end() && stated->is_object() ? *stated : record);
  node.state.AddText(node.state_text);
  return node;
}

std::vector<SlurmJob> ReadJobsJson(std::string_view text) {
  return ReadRecords<SlurmJob>(text, "jobs", ReadJob);
}

std::vector<SlurmNode> ReadNodesJson(std::string_view text) {
  return ReadRecords<SlurmNode>(text, "nodes", ReadNode);
}

}  // namespace allot
