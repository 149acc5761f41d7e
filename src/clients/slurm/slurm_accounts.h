#pragma once
// Accounts, users and qualities of service of a Slurm cluster, as `sacctmgr` and `sshare` print
// them, and the fair-share factors that Slurm computes of them. For the policy `slurm`
// (agents/heuristic/slurm.cc), beside SlurmConf.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace allot {

// Limits of jobs that run at the same time; none where unset.
struct SlurmCaps {
  std::optional<double> group_gpus{};  // of all jobs of the account or QOS
  std::optional<double> group_jobs{};
  std::optional<double> user_gpus{};  // of all jobs of one user
  std::optional<double> user_jobs{};

  // True if a job of so many GPUs may start beside these. A job that alone breaks a limit has none:
  // the record shows that it ran.
  bool Allow(double gpus, double group_gpus_now, double group_jobs_now, double user_gpus_now,
             double user_jobs_now) const;
};

struct SlurmQosRules {
  std::string name;
  double priority = 0;
  SlurmCaps caps{};
};

// The tree of accounts, whose leaves are users: a user has one association in each account.
class SlurmAccounts {
 public:
  struct Account {
    std::string name;
    int parent = -1;  // -1: it is the root, which comes first
    double shares = 1;
    SlurmCaps caps{};
  };
  struct Association {
    std::string user;
    int account = 0;
    double shares = 1;
    SlurmCaps caps{};
    std::string default_qos{};
    bool is_default = false;  // the user's jobs that name no account are of this one
    double used = 0;          // billed seconds, decayed until now, as `sshare` prints them
  };

  SlurmAccounts() : accounts_{{.name = "root"}} {}

  const std::vector<Account>& accounts() const { return accounts_; }
  const std::vector<Association>& associations() const { return associations_; }
  // What the files say and nothing here keeps, each once.
  const std::vector<std::string>& not_kept() const { return not_kept_; }
  void NotKeep(std::string what);

  int FindAccount(std::string_view name) const;  // -1: none
  int AddAccount(Account account);
  int AddAssociation(Association association);
  Association& association(int index) { return associations_[static_cast<std::size_t>(index)]; }
  Account& account(int index) { return accounts_[static_cast<std::size_t>(index)]; }

  // The association of a user in an account, or the user's default where `account` is "". One that
  // no file names is added with one share, as is an account, below the root; then *added is true.
  int AssociationOf(std::string_view user, std::string_view account, bool* added);

  // The factor of each association, 0 to 1, by what each has used. Fair tree
  // (slurm.schedmd.com/fair_tree.html): associations are ranked depth first by their share of their
  // siblings' usage. O(associations log associations).
  std::vector<double> FairTree(std::span<const double> used) const;
  // The classic factor (slurm.schedmd.com/classic_fair_share.html), 2^(-usage / share / dampening).
  std::vector<double> ClassicFairShares(std::span<const double> used, double dampening) const;

 private:
  std::vector<Account> accounts_;
  std::vector<Association> associations_;
  std::vector<std::string> not_kept_;
};

// `sacctmgr dump CLUSTER file=FILE`. DataError with file and line where a line is malformed.
SlurmAccounts ReadSlurmAccounts(std::string_view text, const std::string& path);

// `sacctmgr --parsable2 show qos`. DataError likewise.
std::vector<SlurmQosRules> ReadSlurmQos(std::string_view text, const std::string& path,
                                        std::vector<std::string>* not_kept);

// `sshare --all --parsable2`: fills Association::used. DataError likewise.
void ReadSlurmUsage(std::string_view text, const std::string& path, SlurmAccounts* accounts);

}  // namespace allot
