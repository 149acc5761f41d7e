#pragma once
// The rules of the operator of a cluster, which bind every policy (docs/rules.md). Read once from a
// TOML file (--rules). Simulated and live clusters keep the same rules, so policies train under
// those that they will serve under. A value; nothing here acts.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/cluster_spec.h"
#include "core/types.h"
#include "perf/size_rule.h"

namespace allot {

// Those that apply to one job.
struct JobRules {
  SizeRule sizes{};            // numbers of GPUs that it may be given
  Seconds cooldown = 0;        // how long it keeps an allocation
  Seconds own_cooldown = 300;  // the longest cooldown that its user may ask for
  // Changes of its allocation within an hour, launches after the first included; -1: any number.
  std::int32_t restarts_per_hour = -1;
  bool moves = true;               // false: it keeps its allocation until it ends
  std::optional<Seconds> grace{};  // live: from the notice to stop until it is ended by force
  std::int32_t guarantee = -1;     // its account's: index of OperatorRules::guarantees(); -1: none
  double account_weight = 1;       // of fair shares
  double user_weight = 1;

  // True if one of them may pin the job (rules/change_history.h).
  bool may_pin() const { return cooldown > 0 || restarts_per_hour >= 0 || !moves; }
};

// GPUs that the jobs of an account get whenever they ask for them (rules/entitlements.h).
struct Guarantee {
  std::string account;
  GpuCount gpus = 0;
  std::string gpu_type{};  // "": any

  bool Counts(const std::string& type) const { return gpu_type.empty() || gpu_type == type; }
};

// Of GPUs among accounts, and among the users of each (rules/fair_shares.h).
struct FairShareRule {
  Seconds half_life = 86400;                // after which used GPU time counts half
  std::map<std::string, double> weights{};  // of accounts and users; default 1

  double WeightOf(std::string_view name) const {
    const auto found = weights.find(std::string(name));
    return found == weights.end() ? 1 : found->second;
  }
};

// What becomes of a node that is suspect (rules/node_suspicion.h).
enum class SuspectAction : std::uint8_t {
  kTell,   // it is named
  kAvoid,  // and nothing starts there for some time
  kDrain,  // and its jobs are moved away, until its operator says otherwise
};

struct FailureRule {
  SuspectAction then = SuspectAction::kAvoid;
  double suspect = 0.99;  // the chance that a node is bad from which it is suspect
  // Part of the nodes that are avoided or drained at once, though one at least, and never all:
  // where more are suspect, a file system or a switch is likelier than the nodes.
  double at_most = 0.05;
};

// Nodes that are needed for something else for a while. Times are as in the file: calendar times,
// or in simulations also from the begin of the workload.
struct Maintenance {
  std::vector<std::string> nodes;  // patterns of names; in simulations of numbers, from 0
  std::string from;                // the nodes are as drained from here ...
  std::string to;                  // ... to here
  Seconds lead = 0;                // so long before, nothing more starts there
  std::string place{};             // in the file, for messages

  bool AppliesTo(const std::string& node) const;
};

class OperatorRules {
 public:
  OperatorRules() = default;  // of an empty file

  // Of the file, or of its table [rules]. DataError naming file, line, key and value: text that is
  // not TOML, an unknown key (with the nearest known one), a wrong value.
  static OperatorRules FromFile(const std::string& path);
  static OperatorRules Parse(const std::string& text, const std::string& where);

  // The rules for a job of this account and user; "": not known, which only "*" matches. Of several
  // matching parts of the file the last one wins, key by key.
  JobRules RulesFor(std::string_view account, std::string_view user) const;

  const std::vector<Guarantee>& guarantees() const { return guarantees_; }
  const std::optional<FairShareRule>& fair_share() const { return fair_share_; }  // unset: off
  const FailureRule& failures() const { return failures_; }
  // UsageError if the cluster has fewer GPUs than are guaranteed, naming both.
  void CheckGuarantees(const ClusterSpec& cluster) const;
  // One text, for people, for each rule that names GPUs or nodes which the cluster does not have.
  // On a live cluster that is no error, as nodes may come later, but mostly a mistyped name.
  std::vector<std::string> FindMismatches(const ClusterSpec& cluster,
                                          std::span<const std::string> nodes) const;

  const std::vector<Maintenance>& maintenance() const { return maintenance_; }
  OperatorRules WithoutMaintenance() const;

  const std::string& text() const { return text_; }  // as it was read, for logs

 private:
  friend class RulesReader;  // of the file

  // Rules for jobs whose account and user match these patterns (*, ?, [a-c] as in a shell).
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
  std::vector<Part> parts_;            // the first one applies to all jobs
  std::vector<Guarantee> guarantees_;  // one an account
  std::optional<FairShareRule> fair_share_ = FairShareRule{};
  FailureRule failures_;
  std::vector<Maintenance> maintenance_;
  std::string text_;
};

}  // namespace allot
