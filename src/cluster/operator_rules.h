#pragma once
// What the operator of a cluster says of its jobs, whatever the policy (docs/rules.md). Read once
// from a TOML file (--rules); simulated and live clusters keep the same rules, so policies train
// under those that they will serve under. A value; nothing here acts.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/cluster_spec.h"
#include "core/types.h"
#include "perf/size_rule.h"

namespace allot {

// Those that hold for one job.
struct JobRules {
  SizeRule sizes{};            // numbers of GPUs that it may be given
  Seconds cooldown = 0;        // it keeps what it was given for so long
  Seconds own_cooldown = 300;  // at most so much may its user ask for
  // Changes of what it holds within an hour, launches after the first included; -1: any number.
  std::int32_t restarts_per_hour = -1;
  bool moves = true;               // false: it keeps what it was given until it ends
  std::optional<Seconds> grace{};  // live: from the notice to stop until it is ended by force
  std::int32_t guarantee = -1;     // of its account: index of OperatorRules::guarantees(); -1: none

  // Whether one of them may hold it as it is (cluster/change_history.h).
  bool hold_jobs() const { return cooldown > 0 || restarts_per_hour >= 0 || !moves; }
};

// GPUs that the jobs of an account get whenever they ask for them (cluster/guaranteed_shares.h).
struct Guarantee {
  std::string account;
  GpuCount gpus = 0;
  std::string gpu_type{};  // "": of any
};

// Nodes that are needed for something else for a while. Times are as in the file: of the calendar,
// or of a workload also from its begin.
struct Maintenance {
  std::vector<std::string> nodes;  // patterns of names; in simulations of numbers, from 0
  std::string from;                // they are as drained from then ...
  std::string to;                  // ... to then
  Seconds lead = 0;                // so long before, nothing more begins there
  std::string place{};             // in the file, for messages

  bool IsOf(const std::string& node) const;
};

class OperatorRules {
 public:
  OperatorRules() = default;  // none

  // DataError naming file, line, key and value: what is no TOML, an unknown key (with the nearest
  // known one), a value that is none.
  static OperatorRules FromFile(const std::string& path);
  static OperatorRules Parse(const std::string& text, const std::string& where);

  // Of a job of this account and user; "": not known, which only "*" is about. What several parts
  // of the file say is taken from the last of them, key by key.
  JobRules Of(std::string_view account, std::string_view user) const;

  const std::vector<Guarantee>& guarantees() const { return guarantees_; }
  // UsageError where guarantees are more than a cluster has, naming both.
  void CheckGuarantees(const ClusterSpec& cluster) const;

  const std::vector<Maintenance>& maintenance() const { return maintenance_; }
  OperatorRules WithoutMaintenance() const;

  const std::string& text() const { return text_; }  // as it was read, for logs

 private:
  friend class RulesReader;  // cluster/operator_rules_file.cc

  // Of jobs whose account and user match these patterns (*, ?, [a-c] as in a shell).
  struct Part {
    std::string account = "*";
    std::string user = "*";
    std::optional<SizeRule> sizes{};
    std::optional<Seconds> cooldown{};
    std::optional<Seconds> own_cooldown{};
    std::optional<std::int32_t> restarts_per_hour{};
    std::optional<bool> moves{};
    std::optional<Seconds> grace{};
  };
  std::vector<Part> parts_;            // the first one is of all jobs
  std::vector<Guarantee> guarantees_;  // one an account
  std::vector<Maintenance> maintenance_;
  std::string text_;
};

}  // namespace allot
