#include "clients/slurm/slurm_accounts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "clients/slurm/slurm_conf.h"
#include "core/error.h"
#include "core/strings.h"

namespace allot {
namespace {

constexpr std::string_view kGpus = "gres/gpu";

// Ranks associations, best first, as Slurm's fair_tree.c does.
class FairTreeRanking {
 public:
  FairTreeRanking(const SlurmAccounts& accounts, std::span<const double> used)
      : accounts_(accounts), used_(used), children_(accounts.accounts().size()) {
    const auto& all = accounts.accounts();
    used_by_account_.assign(all.size(), 0);
    for (std::size_t a = 0; a < accounts.associations().size(); ++a) {
      const auto& association = accounts.associations()[a];
      ChildrenOf(association.account).push_back({true, a, association.shares, 0});
      for (int up = association.account; up >= 0; up = all[static_cast<std::size_t>(up)].parent) {
        used_by_account_[static_cast<std::size_t>(up)] += used[a];
      }
    }
    for (std::size_t a = 1; a < all.size(); ++a) {
      ChildrenOf(all[a].parent).push_back({false, a, all[a].shares, 0});
    }
    for (std::size_t a = 0; a < all.size(); ++a) SetLevels(used_by_account_[a], &children_[a]);
    factors_.assign(used.size(), 0);
    rank_ = next_rank_ = static_cast<double>(used.size());
  }

  std::vector<double> Factors() {
    Rank(children_.front(), false);
    return std::move(factors_);
  }

 private:
  struct Child {
    bool is_user;
    std::size_t index;
    double shares;
    double level;  // share of the siblings' shares / share of their usage
  };

  std::vector<Child>& ChildrenOf(int account) {
    return children_[static_cast<std::size_t>(account)];
  }

  void SetLevels(double used, std::vector<Child>* siblings) const {
    double shares = 0;
    for (const Child& child : *siblings) shares += child.shares;
    for (Child& child : *siblings) {
      const double own = child.is_user ? used_[child.index] : used_by_account_[child.index];
      const double part = used > 0 ? own / used : 0;
      const double share = shares > 0 ? child.shares / shares : 0;
      child.level = share <= 0  ? 0
                    : part <= 0 ? std::numeric_limits<double>::infinity()
                                : share / part;
    }
  }

  // `tied`: the first child has the rank of the one before it.
  void Rank(std::vector<Child> siblings, bool tied) {
    std::stable_sort(siblings.begin(), siblings.end(), [](const Child& a, const Child& b) {
      return a.level != b.level ? a.level > b.level : a.is_user && !b.is_user;
    });
    for (std::size_t begin = 0; begin < siblings.size();) {
      std::size_t end = begin;
      std::vector<Child> merged;  // children of accounts of one level
      for (; end < siblings.size() && siblings[end].level == siblings[begin].level; ++end) {
        const Child& child = siblings[end];
        if (!child.is_user) {
          const auto& below = children_[child.index];
          merged.insert(merged.end(), below.begin(), below.end());
          continue;
        }
        if (!std::exchange(tied, true)) rank_ = next_rank_;
        factors_[child.index] = rank_ / static_cast<double>(factors_.size());
        --next_rank_;
      }
      if (!merged.empty()) Rank(std::move(merged), tied);
      tied = false;
      begin = end;
    }
  }

  const SlurmAccounts& accounts_;
  std::span<const double> used_;
  std::vector<double> used_by_account_;
  std::vector<std::vector<Child>> children_;  // by account
  std::vector<double> factors_;
  double rank_ = 0;
  double next_rank_ = 0;
};

// A line of a dump, "User - 'man':Fairshare=1:GrpTRES=gres/gpu:a100=4", or of a table.
class Record {
 public:
  Record(std::string_view line, std::string place) : place_(std::move(place)) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) Fail("like User - 'name':Fairshare=1", line);
    kind_ = ToLower(Trim(line.substr(0, dash)));
    // A ':' in quotes, or before a name in small letters (gpu:a100), separates nothing.
    std::vector<std::string> parts(1);
    bool quoted = false;
    for (std::size_t at = dash + 3; at < line.size(); ++at) {
      const char c = line[at];
      const bool next =
          at + 1 < line.size() && std::isupper(static_cast<unsigned char>(line[at + 1]));
      if (c == '\'') {
        quoted = !quoted;
      } else if (c == ':' && !quoted && next) {
        parts.emplace_back();
      } else {
        parts.back() += c;
      }
    }
    if (quoted) Fail("with quotes that are closed", line);
    name_ = Trim(parts.front());
    for (std::size_t p = 1; p < parts.size(); ++p) {
      const std::size_t equals = parts[p].find('=');
      if (equals == std::string::npos) Fail("of KEY=VALUE, separated by ':'", parts[p]);
      Set(parts[p].substr(0, equals), parts[p].substr(equals + 1));
    }
  }
  Record(const std::vector<std::string_view>& columns, std::string_view line, std::string place)
      : place_(std::move(place)) {
    const std::vector<std::string_view> fields = Split(line, '|');
    if (fields.size() != columns.size()) {
      Fail(fmt::format("of {} fields as the header", columns.size()), line);
    }
    for (std::size_t f = 0; f < fields.size(); ++f) {
      Set(std::string(Trim(columns[f])), std::string(Trim(fields[f])));
    }
  }

  const std::string& kind() const { return kind_; }
  const std::string& name() const { return name_; }
  // Keys without case: a dump writes Fairshare, and people FairShare as in its comments.
  std::string Text(std::string_view key) const {
    for (const auto& [known, value] : values_) {
      if (ToLower(known) == ToLower(key)) return value;
    }
    return "";
  }
  std::optional<double> Number(std::string_view key) const {
    const std::string text = Text(key);
    if (text.empty() || text == "-1") return std::nullopt;
    const auto number = ParseNumber(text);
    if (!number || *number < 0) Fail(fmt::format("with '{}' a number from 0", key), text);
    return number;
  }
  // The GPUs in a limit of TRES; what else it limits is reported.
  std::optional<double> Gpus(std::string_view key, std::vector<std::string>* not_kept) const {
    const std::string text = Text(key);
    for (const std::string_view part : Split(text, ',')) {
      if (part.empty() || TresNumber(part, kGpus)) continue;
      not_kept->push_back(fmt::format("{}={}", key, part));
    }
    return TresNumber(text, kGpus);
  }
  void Report(std::initializer_list<std::string_view> keys,
              std::vector<std::string>* not_kept) const {
    for (const std::string_view key : keys) {
      const std::string text = Text(key);
      if (!text.empty() && text != "-1" && text != "0" && text != "1.000000") {
        not_kept->push_back(fmt::format("{}={}", key, text));
      }
    }
  }
  [[noreturn]] void Fail(std::string_view rule, std::string_view got) const {
    throw DataError("slurm: a line must be {}, got '{}' ({})", rule, got, place_);
  }

 private:
  void Set(std::string key, std::string value) {
    values_.emplace_back(std::move(key), std::move(value));
  }

  std::string place_;
  std::string kind_;
  std::string name_;
  std::vector<std::pair<std::string, std::string>> values_;
};

SlurmCaps CapsOfDump(const Record& record, std::vector<std::string>* not_kept) {
  record.Report({"GrpTRESMins", "GrpTRESRunMins", "GrpWall", "MaxTRESMinsPerJob",
                 "MaxTRESMinsPerUser", "MaxWallDurationPerJob"},
                not_kept);
  return {.group_gpus = record.Gpus("GrpTRES", not_kept),
          .group_jobs = record.Number("GrpJobs"),
          .user_gpus = std::nullopt,
          .user_jobs = record.Number("MaxJobs")};
}

double SharesOf(const Record& record, std::vector<std::string>* not_kept) {
  if (ToLower(record.Text("Fairshare")) == "parent") {
    not_kept->emplace_back("Fairshare=parent");
    return 1;
  }
  return record.Number("Fairshare").value_or(1);
}

// Calls `use` with each row of a table of `sacctmgr --parsable2` or `sshare --parsable2`.
template <typename Use>
void ForEachRow(std::string_view text, const std::string& path,
                std::initializer_list<std::string_view> needed, const Use& use) {
  const std::vector<std::string_view> lines = Split(text, '\n');
  const std::vector<std::string_view> columns = Split(Trim(lines.front()), '|');
  for (const std::string_view column : needed) {
    if (std::find(columns.begin(), columns.end(), column) != columns.end()) continue;
    throw DataError("slurm: a table of --parsable2 must have the column '{}', got '{}' ({}:1)",
                    column, Trim(lines.front()), path);
  }
  for (std::size_t l = 1; l < lines.size(); ++l) {
    if (Trim(lines[l]).empty()) continue;
    use(Record(columns, lines[l], fmt::format("{}:{}", path, l + 1)));
  }
}

}  // namespace

bool SlurmCaps::Allow(double gpus, double group_gpus_now, double group_jobs_now,
                      double user_gpus_now, double user_jobs_now) const {
  const auto within = [](double now, double more, const std::optional<double>& most) {
    return !most || more > *most || now + more <= *most;
  };
  return within(group_gpus_now, gpus, group_gpus) && within(group_jobs_now, 1, group_jobs) &&
         within(user_gpus_now, gpus, user_gpus) && within(user_jobs_now, 1, user_jobs);
}

void SlurmAccounts::NotKeep(std::string what) {
  if (std::find(not_kept_.begin(), not_kept_.end(), what) == not_kept_.end()) {
    not_kept_.push_back(std::move(what));
  }
}

int SlurmAccounts::FindAccount(std::string_view name) const {
  const auto found = std::find_if(accounts_.begin(), accounts_.end(),
                                  [&](const Account& account) { return account.name == name; });
  return found == accounts_.end() ? -1 : static_cast<int>(found - accounts_.begin());
}

int SlurmAccounts::AddAccount(Account account) {
  accounts_.push_back(std::move(account));
  return static_cast<int>(accounts_.size()) - 1;
}

int SlurmAccounts::AddAssociation(Association association) {
  associations_.push_back(std::move(association));
  return static_cast<int>(associations_.size()) - 1;
}

int SlurmAccounts::AssociationOf(std::string_view user, std::string_view account, bool* added) {
  int first = -1;
  for (std::size_t a = 0; a < associations_.size(); ++a) {
    const Association& known = associations_[a];
    if (known.user != user) continue;
    const bool same = account.empty()
                          ? known.is_default
                          : accounts_[static_cast<std::size_t>(known.account)].name == account;
    if (same) return static_cast<int>(a);
    if (first < 0) first = static_cast<int>(a);
  }
  if (account.empty() && first >= 0) return first;
  *added = true;
  int of = account.empty() ? 0 : FindAccount(account);
  if (of < 0) of = AddAccount({.name = std::string(account), .parent = 0});
  return AddAssociation({.user = std::string(user), .account = of});
}

std::vector<double> SlurmAccounts::FairTree(std::span<const double> used) const {
  return FairTreeRanking(*this, used).Factors();
}

std::vector<double> SlurmAccounts::ClassicFairShares(std::span<const double> used,
                                                     double dampening) const {
  const std::size_t count = accounts_.size();
  std::vector<double> own(count, 0), siblings(count, 0), share(count, 1), effective(count, 1);
  double all = 0;
  for (std::size_t a = 0; a < associations_.size(); ++a) {
    all += used[a];
    siblings[static_cast<std::size_t>(associations_[a].account)] += associations_[a].shares;
    for (int up = associations_[a].account; up >= 0;
         up = accounts_[static_cast<std::size_t>(up)].parent) {
      own[static_cast<std::size_t>(up)] += used[a];
    }
  }
  for (std::size_t a = 1; a < count; ++a) {
    siblings[static_cast<std::size_t>(accounts_[a].parent)] += accounts_[a].shares;
  }
  const auto of_siblings = [&](double shares, std::size_t parent) {
    return siblings[parent] > 0 ? shares / siblings[parent] : 0;
  };
  const auto of_all = [all](double usage) { return all > 0 ? usage / all : 0; };
  // Parents come before their children.
  for (std::size_t a = 1; a < count; ++a) {
    const auto parent = static_cast<std::size_t>(accounts_[a].parent);
    const double part = of_siblings(accounts_[a].shares, parent);
    share[a] = share[parent] * part;
    const double usage = of_all(own[a]);
    effective[a] = parent == 0 ? usage : usage + (effective[parent] - usage) * part;
  }
  std::vector<double> factors;
  for (std::size_t a = 0; a < associations_.size(); ++a) {
    const auto parent = static_cast<std::size_t>(associations_[a].account);
    const double part = of_siblings(associations_[a].shares, parent);
    const double usage = of_all(used[a]);
    const double counted = parent == 0 ? usage : usage + (effective[parent] - usage) * part;
    const double whole = share[parent] * part;
    factors.push_back(whole > 0 ? std::exp2(-counted / whole / dampening) : 0);
  }
  return factors;
}

SlurmAccounts ReadSlurmAccounts(std::string_view text, const std::string& path) {
  SlurmAccounts accounts;
  std::vector<std::string> not_kept;
  int parent = 0;
  std::string cluster_qos;
  const std::vector<std::string_view> lines = Split(text, '\n');
  for (std::size_t l = 0; l < lines.size(); ++l) {
    const std::string_view line = Trim(lines[l]);
    if (line.empty() || line.front() == '#') continue;
    const Record record(line, fmt::format("{}:{}", path, l + 1));
    if (record.kind() == "cluster") {
      cluster_qos = record.Text("DefaultQOS");
      accounts.account(0).caps = CapsOfDump(record, &not_kept);
    } else if (record.kind() == "parent") {
      parent = accounts.FindAccount(record.name());
      if (parent < 0) record.Fail("below an account that is named before", record.name());
    } else if (record.kind() == "account") {
      if (accounts.FindAccount(record.name()) >= 0) {
        record.Fail("of an account that no line before names", record.name());
      }
      accounts.AddAccount({.name = record.name(),
                           .parent = parent,
                           .shares = SharesOf(record, &not_kept),
                           .caps = CapsOfDump(record, &not_kept)});
    } else if (record.kind() == "user") {
      const std::string qos = record.Text("DefaultQOS");
      accounts.AddAssociation(
          {.user = record.name(),
           .account = parent,
           .shares = SharesOf(record, &not_kept),
           .caps = CapsOfDump(record, &not_kept),
           .default_qos = qos.empty() ? cluster_qos : qos,
           .is_default = record.Text("DefaultAccount") == accounts.account(parent).name});
    } else {
      record.Fail("of a Cluster, Parent, Account or User", record.kind());
    }
  }
  for (std::string& what : not_kept) accounts.NotKeep(std::move(what));
  return accounts;
}

std::vector<SlurmQosRules> ReadSlurmQos(std::string_view text, const std::string& path,
                                        std::vector<std::string>* not_kept) {
  std::vector<SlurmQosRules> all;
  ForEachRow(text, path, {"Name", "Priority"}, [&](const Record& row) {
    row.Report({"Preempt", "UsageFactor", "GrpTRESMins", "GrpTRESRunMins", "GrpWall", "MaxTRESMins",
                "MaxWall", "MaxTRESPA", "MaxJobsPA", "MinTRES"},
               not_kept);
    all.push_back({.name = row.Text("Name"),
                   .priority = row.Number("Priority").value_or(0),
                   .caps = {.group_gpus = row.Gpus("GrpTRES", not_kept),
                            .group_jobs = row.Number("GrpJobs"),
                            .user_gpus = row.Gpus("MaxTRESPU", not_kept),
                            .user_jobs = row.Number("MaxJobsPU")}});
  });
  std::set<std::string> seen;
  std::erase_if(*not_kept, [&seen](const std::string& what) { return !seen.insert(what).second; });
  return all;
}

void ReadSlurmUsage(std::string_view text, const std::string& path, SlurmAccounts* accounts) {
  ForEachRow(text, path, {"Account", "User", "RawUsage"}, [&](const Record& row) {
    const std::string user = row.Text("User");
    if (user.empty()) return;  // the sum of an account
    bool added = false;
    const int index = accounts->AssociationOf(user, row.Text("Account"), &added);
    accounts->association(index).used = row.Number("RawUsage").value_or(0);
  });
}

}  // namespace allot
