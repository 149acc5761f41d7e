#include "clients/slurm/slurm_text.h"

#include <algorithm>
#include <map>
#include <set>

#include "clients/slurm/resources.h"
#include "clients/slurm/value_text.h"
#include "core/strings.h"

namespace allot {
namespace {

// "Key=value Key=value": the first of each.
std::map<std::string_view, std::string_view> WordPairs(std::string_view line) {
  std::map<std::string_view, std::string_view> pairs;
  for (const std::string_view word : Split(line, ' ')) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) continue;
    pairs.emplace(word.substr(0, equals), word.substr(equals + 1));
  }
  return pairs;
}

// "vm(127.0.0.1)" -> "127.0.0.1"; "vm" -> "vm"
std::string_view InBrackets(std::string_view text) {
  const std::size_t open = text.find('(');
  if (open == std::string_view::npos) return text;
  return text.substr(open + 1, text.find(')', open) - open - 1);
}

// "vision(3)" -> "vision"
std::string BeforeBracket(std::string_view text) {
  return std::string(text.substr(0, text.find('(')));
}

// "DefMemPerNode=UNLIMITED", "JobDefaults=DefMemPerGPU=100", of the configuration or a partition.
bool HasDefaultMemory(std::map<std::string_view, std::string_view>& values) {
  const auto named = [&](std::string_view key) {
    const std::string_view value = values[key];
    return !value.empty() && value != "UNLIMITED" && value != "0";
  };
  return named("DefMemPerNode") || named("DefMemPerCPU") ||
         values["JobDefaults"].find("DefMemPerGPU=") != std::string_view::npos;
}

std::string Set(std::string_view value) { return value == "(null)" ? "" : std::string(value); }

}  // namespace

void ReadConfigText(std::string_view text, SlurmSettings* settings) {
  std::map<std::string_view, std::string_view> values;
  for (const std::string_view line : Split(text, '\n')) {
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    values.emplace(Trim(line.substr(0, equals)), Trim(line.substr(equals + 1)));
  }
  settings->version = values["SLURM_VERSION"];
  settings->address = InBrackets(values["SlurmctldHost[0]"]);
  const std::string_view user = values["SlurmUser"];  // "slurm(64030)"
  settings->user = user.substr(0, user.find('('));
  settings->user_id = static_cast<std::uint32_t>(ParseInteger(InBrackets(user)).value_or(0));
  settings->scheduler = Set(values["SchedulerType"]);
  settings->scheduler_parameters = Set(values["SchedulerParameters"]);
  settings->select = Set(values["SelectType"]);
  settings->job_submit = Set(values["JobSubmitPlugins"]);
  settings->accounting = Set(values["AccountingStorageType"]);
  settings->state_folder = Set(values["StateSaveLocation"]);
  settings->priority = Set(values["PriorityType"]);
  for (const char* weight :
       {"PriorityWeightAge", "PriorityWeightAssoc", "PriorityWeightFairShare",
        "PriorityWeightJobSize", "PriorityWeightPartition", "PriorityWeightQOS"}) {
    settings->priority_weights +=
        static_cast<std::uint64_t>(std::max(0LL, ParseInteger(values[weight]).value_or(0)));
  }
  settings->requeue = values["JobRequeue"] != "0";
  settings->appends_output = values["JobFileAppend"] != "0";
  const std::string_view kill_wait = values["KillWait"];  // "30 sec"
  settings->kill_wait =
      static_cast<Seconds>(ParseInteger(kill_wait.substr(0, kill_wait.find(' '))).value_or(30));
  const bool counted =
      values["SelectTypeParameters"].find("MEMORY") != std::string_view::npos;  // "CR_CORE_MEMORY"
  settings->memory = !counted                   ? SlurmMemory::kNotCounted
                     : HasDefaultMemory(values) ? SlurmMemory::kByDefault
                                                : SlurmMemory::kWholeByNone;
  settings->enforces_limits =
      values["AccountingStorageEnforce"].find("limits") != std::string_view::npos;
}

std::vector<SlurmPartition> ReadPartitionsText(std::string_view text, SlurmMemory memory) {
  std::vector<SlurmPartition> partitions;
  for (const std::string_view line : Split(text, '\n')) {
    auto pairs = WordPairs(line);
    if (!pairs.contains("PartitionName")) continue;
    const std::string_view state = pairs["State"];
    const bool of_its_own = memory != SlurmMemory::kNotCounted && HasDefaultMemory(pairs);
    partitions.push_back({std::string(pairs["PartitionName"]), state == "UP" || state == "DRAIN",
                          of_its_own ? SlurmMemory::kByDefault : memory});
  }
  return partitions;
}

std::vector<SlurmReservation> ReadReservationsText(std::string_view text) {
  std::vector<SlurmReservation> reservations;
  for (const std::string_view line : Split(text, '\n')) {
    auto pairs = WordPairs(line);
    if (!pairs.contains("ReservationName")) continue;
    const std::string_view nodes = pairs["Nodes"];
    const std::string_view all = pairs["TRES"];
    reservations.push_back(
        {.begin = ParseInteger(pairs["StartTime"]).value_or(0),
         .end = ParseInteger(pairs["EndTime"]).value_or(0),
         .nodes = nodes == "(null)" ? std::vector<std::string>() : ExpandHosts(nodes),
         .cpus = static_cast<int>(TresCpus(all)),
         .gpus = GpusOfTres(all)});
  }
  return reservations;
}

SlurmLimits ReadLimitsText(std::string_view text) {
  SlurmLimits limits;
  for (const std::string_view line : Split(text, '\n')) {
    auto pairs = WordPairs(line);
    if (pairs.contains("QOS")) {
      limits.qos.push_back({.name = BeforeBracket(pairs["QOS"]),
                            .together = GpuLimitIn(pairs["GrpTRES"]),
                            .a_user = GpuLimitIn(pairs["MaxTRESPU"]),
                            .an_account = GpuLimitIn(pairs["MaxTRESPA"]),
                            .a_job = GpuLimitIn(pairs["MaxTRESPJ"])});
    } else if (pairs.contains("Account")) {
      limits.associations.push_back({.account = std::string(pairs["Account"]),
                                     .user = BeforeBracket(pairs["UserName"]),
                                     .partition = std::string(pairs["Partition"]),
                                     .parent = BeforeBracket(pairs["ParentAccount"]),
                                     .together = GpuLimitIn(pairs["GrpTRES"]),
                                     .a_job = GpuLimitIn(pairs["MaxTRESPJ"])});
    }
  }
  return limits;
}

void MarkExclusive(std::string_view text, std::vector<SlurmJob>* jobs) {
  std::set<std::string_view> exclusive;
  for (const std::string_view line : Split(text, '\n')) {
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) continue;
    const std::string_view of = Trim(line.substr(space));
    if (of.empty() || of == "NO") continue;
    exclusive.insert(line.substr(0, space));
  }
  for (SlurmJob& job : *jobs) {
    job.exclusive = job.exclusive || exclusive.contains(std::to_string(job.id));
  }
}

}  // namespace allot
