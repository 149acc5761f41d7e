#include "clients/slurm/slurm_conf.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <map>
#include <utility>

#include "clients/slurm/resources.h"
#include "clients/slurm/value_text.h"
#include "core/error.h"
#include "core/file.h"
#include "core/strings.h"

namespace allot {
namespace {

constexpr int kMostIncluded = 16;  // files in files

struct Line {
  std::string text;  // without comments, lines that go on joined
  std::string place;
};

// Without what follows a '#' that no backslash stands before.
std::string_view WithoutComment(std::string_view line) {
  for (std::size_t at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1)) {
    if (at == 0 || line[at - 1] != '\\') return line.substr(0, at);
  }
  return line;
}

// The path behind "Include "; "" for any other line.
std::string_view Included(std::string_view line) {
  constexpr std::string_view kWord = "include";
  if (line.size() <= kWord.size() || ToLower(line.substr(0, kWord.size())) != kWord) return "";
  if (std::isspace(static_cast<unsigned char>(line[kWord.size()])) == 0) return "";
  return Trim(line.substr(kWord.size()));
}

// All lines of the file and of those that it includes, in order.
void ReadLines(const std::string& path, const ReadText& read, int depth, std::vector<Line>* lines) {
  const std::string text = read(path);
  int number = 0;
  std::string joined;
  int begins = 0;
  for (const std::string_view raw : Split(text, '\n')) {
    ++number;
    std::string_view line = Trim(WithoutComment(raw));
    if (joined.empty()) begins = number;
    const bool goes_on = line.ends_with('\\');
    if (goes_on) line.remove_suffix(1);
    joined += line;
    if (goes_on) continue;
    const std::string whole = std::exchange(joined, "");
    const std::string place = fmt::format("{}:{}", path, begins);
    const std::string_view included = Included(whole);
    if (included.empty()) {
      if (!whole.empty()) lines->push_back({whole, place});
      continue;
    }
    if (depth == kMostIncluded) {
      throw DataError("slurm.conf: files may include others {} deep, got more ({})", kMostIncluded,
                      place);
    }
    const std::filesystem::path file =
        std::filesystem::path(path).parent_path() / std::string(included);
    try {
      ReadLines(file.string(), read, depth + 1, lines);
    } catch (const Error& error) {
      if (std::string_view(error.what()).find("slurm.conf: ") != std::string_view::npos) throw;
      throw DataError("slurm.conf: 'Include' must name a file that can be read: {} ({})",
                      error.what(), place);
    }
  }
}

struct Pair {
  std::string key;  // in lower case
  std::string value;
};

// "NodeName=n1 Gres=gpu:4": keys without case; a value may stand in quotes.
std::vector<Pair> PairsOf(const Line& line) {
  std::vector<Pair> pairs;
  std::string_view rest = line.text;
  while (!(rest = Trim(rest)).empty()) {
    const std::size_t equals = rest.find('=');
    const std::string_view key = Trim(rest.substr(0, equals));
    if (equals == std::string_view::npos || key.find_first_of(" \t") != std::string_view::npos) {
      throw DataError("slurm.conf: a line must be KEY=VALUE, got '{}' ({})", line.text, line.place);
    }
    rest = rest.substr(equals + 1);
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
    std::string value;
    bool quoted = false;
    std::size_t end = 0;
    for (; end < rest.size(); ++end) {
      if (rest[end] == '"') {
        quoted = !quoted;
      } else if (!quoted && std::isspace(static_cast<unsigned char>(rest[end])) != 0) {
        break;
      } else {
        value += rest[end];
      }
    }
    rest.remove_prefix(end);
    pairs.push_back({ToLower(key), std::move(value)});
  }
  return pairs;
}

// One value with its place, for refusals.
class Value {
 public:
  Value(std::string name, std::string text, std::string place)
      : name_(std::move(name)), text_(std::move(text)), place_(std::move(place)) {}

  const std::string& text() const { return text_; }
  const std::string& place() const { return place_; }

  double Number(double least, double most) const {
    const auto number = ParseNumber(text_);
    if (!number || *number < least || *number > most) {
      Fail(fmt::format("a number from {:g} to {:g}", least, most));
    }
    return *number;
  }
  int Integer(int least, int most) const {
    const auto number = ParseInteger(text_);
    if (!number || *number < least || *number > most) {
      Fail(fmt::format("a whole number from {} to {}", least, most));
    }
    return static_cast<int>(*number);
  }
  bool Flag() const {
    const std::string word = ToLower(text_);
    if (word == "yes" || word == "up" || word == "true" || word == "1") return true;
    if (word == "no" || word == "down" || word == "false" || word == "0") return false;
    Fail("YES or NO");
  }

  // "min", "min:sec", "hr:min:sec", "days-hr", "days-hr:min", "days-hr:min:sec"; kNever where
  // there is no limit.
  Seconds Time() const {
    const std::string word = ToLower(text_);
    if (word == "infinite" || word == "unlimited" || word == "-1") return kNever;
    std::string_view rest = word;
    double days = 0;
    const std::size_t dash = rest.find('-');
    if (dash != std::string_view::npos) {
      days = Part(rest.substr(0, dash));
      rest.remove_prefix(dash + 1);
    }
    std::array<double, 3> parts{};
    std::size_t count = 0;
    for (const std::string_view part : Split(rest, ':')) {
      if (count == parts.size()) FailTime();
      parts[count++] = Part(part);
    }
    const bool from_hours = dash != std::string_view::npos || count == 3;
    const Seconds seconds =
        from_hours ? 3600 * parts[0] + 60 * parts[1] + parts[2] : 60 * parts[0] + parts[1];
    return 86400 * days + seconds;
  }

  // "CPU=1.0,Mem=0.25G,GRES/gpu=2": weights of CPUs and GPUs. `rest`: what else there is.
  SlurmWeights Weights(std::string* rest) const {
    SlurmWeights weights;
    std::vector<std::string> others;
    for (const std::string_view part : Split(text_, ',')) {
      const std::size_t equals = part.find('=');
      std::string_view number = part.substr(equals == std::string_view::npos ? 0 : equals + 1);
      while (!number.empty() && std::isalpha(static_cast<unsigned char>(number.back())) != 0) {
        number.remove_suffix(1);  // a unit of memory
      }
      const auto weight = ParseNumber(number);
      if (equals == std::string_view::npos || !weight) Fail("weights like CPU=1.0,GRES/gpu=2.0");
      const std::string name = ToLower(Trim(part.substr(0, equals)));
      if (name == "cpu") {
        weights.cpu = *weight;
      } else if (name == "gres/gpu") {
        weights.gpu = *weight;
      } else if (*weight != 0) {
        others.emplace_back(part);
      }
    }
    *rest = Join(others, ",");
    return weights;
  }

  [[noreturn]] void Fail(const std::string& rule) const {
    throw DataError("slurm.conf: '{}' must be {}, got '{}' ({})", name_, rule, text_, place_);
  }

 private:
  [[noreturn]] void FailTime() const {
    Fail("a time like 30 (minutes), 30:00, 12:30:00, 7-0, 1-12:30:00 or INFINITE");
  }
  double Part(std::string_view text) const {
    const auto number = ParseInteger(text);
    if (!number || *number < 0 || *number > 1'000'000'000) FailTime();
    return static_cast<double>(*number);
  }

  std::string name_;
  std::string text_;
  std::string place_;
};

// Where a key of the file goes to.
class ConfReader {
 public:
  SlurmConf Read(const std::string& path, const ReadText& read) {
    std::vector<Line> lines;
    ReadLines(path, read, 0, &lines);
    for (const Line& line : lines) {
      const std::vector<Pair> pairs = PairsOf(line);
      if (pairs.front().key == "nodename") {
        AddNodes(pairs, line.place);
      } else if (pairs.front().key == "partitionname") {
        AddPartitions(pairs, line.place);
      } else {
        for (const Pair& pair : pairs) Set(pair, line.place);
      }
    }
    const bool named = std::any_of(conf_.partitions.begin(), conf_.partitions.end(),
                                   [](const auto& partition) { return partition.is_default; });
    if (!named && !conf_.partitions.empty()) conf_.partitions.front().is_default = true;
    return std::move(conf_);
  }

 private:
  using Setter = std::function<void(const Value&)>;

  void NotKept(std::string what) {
    auto& list = conf_.not_kept;
    if (std::find(list.begin(), list.end(), what) == list.end()) list.push_back(std::move(what));
  }

  void Set(const Pair& pair, const std::string& place) {
    const auto found = keys_.find(pair.key);
    if (found == keys_.end()) return;  // it does not say what is decided
    found->second.set(Value(found->second.name, pair.value, place));
  }

  // One that changes decisions and is not kept, unless it has one of these values.
  Setter Unless(std::string name, std::vector<std::string> harmless) {
    return [this, name = std::move(name), harmless = std::move(harmless)](const Value& value) {
      const std::string text = ToLower(value.text());
      if (std::find(harmless.begin(), harmless.end(), text) != harmless.end()) return;
      NotKept(fmt::format("{}={}", name, value.text()));
    };
  }

  Setter Weight(double SlurmConf::*weight) {
    return [this, weight](const Value& value) { conf_.*weight = value.Number(0, 4294967294.0); };
  }

  void SetFlags(const Value& value) {
    for (const std::string_view flag : Split(value.text(), ',')) {
      const std::string word = ToLower(Trim(flag));
      if (word == "no_fair_tree") {
        conf_.fair_tree = false;
      } else if (word == "small_relative_to_time") {
        conf_.relative_to_time = true;
      } else if (!word.empty() && word != "fair_tree" && word != "calculate_running" &&
                 word != "accrue_always") {
        NotKept(fmt::format("PriorityFlags={}", Trim(flag)));
        if (word == "depth_oblivious") conf_.fair_tree = false;
      }
    }
  }

  void SetScheduler(const Value& all) {
    for (const std::string_view part : Split(all.text(), ',')) {
      const std::size_t equals = part.find('=');
      const std::string name = ToLower(Trim(part.substr(0, equals)));
      const std::string text(equals == std::string_view::npos ? "" : Trim(part.substr(equals + 1)));
      const Value value(fmt::format("SchedulerParameters={}", name), text, all.place());
      if (name == "default_queue_depth") {
        conf_.queue_depth = value.Integer(0, 1'000'000);
      } else if (name == "sched_interval") {
        const int seconds = value.Integer(-1, 1'000'000);
        conf_.sched_interval = seconds < 0 ? kNever : std::max(1, seconds);
      } else if (name == "bf_interval") {
        const int seconds = value.Integer(-1, 10800);
        if (seconds == 0) value.Fail("-1 or from 1 to 10800 s");
        conf_.bf_interval = seconds < 0 ? kNever : seconds;
      } else if (name == "bf_window") {
        conf_.bf_window = 60.0 * value.Integer(1, 43200);
      } else if (name == "bf_resolution") {
        conf_.bf_resolution = value.Integer(1, 3600);
      } else if (name == "bf_max_job_test" || name == "max_job_bf") {
        conf_.bf_max_job_test = value.Integer(1, 1'000'000);
      } else if (name == "bf_max_job_user") {
        conf_.bf_max_job_user = value.Integer(0, 1'000'000);
      } else if (!name.empty() && name != "batch_sched_delay" && name != "sched_min_interval" &&
                 name != "bf_continue") {
        NotKept(fmt::format("SchedulerParameters={}", Trim(part)));
      }
    }
  }

  // Nodes of a DEFAULT line change those that follow.
  void AddNodes(const std::vector<Pair>& pairs, const std::string& place) {
    SlurmConfNode node = default_node_;
    for (const Pair& pair : pairs) {
      const Value value(pair.key, pair.value, place);
      if (pair.key == "gres") {
        const auto gpus = ParseGresGpus(pair.value);
        if (!gpus) value.Fail("resources, like gpu:a100:4");
        node.gpus = static_cast<GpuCount>(gpus->count);
      } else if (pair.key == "weight") {
        node.weight = value.Integer(0, 2'147'483'647);
      }
    }
    if (ToLower(pairs.front().value) == "default") {
      default_node_ = node;
      return;
    }
    for (std::string& name : Hosts(pairs.front().value, place)) {
      node.name = std::move(name);
      conf_.nodes.push_back(node);
    }
  }

  void AddPartitions(const std::vector<Pair>& pairs, const std::string& place) {
    SlurmConfPartition partition = default_partition_;
    for (std::size_t p = 1; p < pairs.size(); ++p) SetPartition(pairs[p], place, &partition);
    if (ToLower(pairs.front().value) == "default") {
      default_partition_ = partition;
      return;
    }
    partition.name = pairs.front().value;
    const auto same = [&](const auto& known) { return known.name == partition.name; };
    if (std::any_of(conf_.partitions.begin(), conf_.partitions.end(), same)) {
      throw DataError("slurm.conf: a partition must be named once, got '{}' again ({})",
                      partition.name, place);
    }
    conf_.partitions.push_back(std::move(partition));
  }

  void SetPartition(const Pair& pair, const std::string& place, SlurmConfPartition* partition) {
    const Value value(pair.key, pair.value, place);
    const std::string& key = pair.key;
    if (key == "nodes") {
      partition->nodes =
          ToLower(pair.value) == "all" ? std::vector<std::string>{} : Hosts(pair.value, place);
    } else if (key == "maxtime") {
      partition->max_time = value.Time();
    } else if (key == "defaulttime") {
      partition->default_time =
          ToLower(pair.value) == "none" ? std::nullopt : std::optional<Seconds>(value.Time());
    } else if (key == "prioritytier") {
      partition->tier = value.Integer(0, 65533);
    } else if (key == "priorityjobfactor") {
      partition->job_factor = value.Integer(0, 65533);
    } else if (key == "priority") {
      partition->tier = partition->job_factor = value.Integer(0, 65533);
    } else if (key == "qos") {
      partition->qos = pair.value;
    } else if (key == "default") {
      partition->is_default = value.Flag();
    } else if (key == "tresbillingweights") {
      std::string rest;
      partition->billing = value.Weights(&rest);
      if (!rest.empty()) NotKept("TRESBillingWeights=" + rest);
    } else if (key == "preemptmode" || key == "maxnodes" || key == "minnodes" ||
               key == "maxcpuspernode" || key == "exclusiveuser" || key == "lln" ||
               key == "oversubscribe" || key == "shared" || key == "resumetimeout" ||
               key == "allowaccounts" || key == "denyaccounts" || key == "allowgroups" ||
               key == "allowqos" || key == "denyqos" || key == "state") {
      const std::string text = ToLower(pair.value);
      const bool normal = text == "no" || text == "off" || text == "unlimited" || text == "0" ||
                          text == "all" || text == "up";
      if (!normal) NotKept(fmt::format("{}={}", pair.key, pair.value));
    }
  }

  static std::vector<std::string> Hosts(const std::string& list, const std::string& place) {
    try {
      return ExpandHosts(list);
    } catch (const Error& error) {
      throw DataError("{} ({})", error.what(), place);
    }
  }

  struct Key {
    std::string name;  // as the manual writes it
    Setter set;
  };
  std::map<std::string, Key> Keys() {
    std::map<std::string, Key> keys;
    const auto add = [&keys](const std::string& name, Setter set) {
      keys[ToLower(name)] = {name, std::move(set)};
    };
    add("PriorityType", [this](const Value& value) {
      conf_.multifactor = value.text() == "priority/multifactor";
      if (!conf_.multifactor && value.text() != "priority/basic") {
        value.Fail("priority/basic or priority/multifactor");
      }
    });
    add("AccountingStorageEnforce", [this](const Value& value) {
      const std::string words = ToLower(value.text());
      for (const std::string_view part : Split(words, ',')) {
        const std::string_view word = Trim(part);
        conf_.enforces_limits =
            conf_.enforces_limits || word == "limits" || word == "safe" || word == "all";
      }
    });
    add("SchedulerType", [this](const Value& value) {
      conf_.backfill = value.text() == "sched/backfill";
      if (!conf_.backfill && value.text() != "sched/builtin") {
        value.Fail("sched/backfill or sched/builtin");
      }
    });
    add("SchedulerParameters", [this](const Value& value) { SetScheduler(value); });
    add("PriorityWeightAge", Weight(&SlurmConf::weight_age));
    add("PriorityWeightFairShare", Weight(&SlurmConf::weight_fair_share));
    add("PriorityWeightJobSize", Weight(&SlurmConf::weight_job_size));
    add("PriorityWeightPartition", Weight(&SlurmConf::weight_partition));
    add("PriorityWeightQOS", Weight(&SlurmConf::weight_qos));
    add("PriorityWeightTRES", [this](const Value& value) {
      std::string rest;
      conf_.weight_tres = value.Weights(&rest);
      if (!rest.empty()) NotKept("PriorityWeightTRES=" + rest);
    });
    add("PriorityMaxAge", [this](const Value& value) { conf_.max_age = value.Time(); });
    add("PriorityDecayHalfLife", [this](const Value& value) {
      const Seconds half_life = value.Time();
      conf_.half_life = half_life > 0 ? half_life : kNever;
    });
    add("PriorityCalcPeriod", [this](const Value& value) {
      conf_.calc_period = value.Time();
      if (!(conf_.calc_period > 0)) value.Fail("a time above 0");
    });
    add("FairShareDampeningFactor",
        [this](const Value& value) { conf_.dampening = value.Integer(1, 65533); });
    add("PriorityFavorSmall", [this](const Value& value) { conf_.favor_small = value.Flag(); });
    add("PriorityFlags", [this](const Value& value) { SetFlags(value); });
    add("PriorityWeightAssoc", Unless("PriorityWeightAssoc", {"0"}));
    add("PriorityUsageResetPeriod", Unless("PriorityUsageResetPeriod", {"none"}));
    add("PrioritySiteFactorPlugin", Unless("PrioritySiteFactorPlugin", {"site_factor/none"}));
    add("PreemptMode", Unless("PreemptMode", {"off"}));
    add("NodeSet", Unless("NodeSet", {""}));
    add("PreemptType", Unless("PreemptType", {"preempt/none"}));
    add("Licenses", Unless("Licenses", {""}));
    add("OverTimeLimit", Unless("OverTimeLimit", {"0"}));
    add("TopologyPlugin", Unless("TopologyPlugin", {"topology/none", "topology/default"}));
    return keys;
  }

  SlurmConf conf_;
  SlurmConfNode default_node_;
  SlurmConfPartition default_partition_;
  std::map<std::string, Key> keys_ = Keys();
};

}  // namespace

SlurmConf ReadSlurmConf(const std::string& path, const ReadText& read) {
  return ConfReader().Read(path, read);
}

std::vector<std::string> FilesOfSlurmConf(const std::string& path) {
  std::vector<std::string> files;
  if (path.empty()) return files;
  std::vector<Line> lines;
  try {
    ReadLines(
        path,
        [&files](const std::string& file) {
          files.push_back(file);
          return ReadTextFile(file);
        },
        0, &lines);
  } catch (const Error&) {  // whoever reads it for decisions says what is wrong
  }
  return files;
}

std::optional<double> TresNumber(std::string_view list, std::string_view name) {
  for (const std::string_view part : Split(list, ',')) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos || ToLower(Trim(part.substr(0, equals))) != name) continue;
    return ParseNumber(Trim(part.substr(equals + 1)));
  }
  return std::nullopt;
}

}  // namespace allot
