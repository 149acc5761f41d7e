#pragma once
// Which nodes fail the jobs that start on them, and which jobs fail by themselves. A node is
// suspect by the odds of Bayes' rule over the graph of jobs and nodes: every distinct job that
// failed on the node since the last success there accuses it, with a weight that follows from what
// the job and its user did on other nodes. A job that fails elsewhere too takes its accusation
// back; one that runs elsewhere makes it count fully. So a broken job blames no node, however often
// it fails. The rule, its numbers and what they were measured on: docs/adr/0098-blame-by-node.md.
//
// Holds names only, so that a journal can keep it, and knows no clock, cluster or file: a daemon
// and a simulator feed it alike. The same events in the same order give the same answers.
// Not thread-safe. One event costs O(jobs of the nodes concerned).

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/types.h"
#include "rules/operator_rules.h"

namespace allot {

// The starts of one job on one set of nodes.
struct StartTrial {
  std::vector<std::string> nodes;
  int failures = 0;  // since the last success on a part of these nodes
  bool succeeded = false;
  Seconds failed_at = 0;
};

// What its starts tell of the job itself. It counts for its user's other jobs.
enum class JobVerdict : std::uint8_t { kNone, kBroken, kSound };

struct TriedJob {
  std::string name;
  std::string user;
  std::vector<StartTrial> trials;
  JobVerdict verdict = JobVerdict::kNone;
  bool over = false;
};

struct TriedUser {
  std::string name;
  double broken = 0;  // recent jobs, which are forgotten in time
  double sound = 0;
  Seconds at = 0;  // when these were counted last
};

struct TriedNode {
  std::string name;
  double prior = 0;                   // log odds that it is bad, before what its accusers say
  std::vector<std::string> accusers;  // jobs that failed there since the last success
  bool avoided = false;
  Seconds avoided_until = 0;  // while it is avoided
  int avoidances = 0;         // in a row
};

// A node that should be avoided from now on.
struct SuspectNode {
  std::string name;
  double odds = 0;                // to 1, that it is bad
  std::vector<std::string> jobs;  // that accuse it
  Seconds until = 0;
};

class NodeSuspicion {
 public:
  // Workers of a job on these nodes failed, or did not come up. `together`: with those of the
  // job's latest failure, which then was on all of these nodes.
  void Fail(const std::string& job, const std::string& user, std::span<const std::string> nodes,
            Seconds now, bool together = false);
  // They made a step, lived for kProven, or their job finished.
  void Succeed(const std::string& job, const std::string& user, std::span<const std::string> nodes,
               Seconds now);
  // No more is heard of the job. `failed`: it ended so, which counts for its user's other jobs
  // unless it failed on avoided nodes only.
  void EndJob(const std::string& job, bool failed, Seconds now);
  // The node was repaired, or somebody says so: it is no longer avoided, but on probation.
  void Repair(const std::string& node);

  // Nodes of a cluster of so many that should be avoided now, the worst first.
  std::vector<SuspectNode> FindSuspects(std::size_t cluster_nodes, Seconds now,
                                        const FailureRule& rule = {}) const;
  void Avoid(const std::string& node, Seconds until);
  // Its time is over: the node is used again, on probation.
  void Readmit(const std::string& node);

  bool IsAvoided(std::string_view node) const;
  // The odds to 1 that the node is bad, by what is known now.
  double OddsOf(const std::string& node, Seconds now) const;
  // Nodes on which the job should not start for some time, because it failed there, and that on a
  // first start or twice after it had run there.
  std::vector<std::string> FailedNodesOf(const std::string& job, Seconds now) const;
  static std::vector<std::string> FailedNodesOf(const TriedJob& job, Seconds now);
  // Failures of the job on the node, since its last success there.
  int FailuresOf(const std::string& job, const std::string& node) const;
  int FailuresOf(const std::string& job) const;  // on all nodes
  // It ran on each of these nodes, and has not failed there since.
  bool HasRunOn(const std::string& job, const std::vector<std::string>& nodes) const;
  // The jobs that accuse the node, in the order of their failures.
  std::vector<std::string> AccusersOf(const std::string& node) const;

  // What a journal stores.
  const std::map<std::string, TriedNode, std::less<>>& nodes() const { return nodes_; }
  const std::map<std::string, TriedJob>& jobs() const { return jobs_; }
  const std::map<std::string, TriedUser>& users() const { return users_; }
  void Put(TriedNode node) { nodes_[node.name] = std::move(node); }
  void Put(TriedJob job) { jobs_[job.name] = std::move(job); }
  void Put(TriedUser user) { users_[user.name] = std::move(user); }

  static constexpr Seconds kProven = 300;           // a worker that lives for so long has started
  static constexpr Seconds kAvoidFirst = 1800;      // doubled each time
  static constexpr Seconds kAvoidLongest = 43200;   // 12 h
  static constexpr Seconds kRetryElsewhere = 1800;  // a job leaves a node that failed it so long

 private:
  static int FailuresOf(const TriedJob& job, std::string_view node);
  TriedJob& JobOf(const std::string& job, const std::string& user);
  TriedNode& NodeOf(const std::string& node);
  // Starts that failed on nodes of which none is known to be bad.
  std::ptrdiff_t CountOwnFailures(const TriedJob& job) const;
  void Judge(TriedJob* job, JobVerdict verdict, Seconds now);
  void Excuse(TriedJob* job);  // which was judged broken: its nodes were
  void ClearAccusers(TriedNode* node);
  double BadChance(std::string_view node) const;
  double SoundChance(const StartTrial& trial, std::string_view without) const;
  double BrokenChance(const TriedJob& job, std::string_view node, Seconds now) const;
  double OddsOf(const TriedNode& node, Seconds now) const;

  std::map<std::string, TriedNode, std::less<>> nodes_;  // of which something is known
  std::map<std::string, TriedJob> jobs_;                 // not over, or accusing a node
  std::map<std::string, TriedUser> users_;
};

}  // namespace allot
