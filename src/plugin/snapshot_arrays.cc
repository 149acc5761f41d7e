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

const allot_snapshot& SnapshotArrays::Of(const Observation& o) {
  AddCluster(*o.cluster);
  const std::vector<std::int32_t>& table = tables_.Number(o.table);
  share_node_.resize(o.shares.size());
  share_units_.resize(kMaxUnitKinds * o.shares.size());
  share_gpus_.resize(o.shares.size());
  for (std::size_t i = 0; i < o.shares.size(); ++i) {
    share_node_[i] = o.shares[i].node;
    for (std::size_t k = 0; k < kMaxUnitKinds; ++k) {
      share_units_[kMaxUnitKinds * i + k] = o.shares[i].units.of(k);
    }
    share_gpus_[i] = o.shares[i].gpus;
  }
  allot_snapshot& s = snapshot_;
  s = {};
  s.struct_size = sizeof(allot_snapshot);
  s.type_count = static_cast<std::int32_t>(type_name_.size());
  s.decision = o.decision;
  s.now = o.now;
  s.interval = o.interval;
  s.node_count = static_cast<std::int32_t>(node_type_.size());
  s.type_name = type_name_.data();
  s.node_type = node_type_.data();
  s.node_gpus = node_gpus_.data();
  s.node_cpus = node_cpus_.data();
  tables_.PointTo(&s);
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
  s.table = table.data();
  return s;
}

}  // namespace allot
