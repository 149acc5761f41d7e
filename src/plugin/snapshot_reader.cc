#include "plugin/snapshot_reader.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "core/error.h"
#include "core/index.h"

namespace allot {
namespace {

// Limits keep every total within 32 bits (cluster/cluster_spec.cc has the same).
constexpr std::int32_t kMostNodes = 1'000'000;
constexpr std::int32_t kMostCpusPerNode = 2'000;
constexpr std::int32_t kMostTypes = std::numeric_limits<GpuTypeIndex>::max();
constexpr std::int32_t kCpusPerGpu = 8;
constexpr std::size_t kSizeOfVersion1 = offsetof(allot_snapshot, user_count);

void CheckRange(const char* what, std::int64_t value, std::int64_t low, std::int64_t high) {
  if (value < low || value > high) {
    throw DataError("'{}' must be {} to {}, got {}", what, low, high, value);
  }
}

template <typename T>
void CheckColumn(const char* what, const T* array, std::int32_t count) {
  if (array == nullptr && count > 0) throw UsageError("'{}' must not be NULL", what);
}

// Of an array of offsets: from 0 upward.
void CheckOffsets(const char* what, const std::int32_t* begin, std::int32_t count) {
  CheckColumn(what, begin, count);
  if (begin != nullptr && begin[0] != 0)
    throw DataError("'{}' must begin with 0, got {}", what, begin[0]);
  for (std::int32_t i = 0; i < count; ++i) {
    if (begin[i + 1] < begin[i]) {
      throw DataError("'{}' must not fall, got {} after {}", what, begin[i + 1], begin[i]);
    }
  }
}

// Copies an array of the host's into a column; `otherwise` where there is none.
template <typename T>
void Copy(const T* from, std::size_t count, T otherwise, std::vector<T>* column) {
  if (from == nullptr) {
    column->assign(count, otherwise);
  } else {
    column->assign(from, from + count);
  }
}

void CheckNumbers(const JobColumn<double>& column, const std::vector<double>& values) {
  const auto wrong = std::find_if_not(values.begin(), values.end(),
                                      [&](double value) { return Holds(column.rule, value); });
  if (wrong == values.end()) return;
  throw DataError("row {}: '{}' must be {}, got {}", wrong - values.begin(), column.name,
                  TextOf(column.rule), *wrong);
}

// Each column from the array of its name; where the C interface has none, or the host gives none,
// what is declared for it.
template <typename Arrays>
void CopyColumns(const Arrays& s, std::size_t rows, JobColumns* to) {
#define ALLOT_FIELD(type, name, absent, rule, unit, meaning)              \
  if constexpr (requires { std::vector<type>::const_pointer{s.name}; }) { \
    Copy(s.name, rows, static_cast<type>(absent), &to->name);             \
  } else {                                                                \
    to->name.assign(rows, absent);                                        \
  }
  ALLOT_JOB_COLUMNS(ALLOT_FIELD)
#undef ALLOT_FIELD
}

void CheckNew(const char* what, const char* const* from, std::int32_t count, std::size_t known) {
  if (from == nullptr) return;
  for (std::size_t i = known; i < At(count); ++i) {
    if (from[i] == nullptr) {
      throw UsageError("'{}' must name each of its {} numbers, {} is NULL", what, count, i);
    }
  }
}

// Takes over the names of numbers that are new.
void Append(const char* const* from, std::int32_t count, std::vector<std::string>* names) {
  if (from == nullptr) return;
  for (std::size_t i = names->size(); i < At(count); ++i) names->emplace_back(from[i]);
}

}  // namespace

Observation& SnapshotReader::Read(const allot_snapshot& given) {
  if (given.struct_size < kSizeOfVersion1) {
    throw UsageError("'struct_size' of a snapshot must be at least {}, got {}", kSizeOfVersion1,
                     given.struct_size);
  }
  // What a host of an earlier version does not have is NULL.
  allot_snapshot s{};
  std::memcpy(&s, &given, std::min<std::size_t>(given.struct_size, sizeof s));
  if (!std::isfinite(s.now)) throw DataError("'now' must be finite, got {}", s.now);
  if (!(s.interval > 0) || !std::isfinite(s.interval)) {
    throw DataError("'interval' must be > 0, got {}", s.interval);
  }
  o_.now = s.now;
  o_.interval = s.interval;
  o_.decision = s.decision;
  ReadCluster(s);
  ReadTables(s);
  ReadJobs(s);
  ReadShares(s);
  ReadRunning(s);
  ReadEnded(s);
  CheckNames(s);
  o_.user_names = s.user_name == nullptr ? nullptr : &user_names_;
  o_.group_names = s.group_name == nullptr ? nullptr : &group_names_;
  read_ = s;
  return o_;
}

void SnapshotReader::Forget() {
  user_names_.clear();
  group_names_.clear();
}

void SnapshotReader::ReadCluster(const allot_snapshot& s) {
  CheckRange("type_count", s.type_count, 1, kMostTypes);
  CheckRange("node_count", s.node_count, 1, kMostNodes);
  CheckColumn("type_name", s.type_name, s.type_count);
  CheckNew("type_name", s.type_name, s.type_count, 0);
  CheckColumn("node_gpus", s.node_gpus, s.node_count);
  cluster_ = {};
  const auto node = [&](std::int32_t n) {
    const GpuCount gpus = s.node_gpus[n];
    CheckRange("node_gpus", gpus, 0, kMaxGpusPerNode);
    return std::pair(s.node_type == nullptr ? 0 : s.node_type[n],
                     Resources{gpus, s.node_cpus == nullptr ? kCpusPerGpu * gpus : s.node_cpus[n]});
  };
  std::int32_t run = 0;
  for (std::int32_t n = 0; n < s.node_count; n += run) {
    const auto [type, capacity] = node(n);
    CheckRange("node_cpus", capacity.cpus, 0, kMostCpusPerNode);
    CheckRange("node_type", type, 0, s.type_count - 1);
    for (run = 1; n + run < s.node_count && node(n + run) == std::pair(type, capacity);) ++run;
    const auto types = static_cast<std::int32_t>(cluster_.types().size());
    if (type > types) {
      throw DataError(
          "GPU types are numbered by their first nodes: node {} is of type {}, none of "
          "type {}",
          n, type, types);
    }
    cluster_.AddNodes(run, capacity, s.type_name[type]);
    if (static_cast<std::int32_t>(cluster_.types().size()) < std::max(types, type + 1)) {
      throw DataError("GPU types have names of their own, '{}' is of two", s.type_name[type]);
    }
  }
  if (static_cast<std::int32_t>(cluster_.types().size()) < s.type_count) {
    throw DataError("'type_count' must be the {} types that nodes have, got {}",
                    cluster_.types().size(), s.type_count);
  }
  o_.cluster = &cluster_;
}

void SnapshotReader::ReadTables(const allot_snapshot& s) {
  CheckRange("table_count", s.table_count, 0, std::numeric_limits<std::int32_t>::max() / 2);
  CheckOffsets("configuration_begin", s.configuration_begin, s.table_count);
  CheckColumn("configuration_units", s.configuration_units, s.table_count);
  CheckColumn("configuration_rate", s.configuration_rate, s.table_count);
  CheckNew("table_name", s.table_name, s.table_count, 0);
  if (s.kind_name != nullptr) {
    CheckColumn("kind_gpus", s.kind_gpus, s.table_count);
    CheckColumn("kind_cpus", s.kind_cpus, s.table_count);
    CheckColumn("kind_price", s.kind_price, s.table_count);
  }
  table_ = &tables_.Read(s);
}

void SnapshotReader::ReadJobs(const allot_snapshot& s) {
  CheckRange("job_count", s.job_count, 0, ALLOT_MOST_JOBS);
  CheckColumn("job", s.job, s.job_count);
  CheckColumn("submit", s.submit, s.job_count);
  CheckColumn("table", s.table, s.job_count);
  CheckColumn("requested", s.requested, s.job_count);
  const std::size_t rows = At(s.job_count);
  CopyColumns(s, rows, &o_);
  for (const JobIndex job : o_.job) CheckRange("job", job, 0, ALLOT_MOST_JOBS - 1);
  by_number_ = o_.job;
  if (!std::is_sorted(by_number_.begin(), by_number_.end())) {
    std::sort(by_number_.begin(), by_number_.end());
  }
  const auto twice = std::adjacent_find(by_number_.begin(), by_number_.end());
  if (twice != by_number_.end()) throw DataError("each job once, 'job' has {} twice", *twice);

  const auto configuration = [&](const char* what, std::size_t row, std::int32_t index,
                                 std::int32_t least) {
    const std::int32_t size = o_.table[row]->size();
    if (index >= least && index < size) return;
    throw DataError("row {}: '{}' must be {} to {}, got {}", row, what, least, size - 1, index);
  };
  for (std::size_t row = 0; row < rows; ++row) {
    CheckRange("table", s.table[row], 0, s.table_count - 1);
    o_.table[row] = (*table_)[At(s.table[row])];
    configuration("requested", row, s.requested[row], 0);
    if (s.running != nullptr) configuration("running", row, s.running[row], -1);
  }
  CheckRange("user_count", s.user_count, 0, ALLOT_MOST_JOBS);
  CheckRange("group_count", s.group_count, 0, ALLOT_MOST_JOBS);
  for (std::size_t row = 0; row < rows; ++row) {
    CheckRange("user", o_.user[row], -1, s.user_count - 1);
    CheckRange("group", o_.group[row], -1, s.group_count - 1);
  }
  for (std::size_t row = 0; row < rows; ++row) {
    if (s.changes == nullptr) o_.changes[row] = UsualChanges(o_.running[row]);
    if (s.waiting_since == nullptr) {
      o_.waiting_since[row] = UsualWaitingSince(o_.running[row], o_.submit[row], s.now);
    }
  }
  ForEachJobColumn([this](const auto& column) {
    using T = typename std::remove_cvref_t<decltype(column)>::Value;
    if constexpr (std::is_same_v<T, double>) CheckNumbers(column, o_.*column.values);
  });
}

void SnapshotReader::ReadShares(const allot_snapshot& s) {
  o_.shares.clear();
  if (s.share_begin == nullptr) {
    o_.share_begin.assign(At(s.job_count) + 1, 0);
    return;
  }
  CheckOffsets("share_begin", s.share_begin, s.job_count);
  const std::int32_t shares = s.share_begin[s.job_count];
  CheckColumn("share_node", s.share_node, shares);
  CheckColumn("share_units", s.share_units, shares);
  CheckColumn("share_gpus", s.share_gpus, shares);
  o_.share_begin.assign(s.share_begin, s.share_begin + s.job_count + 1);
  for (std::size_t i = 0; i < At(shares); ++i) {
    CheckRange("share_node", s.share_node[i], 0, s.node_count - 1);
    NodeShare share{.node = s.share_node[i], .gpus = s.share_gpus[i]};
    for (std::size_t k = 0; k < kMaxUnitKinds; ++k) {
      const std::int32_t units = s.share_units[2 * i + k];
      CheckRange("share_units", units, 0, kMaxGpusPerJob);
      share.units.Set(k, units);
    }
    o_.shares.push_back(share);
  }
}

// The running jobs must add up; it is not checked whether their nodes still have room.
void SnapshotReader::ReadRunning(const allot_snapshot& s) {
  held_.assign(At(s.node_count), 0);
  row_on_.assign(At(s.node_count), -1);
  for (std::int32_t row = 0; row < o_.rows(); ++row) {
    const std::int32_t running = o_.running[At(row)];
    const ConfigurationTable& table = *o_.table[At(row)];
    std::int32_t units[kMaxUnitKinds] = {};
    for (const NodeShare& share : o_.shares_of(row)) {
      if (std::exchange(row_on_[At(share.node)], row) == row) {
        throw DataError("row {}: each node once, node {} is named twice", row, share.node);
      }
      const Resources demand = DemandOf(table.kinds(), share.units);
      if (std::popcount(share.gpus) != demand.gpus) {
        throw DataError("row {}: its units on node {} need {} GPUs, 'share_gpus' has {}", row,
                        share.node, demand.gpus, std::popcount(share.gpus));
      }
      if (const std::uint64_t taken = share.gpus & held_[At(share.node)]; taken != 0) {
        throw DataError("row {}: GPU {} of node {} is held by two jobs", row,
                        std::countr_zero(taken), share.node);
      }
      held_[At(share.node)] |= share.gpus;
      for (std::size_t k = 0; k < kMaxUnitKinds; ++k) units[k] += share.units.of(k);
    }
    for (std::size_t k = 0; k < std::size(units); ++k) {
      const std::int32_t wanted = running < 0 ? 0 : table[running].units.of(k);
      if (units[k] != wanted) {
        throw DataError("row {}: its shares must add up to {} units of kind {}, got {}", row,
                        wanted, k, units[k]);
      }
    }
  }
}

void SnapshotReader::ReadEnded(const allot_snapshot& s) {
  o_.events = {};
  tells_ended_ = s.ended != nullptr;
  if (!tells_ended_) return;
  CheckRange("ended_count", s.ended_count, 0, ALLOT_MOST_JOBS);
  for (std::int32_t i = 0; i < s.ended_count; ++i) {
    const allot_ended_job& given = s.ended[i];
    CheckRange("ended.job", given.job, 0, ALLOT_MOST_JOBS - 1);
    CheckRange("ended.requested_gpus", given.requested_gpus, 0, kMostNodes * kMaxGpusPerNode);
    CheckRange("ended.user", given.user, -1, s.user_count - 1);
    CheckRange("ended.group", given.group, -1, s.group_count - 1);
    EndedJob job;
#define ALLOT_FIELD(type, name, absent, rule, unit, meaning)                                     \
  if (job.name = given.name; !Holds(NumberRule::rule, static_cast<double>(job.name))) {          \
    throw DataError("ended job {}: '" #name "' must be {}, got {}", i, TextOf(NumberRule::rule), \
                    job.name);                                                                   \
  }
    ALLOT_ENDED_FIELDS(ALLOT_FIELD)
#undef ALLOT_FIELD
    o_.events.ended.push_back(job);
  }
}

void SnapshotReader::CheckNames(const allot_snapshot& s) const {
  CheckNew("user_name", s.user_name, s.user_count, user_names_.size());
  CheckNew("group_name", s.group_name, s.group_count, group_names_.size());
}

void SnapshotReader::KeepNames() {
  Append(read_.user_name, read_.user_count, &user_names_);
  Append(read_.group_name, read_.group_count, &group_names_);
}

}  // namespace allot
