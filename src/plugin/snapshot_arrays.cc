#include "plugin/snapshot_arrays.h"

#include <algorithm>

namespace allot {
namespace {

void Clear(auto&... columns) { (columns.clear(), ...); }

// How many numbers there are.
std::int32_t CountOf(const std::vector<std::string>* names, const std::vector<std::int32_t>& used) {
  if (names != nullptr) return static_cast<std::int32_t>(names->size());
  return used.empty() ? 0 : 1 + *std::max_element(used.begin(), used.end());
}

// Every column that the C interface has an array for, under its name.
template <typename Arrays>
void PointToColumns(const Observation& o, Arrays* arrays) {
#define ALLOT_FIELD(type, name, absent, rule, unit, meaning) \
  if constexpr (requires { arrays->name = o.name.data(); }) arrays->name = o.name.data();
  ALLOT_JOB_COLUMNS(ALLOT_FIELD)
#undef ALLOT_FIELD
}

allot_ended_job EndedOf(const EndedJob& job) {
  allot_ended_job ended{};
#define ALLOT_FIELD(type, name, absent, rule, unit, meaning) ended.name = job.name;
  ALLOT_ENDED_FIELDS(ALLOT_FIELD)
#undef ALLOT_FIELD
  return ended;
}

}  // namespace

const char* const* SnapshotArrays::NameList::Of(const std::vector<std::string>* names) {
  if (names == nullptr) return nullptr;
  if (names->data() != first_ || names->size() != list_.size()) {
    first_ = names->data();
    list_.clear();
    for (const std::string& name : *names) list_.push_back(name.c_str());
  }
  return list_.data();
}

void SnapshotArrays::AddCluster(const ClusterSpec& cluster) {
  Clear(type_name_, node_type_, node_gpus_, node_cpus_);
  for (const std::string& type : cluster.types()) type_name_.push_back(type.c_str());
  for (const Node& node : cluster.nodes()) {
    node_type_.push_back(node.type);
    node_gpus_.push_back(node.capacity.gpus);
    node_cpus_.push_back(node.capacity.cpus);
  }
}

void SnapshotArrays::AddTable(const ConfigurationTable& table) {
  table_name_.push_back(table.name().c_str());
  table_kinds_.push_back(static_cast<std::int32_t>(table.kinds().size()));
  for (std::size_t k = 0; k < kMaxUnitKinds; ++k) {
    const bool has = k < table.kinds().size();
    kind_name_.push_back(has ? table.kinds()[k].name.c_str() : "");
    kind_gpus_.push_back(has ? table.kinds()[k].demand.gpus : 0);
    kind_cpus_.push_back(has ? table.kinds()[k].demand.cpus : 0);
    kind_price_.push_back(has ? table.kinds()[k].price : 0);
    table_most_units_.push_back(table.limits().of(k));
  }
  for (const Configuration& c : table.configurations()) {
    configuration_type_.push_back(c.gpu_type);
    configuration_units_.insert(configuration_units_.end(), c.units.counts().begin(),
                                c.units.counts().end());
    configuration_rate_.push_back(c.rate);
    configuration_least_nodes_.push_back(c.span.least);
    configuration_most_nodes_.push_back(c.span.most == Span::kAny ? 0 : c.span.most);
  }
  configuration_begin_.push_back(static_cast<std::int32_t>(configuration_rate_.size()));
}

const allot_snapshot& SnapshotArrays::Of(const Observation& o) {
  AddCluster(*o.cluster);
  Clear(table_name_, table_kinds_, kind_name_, kind_gpus_, kind_cpus_, kind_price_,
        table_most_units_, configuration_type_, configuration_units_, configuration_rate_,
        configuration_least_nodes_, configuration_most_nodes_);
  configuration_begin_.assign(1, 0);
  Clear(table_index_, table_);
  for (const ConfigurationTable* table : o.table) {
    const auto next = static_cast<std::int32_t>(table_index_.size());
    const auto [at, added] = table_index_.emplace(table, next);
    if (added) AddTable(*table);
    table_.push_back(at->second);
  }
  Clear(share_node_, share_units_, share_gpus_);
  for (const NodeShare& share : o.shares) {
    share_node_.push_back(share.node);
    share_units_.insert(share_units_.end(), share.units.counts().begin(),
                        share.units.counts().end());
    share_gpus_.push_back(share.gpus);
  }
  allot_snapshot& s = snapshot_;
  s = {};
  s.struct_size = sizeof(allot_snapshot);
  s.type_count = static_cast<std::int32_t>(type_name_.size());
  s.decision = o.decision;
  s.now = o.now;
  s.interval = o.interval;
  s.node_count = static_cast<std::int32_t>(node_type_.size());
  s.table_count = static_cast<std::int32_t>(table_kinds_.size());
  s.type_name = type_name_.data();
  s.node_type = node_type_.data();
  s.node_gpus = node_gpus_.data();
  s.node_cpus = node_cpus_.data();
  s.table_name = table_name_.data();
  s.table_kinds = table_kinds_.data();
  s.kind_name = kind_name_.data();
  s.kind_gpus = kind_gpus_.data();
  s.kind_cpus = kind_cpus_.data();
  s.kind_price = kind_price_.data();
  s.table_most_units = table_most_units_.data();
  s.configuration_begin = configuration_begin_.data();
  s.configuration_type = configuration_type_.data();
  s.configuration_units = configuration_units_.data();
  s.configuration_rate = configuration_rate_.data();
  s.configuration_least_nodes = configuration_least_nodes_.data();
  s.configuration_most_nodes = configuration_most_nodes_.data();
  s.job_count = o.rows();
  s.reserved = 0;
  s.share_begin = o.share_begin.data();
  s.share_node = share_node_.data();
  s.share_units = share_units_.data();
  s.share_gpus = share_gpus_.data();
  s.user_count = CountOf(o.user_names, o.user);
  s.group_count = CountOf(o.group_names, o.group);
  s.user_name = user_name_.Of(o.user_names);
  s.group_name = group_name_.Of(o.group_names);
  if (o.events.number > 0) {
    ended_.clear();
    ended_.reserve(o.events.ended.size() + 1);  // never NULL
    for (const EndedJob& job : o.events.ended) ended_.push_back(EndedOf(job));
    s.ended_count = static_cast<std::int32_t>(ended_.size());
    s.ended = ended_.data();
  }
  PointToColumns(o, &s);
  s.table = table_.data();
  return s;
}

}  // namespace allot
