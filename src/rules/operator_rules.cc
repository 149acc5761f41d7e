#include "rules/operator_rules.h"

#define TOML_ENABLE_FORMATTERS 0
#include <fmt/ranges.h>
#include <fnmatch.h>
#include <toml++/toml.h>

#include <algorithm>
#include <map>
#include <utility>

#include "cluster/toml_duration.h"
#include "core/duration_text.h"
#include "core/error.h"
#include "core/file.h"
#include "core/strings.h"
#include "workload/calendar.h"
#include "workload/job_rules.h"

namespace allot {
namespace {

// Of fair shares. A turn of FairShares::kTurn must be short beside it.
constexpr Seconds kShortestHalfLife = 3600;
constexpr double kLeastWeight = 1e-3;
constexpr double kMostWeight = 1e3;

constexpr double kLeastSuspect = 0.5;
constexpr double kMostSuspect = 0.999999;
const std::vector<std::string> kSuspectActions = {"tell", "avoid", "drain"};  // as SuspectAction

bool Matches(const std::string& pattern, std::string_view text) {
  return ::fnmatch(pattern.c_str(), std::string(text).c_str(), 0) == 0;
}

// One table of the file: each value by its key, checked; errors name the line.
class RulesTable {
 public:
  RulesTable(const toml::table& table, std::string file, const std::vector<std::string>& keys)
      : table_(table), file_(std::move(file)) {
    for (const auto& [key, value] : table_) {
      const std::string name(key.str());
      if (std::find(keys.begin(), keys.end(), name) != keys.end()) continue;
      throw DataError("{}:{}: unknown key '{}'{}", file_, key.source().begin.line, name,
                      DidYouMean(name, keys));
    }
  }

  bool Has(const char* key) const { return table_.contains(key); }
  // Of a key that must be there, too.
  std::string PlaceOf(const char* key) const {
    if (!Has(key))
      throw DataError("{}:{}: '{}' is missing", file_, table_.source().begin.line, key);
    return fmt::format("{}:{}: '{}'", file_, table_.get(key)->source().begin.line, key);
  }
  std::string Text(const char* key) const {
    const std::string place = PlaceOf(key);
    const auto text = table_.get(key)->value_exact<std::string>();
    if (!text || text->empty()) {
      throw DataError("{} must be text, got {}", place, ShownIn(*table_.get(key)));
    }
    return *text;
  }
  // "n1", or ["n1", "gpu-[1-4]"].
  std::vector<std::string> Texts(const char* key) const {
    const std::string place = PlaceOf(key);
    const toml::array* list = table_.get(key)->as_array();
    if (list == nullptr) return {Text(key)};
    std::vector<std::string> texts;
    for (const toml::node& item : *list) {
      const auto text = item.value_exact<std::string>();
      if (!text || text->empty()) throw DataError("{} must be text or a list of texts", place);
      texts.push_back(*text);
    }
    return texts;
  }
  // "2026-12-01 08:00:00", or a time from the begin: "14d", 3600.
  std::string When(const char* key) const {
    const std::string place = PlaceOf(key);
    const toml::node& node = *table_.get(key);
    const auto text = node.value_exact<std::string>();
    if (text && ParseCalendar(*text)) return *text;
    const auto span = DurationIn(node);
    if (span && *span >= 0) return text ? *text : fmt::format("{}", *span);
    throw DataError("{} must be \"YYYY-MM-DD HH:MM:SS\", or {} from the begin, got {}", place,
                    kDurationForms, ShownIn(node));
  }
  bool Flag(const char* key) const {
    const auto flag = table_.get(key)->value_exact<bool>();
    if (!flag) {
      throw DataError("{} must be true or false, got {}", PlaceOf(key), ShownIn(*table_.get(key)));
    }
    return *flag;
  }
  std::int64_t Whole(const char* key, std::int64_t least, std::int64_t most) const {
    const std::string place = PlaceOf(key);
    const auto whole = table_.get(key)->value_exact<std::int64_t>();
    if (!whole || *whole < least || *whole > most) {
      throw DataError("{} must be a whole number from {} to {}, got {}", place, least, most,
                      ShownIn(*table_.get(key)));
    }
    return *whole;
  }
  double Number(const char* key, double least, double most) const {
    const std::string place = PlaceOf(key);
    const auto number = table_.get(key)->value<double>();
    if (!number || !(*number >= least && *number <= most)) {
      throw DataError("{} must be a number from {} to {}, got {}", place, least, most,
                      ShownIn(*table_.get(key)));
    }
    return *number;
  }
  // One of these words: its index.
  std::size_t Word(const char* key, const std::vector<std::string>& words) const {
    const std::string text = Text(key);
    const auto found = std::find(words.begin(), words.end(), text);
    if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
    throw DataError("{} must be '{}', got '{}'{}", PlaceOf(key), fmt::join(words, "' or '"), text,
                    DidYouMean(text, words));
  }
  // 90, or "1m30s".
  Seconds Duration(const char* key, Seconds least = 0) const {
    const std::string place = PlaceOf(key);
    const toml::node& node = *table_.get(key);
    const auto seconds = DurationIn(node);
    if (!seconds || !(*seconds >= least && *seconds <= kLongestTime)) {
      throw DataError("{} must be {}, from {} to {} s, got {}", place, kDurationForms, least,
                      kLongestTime, ShownIn(node));
    }
    return *seconds;
  }
  // { vision = 2, alice = 0.5 }
  std::map<std::string, double> Weights(const char* key) const {
    const std::string place = PlaceOf(key);
    const toml::table* list = table_.get(key)->as_table();
    if (list == nullptr) {
      throw DataError("{} must be a table of names and numbers, got {}", place,
                      ShownIn(*table_.get(key)));
    }
    std::map<std::string, double> weights;
    for (const auto& [name, node] : *list) {
      const auto weight = node.value<double>();
      if (!weight || !(*weight >= kLeastWeight && *weight <= kMostWeight)) {
        throw DataError("{} of '{}' must be a number from {} to {}, got {}", place,
                        std::string(name.str()), kLeastWeight, kMostWeight, ShownIn(node));
      }
      weights[std::string(name.str())] = *weight;
    }
    return weights;
  }
  // "powers-of-two", or [1, 2, 4, 8].
  SizeRule Sizes(const char* key) const {
    const toml::array* list = table_.get(key)->as_array();
    if (list == nullptr) return SizeRule::Parse(Text(key), PlaceOf(key));
    std::vector<std::string> numbers;
    for (const toml::node& item : *list) {
      const auto number = item.value_exact<std::int64_t>();
      if (!number) throw DataError("{} must be text or a list of whole numbers", PlaceOf(key));
      numbers.push_back(fmt::format("{}", *number));
    }
    return SizeRule::Parse(Join(numbers, "|"), PlaceOf(key));
  }

 private:
  const toml::table& table_;
  std::string file_;
};

const std::vector<std::string>& JobRuleKeys() {
  static const std::vector<std::string> keys = {
      "sizes", "cooldown", "own_cooldown", "restarts_per_hour", "moves", "grace"};
  return keys;
}

std::vector<std::string> And(std::vector<std::string> keys, const std::vector<std::string>& more) {
  keys.insert(keys.end(), more.begin(), more.end());
  return keys;
}

}  // namespace

bool Maintenance::AppliesTo(const std::string& node) const {
  return std::any_of(nodes.begin(), nodes.end(),
                     [&](const std::string& pattern) { return Matches(pattern, node); });
}

JobRules OperatorRules::RulesFor(std::string_view account, std::string_view user) const {
  JobRules rules;
  for (const Part& part : parts_) {
    if (!Matches(part.account, account) || !Matches(part.user, user)) continue;
    if (part.sizes) rules.sizes = *part.sizes;
    if (part.cooldown) rules.cooldown = *part.cooldown;
    if (part.own_cooldown) rules.own_cooldown = *part.own_cooldown;
    if (part.restarts_per_hour) rules.restarts_per_hour = *part.restarts_per_hour;
    if (part.moves) rules.moves = *part.moves;
    if (part.grace) rules.grace = part.grace;
  }
  if (fair_share_) {
    rules.account_weight = fair_share_->WeightOf(account);
    rules.user_weight = fair_share_->WeightOf(user);
  }
  for (std::size_t g = 0; g < guarantees_.size(); ++g) {
    if (guarantees_[g].account == account) rules.guarantee = static_cast<std::int32_t>(g);
  }
  return rules;
}

OperatorRules OperatorRules::WithoutMaintenance() const {
  OperatorRules rules = *this;
  rules.maintenance_.clear();
  return rules;
}

void OperatorRules::CheckGuarantees(const ClusterSpec& cluster) const {
  GpuCount all = 0;
  std::map<std::string, GpuCount> of_types;
  for (const Guarantee& guarantee : guarantees_) {
    all += guarantee.gpus;
    // The guarantee with which the sum exceeds the cluster is the one to name.
    const auto refuse = [&](const std::string& values) {
      throw UsageError(
          "guarantees must not be more than the cluster has, got {} with that of account '{}'",
          values, guarantee.account);
    };
    if (all > cluster.total().gpus) refuse(fmt::format("{} GPUs of {}", all, cluster.total().gpus));
    const std::string& type = guarantee.gpu_type;
    if (type.empty()) continue;
    const GpuCount gpus = of_types[type] += guarantee.gpus;
    const auto& types = cluster.types();
    const auto known = std::find(types.begin(), types.end(), type);
    const bool lacks = known == types.end();
    const GpuCount has =
        lacks ? 0 : cluster.total_of(static_cast<GpuTypeIndex>(known - types.begin())).gpus;
    if (gpus > has) {
      refuse(fmt::format("{} GPUs '{}' of {}{}", gpus, type, has,
                         lacks ? DidYouMean(type, types) : ""));
    }
  }
}

std::vector<std::string> OperatorRules::FindMismatches(const ClusterSpec& cluster,
                                                       std::span<const std::string> nodes) const {
  std::vector<std::string> mismatches;
  try {
    CheckGuarantees(cluster);
  } catch (const Error& error) {
    mismatches.emplace_back(error.what());
  }
  for (const Maintenance& window : maintenance_) {
    const auto applies = [&](const std::string& node) { return window.AppliesTo(node); };
    if (std::any_of(nodes.begin(), nodes.end(), applies)) continue;
    mismatches.push_back(fmt::format("{}: the window must be of nodes of the cluster, got '{}'",
                                     window.place, fmt::join(window.nodes, "', '")));
  }
  return mismatches;
}

// ---- rules as operators write them: TOML (docs/rules.md) ----

class RulesReader {
 public:
  RulesReader(const std::string& text, const std::string& where) : where_(where) {
    rules_.text_ = text;
    toml::table file;
    try {
      file = toml::parse(text);
    } catch (const toml::parse_error& error) {
      throw DataError("{}:{}: must be TOML: {}", where, error.source().begin.line,
                      error.description());
    }
    // A file of options (allot serve --config) has its rules in a table.
    if (const toml::table* among_options = file["rules"].as_table()) {
      file = toml::table(*among_options);
    }
    AddPart(RulesTable(
        file, where,
        And(JobRuleKeys(), {"failures", "fair_share", "jobs", "guarantees", "maintenance"})));
    SetFairShare(file);
    SetFailures(file);
    ForEach(file, "jobs", [this](const toml::table& table) {
      AddPart(RulesTable(table, where_, And(JobRuleKeys(), {"account", "user"})));
    });
    ForEach(file, "maintenance", [this](const toml::table& table) {
      AddMaintenance(RulesTable(table, where_, {"nodes", "from", "to", "lead"}));
    });
    ForEach(file, "guarantees", [this](const toml::table& table) {
      AddGuarantee(RulesTable(table, where_, {"account", "gpus", "type"}));
    });
  }

  OperatorRules Take() { return std::move(rules_); }

 private:
  template <typename F>
  void ForEach(const toml::table& file, const char* key, const F& add) const {
    const toml::node* node = file.get(key);
    if (node == nullptr) return;
    const toml::array* list = node->as_array();
    const bool tables =
        list != nullptr && std::all_of(list->begin(), list->end(),
                                       [](const toml::node& item) { return item.is_table(); });
    if (!tables) {
      throw DataError("{}:{}: '{}' must be tables [[{}]]", where_, node->source().begin.line, key,
                      key);
    }
    for (const toml::node& item : *list) add(*item.as_table());
  }

  void SetFairShare(const toml::table& file) {
    const toml::node* node = file.get("fair_share");
    if (node == nullptr) return;
    if (node->value_exact<bool>() == false) {
      rules_.fair_share_.reset();
      return;
    }
    if (!node->is_table()) {
      throw DataError("{}:{}: 'fair_share' must be false or a table [fair_share], got {}", where_,
                      node->source().begin.line, ShownIn(*node));
    }
    const RulesTable table(*node->as_table(), where_, {"half_life", "weights"});
    FairShareRule& rule = *rules_.fair_share_;
    if (table.Has("half_life")) rule.half_life = table.Duration("half_life", kShortestHalfLife);
    if (table.Has("weights")) rule.weights = table.Weights("weights");
  }

  void SetFailures(const toml::table& file) {
    const toml::node* node = file.get("failures");
    if (node == nullptr) return;
    if (!node->is_table()) {
      throw DataError("{}:{}: 'failures' must be a table [failures], got {}", where_,
                      node->source().begin.line, ShownIn(*node));
    }
    const RulesTable table(*node->as_table(), where_, {"then", "suspect", "at_most"});
    FailureRule& rule = rules_.failures_;
    if (table.Has("then")) {
      rule.then = static_cast<SuspectAction>(table.Word("then", kSuspectActions));
    }
    if (table.Has("suspect")) rule.suspect = table.Number("suspect", kLeastSuspect, kMostSuspect);
    if (table.Has("at_most")) rule.at_most = table.Number("at_most", 0, 1);
  }

  void AddPart(const RulesTable& table) {
    OperatorRules::Part part;
    if (table.Has("account")) part.account = table.Text("account");
    if (table.Has("user")) part.user = table.Text("user");
    if (table.Has("sizes")) part.sizes = table.Sizes("sizes");
    if (table.Has("cooldown")) part.cooldown = table.Duration("cooldown");
    if (table.Has("own_cooldown")) part.own_cooldown = table.Duration("own_cooldown");
    if (table.Has("restarts_per_hour")) {
      part.restarts_per_hour = static_cast<std::int32_t>(table.Whole("restarts_per_hour", 0, 3600));
    }
    if (table.Has("grace")) part.grace = table.Duration("grace");
    if (table.Has("moves")) part.moves = table.Flag("moves");
    rules_.parts_.push_back(std::move(part));
  }

  void AddMaintenance(const RulesTable& table) {
    Maintenance window{.nodes = table.Texts("nodes"),
                       .from = table.When("from"),
                       .to = table.When("to"),
                       .lead = table.Has("lead") ? table.Duration("lead") : 0,
                       .place = table.PlaceOf("from")};
    const auto from = ParseCalendar(window.from);
    const auto to = ParseCalendar(window.to);
    if (from.has_value() != to.has_value()) {
      throw DataError(
          "{} and 'to' must both be dates or both be times from the begin, got '{}' and "
          "'{}'",
          window.place, window.from, window.to);
    }
    const bool ascend =
        from ? *from < *to : *ParseDuration(window.from) < *ParseDuration(window.to);
    if (!ascend) {
      throw DataError("{} must be before 'to', got '{}' and '{}'", window.place, window.from,
                      window.to);
    }
    rules_.maintenance_.push_back(std::move(window));
  }

  void AddGuarantee(const RulesTable& table) {
    Guarantee guarantee{.account = table.Text("account"),
                        .gpus = static_cast<GpuCount>(table.Whole("gpus", 1, kMostGpus))};
    if (table.Has("type")) guarantee.gpu_type = table.Text("type");
    for (const Guarantee& known : rules_.guarantees_) {
      if (known.account != guarantee.account) continue;
      throw DataError("{} must have one guarantee, got two of '{}'", table.PlaceOf("account"),
                      known.account);
    }
    rules_.guarantees_.push_back(std::move(guarantee));
  }

  std::string where_;
  OperatorRules rules_;
};

OperatorRules OperatorRules::Parse(const std::string& text, const std::string& where) {
  return RulesReader(text, where).Take();
}

OperatorRules OperatorRules::FromFile(const std::string& path) {
  return Parse(ReadTextFile(path), path);
}

}  // namespace allot
