// Slurm as its slurm.conf has it, simulated: priorities (priority/multifactor or basic), the main
// scheduler, and backfill (sched/backfill), after slurm.conf(5) and Slurm's pages on priorities and
// scheduling. What is simulated and what is not: docs/adr/0114-slurm-simulated.md.
//
// Jobs are taken by the tier of their partition, then priority, then submission. The main scheduler
// starts them in this order; the first of a partition that does not fit keeps the partition's nodes
// from all behind it. Backfill plans every job in order, by time limits: those that can start
// without delaying a plan do, the others keep whole nodes in their planned time. Running jobs are
// never stopped.
//
// A job's time limit is its estimated length, or else its partition's default. The rest is a note.

#include <algorithm>
#include <any>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "clients/slurm/slurm_accounts.h"
#include "clients/slurm/slurm_conf.h"
#include "core/error.h"
#include "core/index.h"
#include "core/strings.h"
#include "rules/gpu_usage.h"
#include "sched/policy.h"
#include "stages/fill/placer.h"

namespace allot {
namespace {

constexpr Seconds kLongestLimit = 365 * 86400.0;  // of jobs without any

std::string Named(const std::vector<std::string>* names, std::int32_t index) {
  const bool known = names != nullptr && index >= 0 && At(index) < names->size();
  return known ? (*names)[At(index)] : std::string();
}

// How a job of so many GPUs lies on nodes: Slurm's users ask for nodes and GPUs on each of them, of
// which a workload has the product alone. It lies on the fewest nodes, as many GPUs on each, where
// nodes of the partition allow that.
struct Spread {
  std::int32_t nodes = 0;  // 0: on any
  GpuCount each = 0;
};

struct Partition {
  const SlurmConfPartition* conf = nullptr;
  std::vector<char> has;  // by node
  GpuCount gpus = 0;
  GpuCount largest = 1;  // GPUs of a node
  int qos = -1;
};

// What does not change while a job is there.
struct JobFacts {
  int partition = 0;
  int association = 0;
  int qos = -1;
  Seconds charged = 0;  // of its attained time
};

struct Candidate {
  std::int32_t row;
  int tier;
  double priority;
};

struct Usage {
  double gpus = 0;
  double jobs = 0;
};

// Nodes in Slurm's order among those that are allowed now.
class SlurmChooser : public NodeChooser {
 public:
  void Allow(const std::vector<NodeIndex>* order, const std::vector<char>* allowed,
             const Spread& spread) {
    order_ = order;
    allowed_ = allowed;
    spread_ = spread;
  }

  bool Choose(const ClusterSpec& cluster, FreeMap& free, GpuTypeIndex type,
              const Resources& unit_demand, std::int32_t count, std::span<const NodeShare>,
              std::vector<UnitShare>* chosen) override {
    const bool even = spread_.nodes > 0 && count % spread_.nodes == 0;
    const std::int32_t most = even ? count / spread_.nodes : count;
    for (const NodeIndex node : *order_) {
      if (count == 0) break;
      if (cluster.nodes()[At(node)].type != type || (*allowed_)[At(node)] == 0) continue;
      const std::int32_t units = free.Capacity(node, unit_demand, std::min(count, most));
      if (units == 0 || (even && units < most)) continue;
      chosen->push_back({node, units});
      count -= units;
    }
    return count == 0;
  }

 private:
  const std::vector<NodeIndex>* order_ = nullptr;
  const std::vector<char>* allowed_ = nullptr;
  Spread spread_;
};

class SlurmPolicy : public Policy {
 public:
  SlurmPolicy(PolicyInfo info, SlurmConf conf, SlurmAccounts accounts,
              std::vector<SlurmQosRules> qos, std::vector<std::string> not_kept)
      : info_(std::move(info)),
        conf_(std::move(conf)),
        accounts_given_(std::move(accounts)),
        qos_(std::move(qos)),
        not_kept_(std::move(not_kept)) {
    if (conf_.partitions.empty()) conf_.partitions.push_back({.name = "", .is_default = true});
    for (const SlurmQosRules& one : qos_) most_qos_ = std::max(most_qos_, one.priority);
    for (const SlurmConfPartition& partition : conf_.partitions) {
      most_factor_ = std::max(most_factor_, partition.job_factor);
    }
    auto chooser = std::make_unique<SlurmChooser>();
    chooser_ = chooser.get();
    placer_ = std::make_unique<JobPlacer>(std::move(chooser));
    OnEpisodeStart({});
  }

  const PolicyInfo& info() const override { return info_; }

  void OnEpisodeStart(const EpisodeContext& context) override {
    tenants_ = context.tenants == nullptr ? std::vector<std::string>{} : *context.tenants;
    charge_of_ = context.charge_of;
    accounts_ = accounts_given_;
    usage_ = GpuUsage(conf_.half_life);
    for (std::size_t a = 0; a < accounts_.associations().size(); ++a) {
      const auto& association = accounts_.associations()[a];
      if (association.used > 0) usage_.Add(KeyOf(static_cast<int>(a)), association.used, 0);
    }
    facts_.clear();
    billed_.clear();
    factors_.clear();
    sizes_.clear();
    partitions_.clear();
    calculated_ = last_backfill_ = last_full_ = -1;
    added_associations_ = unknown_partitions_ = without_room_ = 0;
    nodes_unknown_ = false;
  }

  PolicyNotes notes() const override {
    PolicyNotes notes;
    std::vector<std::string> partitions, rules = not_kept_;
    if (nodes_unknown_) {
      partitions.emplace_back("the cluster does not name its nodes, so each partition has all");
    }
    if (unknown_partitions_ > 0) {
      partitions.push_back(
          fmt::format("{} jobs name none of the file and are in its default", unknown_partitions_));
    }
    if (without_room_ > 0) {
      partitions.push_back(
          fmt::format("{} jobs have no room in theirs and may run on all nodes", without_room_));
    }
    if (!partitions.empty()) notes.emplace_back("partitions", Join(partitions, "; "));
    if (added_associations_ > 0 && !accounts_given_.associations().empty()) {
      notes.emplace_back("accounts", fmt::format("{} users are not among them, with one share each",
                                                 added_associations_));
    }
    if (!charge_of_) rules.emplace_back("accounts and QOS of jobs: each has its user's default");
    if (!rules.empty()) notes.emplace_back("not simulated", Join(rules, "; "));
    return notes;
  }

  void Decide(const Observation& o, Allocation* allocation) override {
    allocation->Clear();
    PrepareNodes(*o.cluster);
    FollowJobs(o);
    ComputeFairShares(o);
    KeepRunning(o, allocation);
    FindOrder(o);
    Schedule(o, allocation);
    const bool each_time = o.interval > conf_.bf_interval;  // its own times are between decisions
    const double pass = std::floor(o.now / conf_.bf_interval);
    if (conf_.backfill && conf_.bf_interval < kNever && (each_time || pass > last_backfill_)) {
      last_backfill_ = pass;
      Backfill(o, allocation);
    }
  }

 private:
  struct End {
    Seconds at;
    NodeIndex node;
    GpuCount gpus;
  };
  struct Plan {
    Seconds begin;
    Seconds end;
    std::vector<NodeIndex> nodes;
  };

  // ---- nodes and partitions ----

  void PrepareNodes(const ClusterSpec& cluster) {
    const std::size_t count = cluster.nodes().size();
    const bool others = sizes_.size() != count;
    if (others) sizes_.assign(count, 0);
    for (std::size_t n = 0; n < count; ++n) {
      sizes_[n] = std::max(sizes_[n], cluster.nodes()[n].capacity.gpus);
    }
    spreads_.clear();
    if (!others && !partitions_.empty()) return;
    const std::vector<std::string> names = NodeNames(cluster);
    std::map<std::string_view, int> weights;
    for (const SlurmConfNode& node : conf_.nodes) weights[node.name] = node.weight;
    node_order_.resize(count);
    std::iota(node_order_.begin(), node_order_.end(), 0);
    const auto weight = [&](NodeIndex node) {
      const auto known = names.empty() ? weights.end() : weights.find(names[At(node)]);
      return known == weights.end() ? 1 : known->second;
    };
    std::stable_sort(node_order_.begin(), node_order_.end(),
                     [&](NodeIndex a, NodeIndex b) { return weight(a) < weight(b); });
    partitions_.clear();
    for (const SlurmConfPartition& conf : conf_.partitions) {
      Partition partition{
          .conf = &conf, .has = std::vector<char>(count, 1), .qos = QosOf(conf.qos)};
      const std::set<std::string_view> named(conf.nodes.begin(), conf.nodes.end());
      for (std::size_t n = 0; n < count && !named.empty() && !names.empty(); ++n) {
        partition.has[n] = named.contains(names[n]) ? 1 : 0;
      }
      for (std::size_t n = 0; n < count; ++n) {
        if (partition.has[n] == 0) continue;
        partition.gpus += sizes_[n];
        partition.largest = std::max(partition.largest, sizes_[n]);
      }
      partitions_.push_back(std::move(partition));
    }
    everywhere_.assign(count, 1);
  }

  // By node; those of the file where the cluster names none and has the same; empty: not known.
  std::vector<std::string> NodeNames(const ClusterSpec& cluster) {
    if (!cluster.node_names().empty()) return cluster.node_names();
    std::vector<std::string> names;
    std::vector<GpuCount> gpus;
    for (const SlurmConfNode& node : conf_.nodes) {
      if (node.gpus == 0) continue;
      names.push_back(node.name);
      gpus.push_back(node.gpus);
    }
    if (gpus == sizes_) return names;
    nodes_unknown_ = std::any_of(conf_.partitions.begin(), conf_.partitions.end(),
                                 [](const auto& partition) { return !partition.nodes.empty(); });
    return {};
  }

  // Nodes that the job of these facts may ever run on.
  const std::vector<char>& NodesOf(const JobFacts& facts) const {
    return facts.partition < 0 ? everywhere_ : partitions_[At(facts.partition)].has;
  }
  const Partition& PartitionOf(const JobFacts& facts) const {
    return partitions_[At(std::max(0, facts.partition))];
  }

  bool HasRoom(const Observation& o, std::int32_t row, const std::vector<char>& nodes) const {
    const ConfigurationTable& table = *o.table[At(row)];
    return std::any_of(table.types().begin(), table.types().end(), [&](GpuTypeIndex type) {
      const std::int32_t wanted = table.OnType(o.requested[At(row)], type);
      GpuCount room = 0;
      for (std::size_t n = 0; n < nodes.size(); ++n) {
        if (nodes[n] != 0 && o.cluster->nodes()[n].type == type) room += sizes_[n];
      }
      return wanted >= 0 && table[wanted].demand.gpus <= room;
    });
  }

  const Spread& SpreadOf(const ClusterSpec& cluster, const JobFacts& facts, GpuTypeIndex type,
                         GpuCount gpus) {
    const auto [at, is_new] = spreads_.try_emplace({facts.partition, type, gpus});
    if (!is_new || gpus == 0) return at->second;
    const std::vector<char>& has = NodesOf(facts);
    const auto nodes_of = [&](GpuCount least) {
      std::int32_t count = 0;
      for (std::size_t n = 0; n < has.size(); ++n) {
        const bool can = has[n] != 0 && cluster.nodes()[n].type == type && sizes_[n] >= least;
        count += can ? 1 : 0;
      }
      return count;
    };
    GpuCount largest = 0;
    for (std::size_t n = 0; n < has.size(); ++n) {
      if (has[n] != 0 && cluster.nodes()[n].type == type) largest = std::max(largest, sizes_[n]);
    }
    if (largest == 0) return at->second;
    const std::int32_t nodes = (gpus + largest - 1) / largest;
    if (gpus % nodes == 0 && nodes_of(gpus / nodes) >= nodes) at->second = {nodes, gpus / nodes};
    return at->second;
  }

  // ---- jobs, what they are charged, and their priorities ----

  int QosOf(std::string_view name) const {
    const auto found = std::find_if(qos_.begin(), qos_.end(),
                                    [&](const SlurmQosRules& one) { return one.name == name; });
    return found == qos_.end() ? -1 : static_cast<int>(found - qos_.begin());
  }

  Submitter KeyOf(int association) const {
    return {accounts_.associations()[At(association)].account, association};
  }

  void FollowJobs(const Observation& o) {
    for (std::int32_t row = 0; row < o.rows(); ++row) {
      if (!facts_.contains(o.job[At(row)])) facts_.emplace(o.job[At(row)], NewFacts(o, row));
    }
    for (const EndedJob& ended : o.events.ended) {
      const auto known = facts_.find(ended.job);
      if (known == facts_.end()) continue;
      const double held = ended.held_seconds - known->second.charged;
      if (ended.held_seconds > 0 && held > 0) {
        const double billed = billed_[ended.job];
        usage_.Add(KeyOf(known->second.association), held * billed, o.now);
      }
      billed_.erase(ended.job);
      facts_.erase(known);
    }
  }

  JobFacts NewFacts(const Observation& o, std::int32_t row) {
    const auto r = At(row);
    const Charge charge = charge_of_ ? charge_of_(o.job[r]) : Charge{};
    const std::string user = Named(o.user_names, o.user[r]);
    JobFacts facts;
    bool added = false;
    facts.association = accounts_.AssociationOf(user, charge.account, &added);
    if (added) {
      ++added_associations_;
      factors_.clear();
    }
    const auto& association = accounts_.associations()[At(facts.association)];
    facts.qos = QosOf(!charge.qos.empty()               ? charge.qos
                      : association.default_qos.empty() ? "normal"
                                                        : association.default_qos);
    facts.partition = FindPartition(Named(&tenants_, o.tenant[r]));
    if (!HasRoom(o, row, NodesOf(facts))) {
      ++without_room_;
      facts.partition = -1;
    }
    billed_[o.job[r]] = Billed(PartitionOf(facts), (*o.table[r])[o.requested[r]].demand);
    return facts;
  }

  int FindPartition(const std::string& name) {
    int by_default = 0;
    for (std::size_t p = 0; p < partitions_.size(); ++p) {
      if (partitions_[p].conf->name == name) return static_cast<int>(p);
      if (partitions_[p].conf->is_default) by_default = static_cast<int>(p);
    }
    if (!partitions_.front().conf->name.empty()) ++unknown_partitions_;
    return by_default;
  }

  // What Slurm charges for each second: CPUs, unless weights say otherwise. GPUs where nobody knows
  // CPUs.
  static double Billed(const Partition& partition, const Resources& demand) {
    const double gpus = demand.gpus;
    const double cpus = demand.cpus > 0 ? demand.cpus : gpus;
    const auto& weights = partition.conf->billing;
    return weights ? weights->cpu * cpus + weights->gpu * gpus : cpus;
  }

  // Usage and factors, each `calc_period`.
  void ComputeFairShares(const Observation& o) {
    const double tick = std::floor(o.now / conf_.calc_period);
    if (tick == calculated_ && factors_.size() == accounts_.associations().size()) return;
    calculated_ = tick;
    for (std::int32_t row = 0; row < o.rows(); ++row) {
      JobFacts& facts = facts_.at(o.job[At(row)]);
      const Seconds held = o.attained_seconds[At(row)];
      if (held <= facts.charged) continue;
      usage_.Add(KeyOf(facts.association), (held - facts.charged) * billed_[o.job[At(row)]], o.now);
      facts.charged = held;
    }
    std::vector<double> used;
    for (std::size_t a = 0; a < accounts_.associations().size(); ++a) {
      used.push_back(usage_.Of(KeyOf(static_cast<int>(a)), o.now));
    }
    factors_ = conf_.fair_tree ? accounts_.FairTree(used)
                               : accounts_.ClassicFairShares(used, conf_.dampening);
  }

  double Priority(const Observation& o, std::int32_t row, const JobFacts& facts) const {
    const auto r = At(row);
    // What users lower is the same number as their Nice.
    if (!conf_.multifactor) return o.priority[r] - static_cast<double>(o.job[r]);
    const Partition& partition = PartitionOf(facts);
    const Resources& demand = (*o.table[r])[o.requested[r]].demand;
    const Seconds age = std::max(0.0, calculated_ * conf_.calc_period - o.submit[r]);
    const double gpus = o.cluster->total().gpus;
    double priority = o.priority[r];
    priority += conf_.weight_age * (conf_.max_age > 0 ? std::min(1.0, age / conf_.max_age) : 1);
    priority += conf_.weight_fair_share * factors_[At(facts.association)];
    priority += conf_.weight_job_size * SizeFactor(o, row, facts, demand);
    if (most_factor_ > 0) {
      priority += conf_.weight_partition * partition.conf->job_factor / most_factor_;
    }
    if (most_qos_ > 0 && facts.qos >= 0) {
      priority += conf_.weight_qos * qos_[At(facts.qos)].priority / most_qos_;
    }
    if (partition.gpus > 0) priority += conf_.weight_tres.gpu * demand.gpus / partition.gpus;
    if (gpus > 0) priority += conf_.weight_tres.cpu * PartOf(*o.cluster, demand);
    return std::floor(priority);
  }

  // A job's part of the CPUs of the cluster; of its GPUs where nobody knows CPUs.
  static double PartOf(const ClusterSpec& cluster, const Resources& demand) {
    return demand.cpus > 0 ? demand.cpus / std::max(1.0, double(cluster.total().cpus))
                           : demand.gpus / std::max(1.0, double(cluster.total().gpus));
  }

  double SizeFactor(const Observation& o, std::int32_t row, const JobFacts& facts,
                    const Resources& demand) const {
    const double all = std::max<double>(1, static_cast<double>(o.cluster->nodes().size()));
    const double nodes =
        std::ceil(std::max(1.0, double(demand.gpus) / PartitionOf(facts).largest)) / all;
    const double cpus = PartOf(*o.cluster, demand);
    double factor = (nodes + cpus) / 2;
    if (conf_.relative_to_time) {
      factor = std::max(nodes, cpus) / std::max(1.0, LimitOf(o, row, facts) / 60);
    }
    return std::clamp(conf_.favor_small ? 1 - factor : factor, 0.0, 1.0);
  }

  Seconds LimitOf(const Observation& o, std::int32_t row, const JobFacts& facts) const {
    const auto r = At(row);
    const double work = o.estimated_work[r];
    if (std::isfinite(work)) return work / (*o.table[r])[o.requested[r]].rate;
    const SlurmConfPartition& partition = *PartitionOf(facts).conf;
    return std::min(kLongestLimit, partition.default_time.value_or(partition.max_time));
  }

  // ---- what runs ----

  void KeepRunning(const Observation& o, Allocation* allocation) {
    grants_.clear();
    ends_.clear();
    by_association_.assign(accounts_.associations().size(), {});
    by_account_.assign(accounts_.accounts().size(), {});
    by_qos_.clear();
    for (std::int32_t row = 0; row < o.rows(); ++row) {
      if (o.running[At(row)] >= 0) grants_.push_back({row, o.running[At(row)]});
    }
    placer_->Keep(o, grants_, &kept_);
    stays_.assign(o.job.size(), 0);
    for (std::size_t g = 0; g < grants_.size(); ++g) {
      if (kept_[g] == 0) continue;
      const std::int32_t row = grants_[g].row;
      stays_[At(row)] = 1;
      allocation->Add(o.job[At(row)], grants_[g].configuration, o.shares_of(row), false,
                      o.partner_of(row));
      const JobFacts& facts = facts_.at(o.job[At(row)]);
      const Seconds left = LimitOf(o, row, facts) - o.attained_seconds[At(row)];
      Count(o, row, facts, grants_[g].configuration, std::max(1.0, left), o.shares_of(row));
    }
  }

  // The job runs: it counts in limits, and its GPUs are free again at the end of its limit.
  void Count(const Observation& o, std::int32_t row, const JobFacts& facts,
             std::int32_t configuration, Seconds left, std::span<const NodeShare> shares) {
    for (const NodeShare& share : shares) {
      ends_.push_back({o.now + left, share.node, std::popcount(share.gpus)});
    }
    const double gpus = (*o.table[At(row)])[configuration].demand.gpus;
    const auto add = [gpus](Usage& usage) {
      usage.gpus += gpus;
      ++usage.jobs;
    };
    const auto& association = accounts_.associations()[At(facts.association)];
    add(by_association_[At(facts.association)]);
    for (int up = association.account; up >= 0; up = accounts_.accounts()[At(up)].parent) {
      add(by_account_[At(up)]);
    }
    const int of_partition = PartitionOf(facts).qos;
    if (facts.qos >= 0) {
      add(by_qos_[{facts.qos, ""}]);
      add(by_qos_[{facts.qos, association.user}]);
    }
    if (of_partition >= 0 && of_partition != facts.qos) {
      add(by_qos_[{of_partition, ""}]);
      add(by_qos_[{of_partition, association.user}]);
    }
  }

  // Limits of its user, accounts and QOS let the job start now.
  bool MayStart(const Observation& o, std::int32_t row, const JobFacts& facts) {
    if (!conf_.enforces_limits) return true;
    const double gpus = (*o.table[At(row)])[o.requested[At(row)]].demand.gpus;
    const auto& association = accounts_.associations()[At(facts.association)];
    const Usage& own = by_association_[At(facts.association)];
    if (!association.caps.Allow(gpus, own.gpus, own.jobs, own.gpus, own.jobs)) return false;
    for (int up = association.account; up >= 0; up = accounts_.accounts()[At(up)].parent) {
      const Usage& all = by_account_[At(up)];
      const SlurmCaps& caps = accounts_.accounts()[At(up)].caps;
      if (!caps.Allow(gpus, all.gpus, all.jobs, own.gpus, own.jobs)) return false;
    }
    for (const int qos : {facts.qos, PartitionOf(facts).qos}) {
      if (qos < 0) continue;
      const Usage& all = by_qos_[{qos, ""}];
      const Usage& mine = by_qos_[{qos, association.user}];
      if (!qos_[At(qos)].caps.Allow(gpus, all.gpus, all.jobs, mine.gpus, mine.jobs)) return false;
    }
    return true;
  }

  // ---- the order, the main scheduler and backfill ----

  void FindOrder(const Observation& o) {
    waiting_.clear();
    for (std::int32_t row = 0; row < o.rows(); ++row) {
      if (stays_[At(row)] != 0) continue;
      const JobFacts& facts = facts_.at(o.job[At(row)]);
      waiting_.push_back({row, PartitionOf(facts).conf->tier, Priority(o, row, facts)});
    }
    const auto key = [&o](const Candidate& c) {
      return std::tuple(-c.tier, -c.priority, o.submit[At(c.row)], o.job[At(c.row)]);
    };
    std::sort(waiting_.begin(), waiting_.end(),
              [&](const Candidate& a, const Candidate& b) { return key(a) < key(b); });
  }

  // Starts it on nodes that are `allowed`, if it fits.
  bool Start(const Observation& o, std::int32_t row, const JobFacts& facts,
             const std::vector<char>& allowed, Allocation* allocation) {
    const ConfigurationTable& table = *o.table[At(row)];
    for (const GpuTypeIndex type : table.types()) {
      const std::int32_t wanted = table.OnType(o.requested[At(row)], type);
      if (wanted < 0 || !table.Allocatable(wanted)) continue;
      chooser_->Allow(&node_order_, &allowed,
                      SpreadOf(*o.cluster, facts, type, table[wanted].demand.gpus));
      bool placed = placer_->Place(o, {row, wanted});
      if (!placed && ends_.empty()) {  // nothing runs: CPUs or memory do not let it lie so
        chooser_->Allow(&node_order_, &allowed, {});
        placed = placer_->Place(o, {row, wanted});
      }
      if (!placed) continue;
      allocation->Add(o.job[At(row)], placer_->configuration(), placer_->shares());
      Count(o, row, facts, placer_->configuration(), LimitOf(o, row, facts), placer_->shares());
      stays_[At(row)] = 1;
      return true;
    }
    return false;
  }

  void Schedule(const Observation& o, Allocation* allocation) {
    const double full = std::floor(o.now / conf_.sched_interval);
    int most = conf_.queue_depth;
    if (full > last_full_) most = std::numeric_limits<int>::max();
    last_full_ = full;
    failed_.assign(partitions_.size(), 0);
    std::vector<char>& open = allowed_;
    open_nodes_.assign(sizes_.size(), 1);
    for (const Candidate& candidate : waiting_) {
      const JobFacts& facts = facts_.at(o.job[At(candidate.row)]);
      const std::size_t partition = At(std::max(0, facts.partition));
      if (failed_[partition] != 0 || !MayStart(o, candidate.row, facts)) continue;
      if (most-- <= 0) return;
      const std::vector<char>& nodes = NodesOf(facts);
      open.resize(nodes.size());
      for (std::size_t n = 0; n < nodes.size(); ++n) open[n] = nodes[n] & open_nodes_[n];
      if (Start(o, candidate.row, facts, open, allocation)) continue;
      failed_[partition] = 1;
      for (std::size_t n = 0; n < nodes.size(); ++n) {
        if (nodes[n] != 0) open_nodes_[n] = 0;
      }
    }
  }

  void Backfill(const Observation& o, Allocation* allocation) {
    plans_.clear();
    tested_of_user_.clear();
    int tested = 0;
    Seconds shortest = kNever;
    for (const Candidate& candidate : waiting_) {
      if (stays_[At(candidate.row)] != 0) continue;
      shortest = std::min(shortest, LimitOf(o, candidate.row, facts_.at(o.job[At(candidate.row)])));
    }
    for (const Candidate& candidate : waiting_) {
      const std::int32_t row = candidate.row;
      if (stays_[At(row)] != 0) continue;
      if (tested >= conf_.bf_max_job_test || !SomethingCanStart(o, shortest)) return;
      const JobFacts& facts = facts_.at(o.job[At(row)]);
      if (conf_.bf_max_job_user > 0 && ++tested_of_user_[o.user[At(row)]] > conf_.bf_max_job_user) {
        continue;
      }
      if (!MayStart(o, row, facts)) continue;
      ++tested;
      const Seconds limit = LimitOf(o, row, facts);
      FindOpen(NodesOf(facts), o.now, o.now + limit);
      if (Start(o, row, facts, allowed_, allocation)) continue;
      PlanJob(o, row, facts, limit);
    }
  }

  // Free GPUs on nodes that no plan needs before the shortest job would be done.
  bool SomethingCanStart(const Observation& o, Seconds shortest) {
    FindOpen(everywhere_, o.now, o.now + shortest);
    for (std::size_t n = 0; n < allowed_.size(); ++n) {
      if (allowed_[n] != 0 && placer_->free().free_gpus(static_cast<NodeIndex>(n)) > 0) return true;
    }
    return false;
  }

  // Of `nodes` those that no plan keeps at any time in between, into allowed_.
  void FindOpen(const std::vector<char>& nodes, Seconds begin, Seconds end) {
    allowed_ = nodes;
    for (const Plan& plan : plans_) {
      if (plan.end <= begin || plan.begin >= end) continue;
      for (const NodeIndex node : plan.nodes) allowed_[At(node)] = 0;
    }
  }

  // Keeps nodes for the job at the first time when running jobs and plans leave it room, in the
  // window. Of what a job needs, GPUs alone count then.
  void PlanJob(const Observation& o, std::int32_t row, const JobFacts& facts, Seconds limit) {
    const auto earlier = [](const End& a, const End& b) {
      return std::tie(a.at, a.node, a.gpus) < std::tie(b.at, b.node, b.gpus);
    };
    if (!std::is_sorted(ends_.begin(), ends_.end(), earlier)) {
      std::sort(ends_.begin(), ends_.end(), earlier);
    }
    times_.clear();
    for (const End& end : ends_) times_.push_back(end.at);
    for (const Plan& plan : plans_) times_.push_back(plan.end);
    std::sort(times_.begin(), times_.end());
    times_.erase(std::unique(times_.begin(), times_.end()), times_.end());
    // Without so many nodes with so much room there is no place.
    const Spread least = LeastSpread(o, row, facts);
    const std::vector<char>& nodes = NodesOf(facts);
    std::int32_t roomy = 0;
    const auto set_room = [&](std::size_t node, GpuCount room) {
      if (nodes[node] != 0 && room >= least.each) ++roomy;
      room_[node] = room;
    };
    room_.resize(sizes_.size());
    for (std::size_t n = 0; n < room_.size(); ++n) {
      set_room(n, placer_->free().free_gpus(static_cast<NodeIndex>(n)));
    }
    std::size_t ended = 0;
    for (const Seconds at : times_) {
      if (at > o.now + conf_.bf_window) return;
      for (; ended < ends_.size() && ends_[ended].at <= at; ++ended) {
        const std::size_t node = At(ends_[ended].node);
        if (nodes[node] != 0 && room_[node] >= least.each) --roomy;
        set_room(node, room_[node] + ends_[ended].gpus);
      }
      if (at <= o.now || roomy < least.nodes) continue;
      FindOpen(nodes, at, at + limit);
      if (!FindPlace(o, row, facts)) continue;
      const Seconds step = conf_.bf_resolution;
      plans_.push_back(
          {std::floor(at / step) * step, std::ceil((at + limit) / step) * step, place_});
      return;
    }
  }

  // No type needs fewer nodes, or fewer GPUs on one of them.
  Spread LeastSpread(const Observation& o, std::int32_t row, const JobFacts& facts) {
    const ConfigurationTable& table = *o.table[At(row)];
    Spread least{std::numeric_limits<std::int32_t>::max(), std::numeric_limits<GpuCount>::max()};
    for (const GpuTypeIndex type : table.types()) {
      const std::int32_t wanted = table.OnType(o.requested[At(row)], type);
      if (wanted < 0) continue;
      const Spread& spread = SpreadOf(*o.cluster, facts, type, table[wanted].demand.gpus);
      least.nodes = std::min(least.nodes, std::max(1, spread.nodes));
      least.each = std::min(least.each, std::max(1, spread.each));
    }
    return least;
  }

  // Nodes of allowed_ on which room_ holds the job, into place_.
  bool FindPlace(const Observation& o, std::int32_t row, const JobFacts& facts) {
    const ConfigurationTable& table = *o.table[At(row)];
    for (const GpuTypeIndex type : table.types()) {
      const std::int32_t wanted = table.OnType(o.requested[At(row)], type);
      if (wanted < 0) continue;
      GpuCount left = table[wanted].demand.gpus;
      const Spread& spread = SpreadOf(*o.cluster, facts, type, left);
      place_.clear();
      for (const NodeIndex node : node_order_) {
        if (left <= 0) break;
        if (o.cluster->nodes()[At(node)].type != type || allowed_[At(node)] == 0) continue;
        const GpuCount room = room_[At(node)];
        if (room == 0 || (spread.nodes > 0 && room < spread.each)) continue;
        place_.push_back(node);
        left -= spread.nodes > 0 ? spread.each : room;
      }
      if (left <= 0) return true;
    }
    return false;
  }

  PolicyInfo info_;
  SlurmConf conf_;
  SlurmAccounts accounts_given_;
  std::vector<SlurmQosRules> qos_;
  std::vector<std::string> not_kept_;
  double most_qos_ = 0;
  int most_factor_ = 0;
  SlurmChooser* chooser_ = nullptr;  // of placer_
  std::unique_ptr<JobPlacer> placer_;

  // Of the episode.
  std::vector<std::string> tenants_;
  std::function<Charge(JobIndex)> charge_of_;
  SlurmAccounts accounts_;
  GpuUsage usage_{kNever};
  std::unordered_map<JobIndex, JobFacts> facts_;
  std::unordered_map<JobIndex, double> billed_;  // a second
  std::vector<double> factors_;                  // fair shares, by association
  std::vector<GpuCount> sizes_;                  // of nodes, when they are up
  std::vector<NodeIndex> node_order_;
  std::vector<Partition> partitions_;
  std::vector<char> everywhere_;
  double calculated_ = -1;     // the last calc_period
  double last_backfill_ = -1;  // the last pass
  double last_full_ = -1;
  std::int64_t added_associations_ = 0;
  std::int64_t unknown_partitions_ = 0;
  std::int64_t without_room_ = 0;
  bool nodes_unknown_ = false;

  // Of the decision.
  std::map<std::tuple<int, GpuTypeIndex, GpuCount>, Spread> spreads_;
  std::vector<Grant> grants_;
  std::vector<char> kept_;   // by grant
  std::vector<char> stays_;  // by row: it runs, or is started
  std::vector<End> ends_;
  std::vector<Usage> by_association_;
  std::vector<Usage> by_account_;
  std::map<std::pair<int, std::string>, Usage> by_qos_;  // and user; "": all users
  std::vector<Candidate> waiting_;                       // in order
  std::vector<char> failed_;                             // by partition
  std::vector<char> open_nodes_;
  std::vector<char> allowed_;  // by node
  std::vector<Plan> plans_;
  std::map<std::int32_t, int> tested_of_user_;
  std::vector<Seconds> times_;
  std::vector<GpuCount> room_;  // by node
  std::vector<NodeIndex> place_;
};

PolicyInfo SlurmInfo() {
  PolicyInfo info;
  info.id = "slurm";
  info.summary = "Slurm with your slurm.conf: priorities, partitions, limits and backfill";
  info.source = "slurm.conf(5), slurm.schedmd.com/priority_multifactor.html, fair_tree.html";
  info.needs_lengths = true;
  info.time_driven = true;
  info.params = {
      FileParam({"conf", "", "slurm.conf; none: Slurm's defaults"}, FilesOfSlurmConf),
      FileParam({"accounts", "", "what 'sacctmgr dump CLUSTER file=FILE' writes: shares, limits"}),
      FileParam({"qos", "", "what 'sacctmgr --parsable2 show qos' prints: priorities, limits"}),
      FileParam({"usage", "", "what 'sshare --all --parsable2' prints: usage at the beginning"})};
  info.make = [info](const Params& params) -> std::unique_ptr<Policy> {
    const auto text_of = [&params](const char* name) {
      const std::string& path = params.Text(name);
      return path.empty() ? std::string() : std::any_cast<std::string>(params.Load("text", name));
    };
    SlurmConf conf;
    if (!params.Text("conf").empty()) {
      conf = ReadSlurmConf(params.Text("conf"), [&params](const std::string& path) {
        if (!params.loader()) (void)params.Load("text", "conf");  // refuses
        return std::any_cast<std::string>(params.loader()("text", path));
      });
    }
    SlurmAccounts accounts = ReadSlurmAccounts(text_of("accounts"), params.Text("accounts"));
    std::vector<std::string> not_kept = conf.not_kept;
    std::vector<SlurmQosRules> qos;
    if (!params.Text("qos").empty()) {
      qos = ReadSlurmQos(text_of("qos"), params.Text("qos"), &not_kept);
    }
    if (!params.Text("usage").empty()) {
      ReadSlurmUsage(text_of("usage"), params.Text("usage"), &accounts);
    }
    not_kept.insert(not_kept.end(), accounts.not_kept().begin(), accounts.not_kept().end());
    return std::make_unique<SlurmPolicy>(info, std::move(conf), std::move(accounts), std::move(qos),
                                         std::move(not_kept));
  };
  return info;
}

ALLOT_REGISTER(PolicyInfo, SlurmInfo());

}  // namespace
}  // namespace allot
