#include "live/slurm/slurm_text.h"

#include <map>
#include <set>

#include "core/error.h"
#include "core/strings.h"
#include "live/slurm/slurm_words.h"

namespace allot {
namespace {

constexpr std::size_t kMostHosts = 1 << 20;

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

// "cpu=N(0),gres/gpu=4(2)", of which 2 are in use, -> 4; -1 where GPUs have no limit.
int LimitIn(std::string_view tres) {
  constexpr std::string_view kGpus = "gres/gpu=";
  for (const std::string_view one : Split(tres, ',')) {
    if (!one.starts_with(kGpus)) continue;
    const std::string_view number = one.substr(kGpus.size());
    const auto limit = ParseInteger(number.substr(0, number.find_first_not_of("0123456789")));
    return limit ? LimitOf(static_cast<std::uint64_t>(*limit)) : -1;
  }
  return -1;
}

std::string Set(std::string_view value) { return value == "(null)" ? "" : std::string(value); }

// What stands in brackets, "1-2,08-10", as its numbers with their zeros.
std::vector<std::string> Numbers(std::string_view ranges) {
  std::vector<std::string> numbers;
  for (const std::string_view range : Split(ranges, ',')) {
    const std::size_t dash = range.find('-');
    const std::string_view first = range.substr(0, dash);
    const std::string_view last = dash == std::string_view::npos ? first : range.substr(dash + 1);
    const auto from = ParseInteger(first);
    const auto to = ParseInteger(last);
    if (!from || !to || *from < 0 || *to < *from ||
        static_cast<std::size_t>(*to - *from) >= kMostHosts) {
      throw DataError("slurm: a range of hosts must be two numbers that rise, got '{}'", range);
    }
    for (long long n = *from; n <= *to; ++n) {
      numbers.push_back(fmt::format("{:0{}}", n, first.size()));
    }
  }
  return numbers;
}

// One item of a list: "n[1-2]x[3]".
std::vector<std::string> ExpandItem(std::string_view item) {
  std::vector<std::string> hosts = {""};
  while (!item.empty()) {
    const std::size_t open = item.find('[');
    for (std::string& host : hosts) host += item.substr(0, open);
    if (open == std::string_view::npos) break;
    const std::size_t close = item.find(']', open);
    if (close == std::string_view::npos) {
      throw DataError("slurm: brackets in a list of hosts must be closed, got '{}'", item);
    }
    const std::vector<std::string> numbers = Numbers(item.substr(open + 1, close - open - 1));
    if (hosts.size() * numbers.size() > kMostHosts) {
      throw DataError("slurm: a list must name at most {} hosts, '{}' names more", kMostHosts,
                      item);
    }
    std::vector<std::string> longer;
    longer.reserve(hosts.size() * numbers.size());
    for (const std::string& host : hosts) {
      for (const std::string& number : numbers) longer.push_back(host + number);
    }
    hosts = std::move(longer);
    item.remove_prefix(close + 1);
  }
  return hosts;
}

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
  settings->requeue = values["JobRequeue"] != "0";
  settings->enforces_limits =
      values["AccountingStorageEnforce"].find("limits") != std::string_view::npos;
}

std::vector<SlurmPartition> ReadPartitionsText(std::string_view text) {
  std::vector<SlurmPartition> partitions;
  for (const std::string_view line : Split(text, '\n')) {
    auto pairs = WordPairs(line);
    if (!pairs.contains("PartitionName")) continue;
    const std::string_view state = pairs["State"];
    partitions.push_back({std::string(pairs["PartitionName"]), state == "UP" || state == "DRAIN"});
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
         .cpus = TresCount(all, "cpu"),
         .gpus = TresCount(all, "gres/gpu")});
  }
  return reservations;
}

SlurmLimits ReadLimitsText(std::string_view text) {
  SlurmLimits limits;
  for (const std::string_view line : Split(text, '\n')) {
    auto pairs = WordPairs(line);
    if (pairs.contains("QOS")) {
      limits.qos.push_back({.name = BeforeBracket(pairs["QOS"]),
                            .together = LimitIn(pairs["GrpTRES"]),
                            .a_user = LimitIn(pairs["MaxTRESPU"]),
                            .an_account = LimitIn(pairs["MaxTRESPA"]),
                            .a_job = LimitIn(pairs["MaxTRESPJ"])});
    } else if (pairs.contains("Account")) {
      limits.associations.push_back({.account = std::string(pairs["Account"]),
                                     .user = BeforeBracket(pairs["UserName"]),
                                     .partition = std::string(pairs["Partition"]),
                                     .parent = BeforeBracket(pairs["ParentAccount"]),
                                     .together = LimitIn(pairs["GrpTRES"]),
                                     .a_job = LimitIn(pairs["MaxTRESPJ"])});
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

std::vector<std::string> ExpandHosts(std::string_view list) {
  std::vector<std::string> hosts;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    if (i < list.size() && list[i] == '[') ++depth;
    if (i < list.size() && list[i] == ']') --depth;
    if (i < list.size() && (list[i] != ',' || depth > 0)) continue;
    for (std::string& host : ExpandItem(list.substr(begin, i - begin))) {
      if (!host.empty()) hosts.push_back(std::move(host));
    }
    begin = i + 1;
  }
  return hosts;
}

}  // namespace allot
