#include "episode_log/observation_log.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <type_traits>
#include <utility>

#include "cluster/snapshot.h"
#include "core/error.h"
#include "core/index.h"
#include "core/json_text.h"
#include "episode_log/episode_columns.h"

namespace allot {
namespace {

// What the workload's jobs say.
bool IsOfWorkload(std::string_view column) { return column == "user" || column == "group"; }

std::size_t Size(std::int64_t value) { return static_cast<std::size_t>(value); }

}  // namespace

template <typename F>
void ObservationLog::ForEachColumn(const F& visit) {
  ForEachJobColumn([&](const auto& column) {
    using T = typename std::remove_cvref_t<decltype(column)>::Value;
    const std::string_view name = column.name;
    if constexpr (std::is_arithmetic_v<T>) {  // tables are stored by number
      if (!IsOfWorkload(name)) visit(column);
    }
  });
}

// A running job gets a new table when a rate is measured, so addresses do not identify tables.
std::int32_t ObservationLog::TableOf(const ConfigurationTable& table) {
  const auto [known, is_new] =
      by_fingerprint_.try_emplace(table.fingerprint(), static_cast<std::int32_t>(tables_.size()));
  if (is_new) tables_.push_back(table);
  return known->second;
}

void ObservationLog::Add(const Observation& o) {
  for (std::int32_t row = 0; row < o.rows(); ++row) {
    table_.push_back(TableOf(*o.table[At(row)]));
    for (const NodeShare& share : o.shares_of(row)) {
      node_.push_back(share.node);
      gpus_.push_back(share.gpus);
      units_.insert(units_.end(), share.units.counts().begin(), share.units.counts().end());
    }
    first_share_.push_back(static_cast<std::int64_t>(node_.size()));
  }
  ForEachColumn([&](const auto& column) {
    const auto& values = o.*column.values;
    auto& all = rows_.*column.values;
    all.insert(all.end(), values.begin(), values.end());
  });
  first_row_.push_back(static_cast<std::int64_t>(table_.size()));
  if (first_ended_.empty()) first_ended_.push_back(0);
  ended_.insert(ended_.end(), o.events.ended.begin(), o.events.ended.end());
  first_ended_.push_back(static_cast<std::int64_t>(ended_.size()));

  const std::vector<Node>& nodes = o.cluster->nodes();
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    if (nodes[n].capacity == Resources{}) down_.push_back(static_cast<std::int32_t>(n));
  }
  first_down_.push_back(static_cast<std::int64_t>(down_.size()));
  nodes_.push_back(static_cast<std::int32_t>(nodes.size()));
}

void ObservationLog::Renumber(std::span<const std::int32_t> row_of) {
  for (JobIndex& job : rows_.job) job = row_of[At(job)];
  for (EndedJob& ended : ended_) ended.job = row_of[At(ended.job)];
}

void ObservationLog::AddColumns(ArrayMap* columns) const {
  ArrayMap& out = *columns;
  ForEachColumn([&](const auto& column) {
    out[std::string("seen/") + column.name] = MakeColumn(rows_.*column.values);
  });
  out["seen/table"] = MakeColumn(table_);
  out["seen/first_ended"] = MakeColumn(first_ended_);
  ForEachEndedField([&](const auto& field) {
    using T = typename std::remove_cvref_t<decltype(field)>::Value;
    if (IsOfWorkload(field.name)) return;
    std::vector<T> values;
    for (const EndedJob& ended : ended_) values.push_back(ended.*field.value);
    out[std::string("seen/ended_") + field.name] = MakeColumn(std::move(values));
  });
  out["seen/first_row"] = MakeColumn(first_row_);
  out["seen/nodes"] = MakeColumn(nodes_);
  out["seen/first_down"] = MakeColumn(first_down_);
  out["seen/down"] = MakeColumn(down_);
  out["seen/first_share"] = MakeColumn(first_share_);
  out["seen/node"] = MakeColumn(node_);
  out["seen/gpus"] = MakeColumn(gpus_);
  out["seen/units"] = MakeArray({node_.size(), kMaxUnitKinds}, units_);
  std::vector<std::string> tables;
  for (const ConfigurationTable& table : tables_) tables.push_back(JsonText(TableJson(table), -1));
  out["seen/tables"] = MakeColumn(std::move(tables));
}

ObservationLog ObservationLog::Read(const MinariReader& reader, std::int64_t episode,
                                    std::size_t jobs, const ClusterSpec& cluster) {
  ObservationLog log;
  const std::size_t nodes = cluster.nodes().size();
  const std::string where = fmt::format("{}: episode {}: seen/", reader.path().string(), episode);
  log.nodes_ = reader.ReadAs<std::int32_t>(episode, "seen/nodes");
  log.first_row_ = reader.ReadAs<std::int64_t>(episode, "seen/first_row");
  log.first_down_ = reader.ReadAs<std::int64_t>(episode, "seen/first_down");
  log.down_ = reader.ReadAs<std::int32_t>(episode, "seen/down");
  log.first_share_ = reader.ReadAs<std::int64_t>(episode, "seen/first_share");
  log.node_ = reader.ReadAs<std::int32_t>(episode, "seen/node");
  log.gpus_ = reader.ReadAs<std::uint64_t>(episode, "seen/gpus");
  log.units_ = reader.ReadAs<std::int16_t>(episode, "seen/units");
  log.table_ = reader.ReadAs<std::int32_t>(episode, "seen/table");
  const std::size_t rows = log.table_.size();
  ForEachColumn([&](const auto& column) {
    using T = typename std::remove_cvref_t<decltype(column)>::Value;
    std::vector<T>& values = log.rows_.*column.values;
    values = reader.ReadAs<T>(episode, std::string("seen/") + column.name);
    if (values.size() == rows) return;
    throw DataError("{}{} must have a value a row ({}), has {}", where, column.name, rows,
                    values.size());
  });
  RequireOffsets(log.first_row_, log.nodes_.size(), rows, where + "first_row");
  RequireOffsets(log.first_down_, log.nodes_.size(), log.down_.size(), where + "first_down");
  RequireOffsets(log.first_share_, rows, log.node_.size(), where + "first_share");
  if (log.gpus_.size() != log.node_.size() ||
      log.units_.size() != log.node_.size() * kMaxUnitKinds) {
    throw DataError("{}gpus and units must have a value a share ({}), have {} and {}", where,
                    log.node_.size(), log.gpus_.size(), log.units_.size());
  }
  const auto require = [&where](const char* name, std::int64_t value, std::int64_t least,
                                std::size_t end) {
    if (value >= least && value < static_cast<std::int64_t>(end)) return;
    throw DataError("{}{} must be {} to {}, got {}", where, name, least,
                    static_cast<std::int64_t>(end) - 1, value);
  };
  for (const std::string& text : reader.ReadAs<std::string>(episode, "seen/tables")) {
    try {
      log.tables_.push_back(
          TableFromJson(nlohmann::ordered_json::parse(text), cluster.types().size()));
    } catch (const std::exception& error) {
      throw DataError("{}tables: {}", where, error.what());
    }
  }
  for (std::size_t row = 0; row < rows; ++row) {
    require("job", log.rows_.job[row], 0, jobs);
    require("table", log.table_[row], 0, log.tables_.size());
    const auto size = At(log.tables_[At(log.table_[row])].size());
    require("requested", log.rows_.requested[row], 0, size);
    require("running", log.rows_.running[row], -1, size);
  }
  if (reader.Has(episode, "seen/first_ended")) {
    log.first_ended_ = reader.ReadAs<std::int64_t>(episode, "seen/first_ended");
    log.ended_.resize(log.first_ended_.empty() ? 0 : Size(log.first_ended_.back()));
    RequireOffsets(log.first_ended_, log.nodes_.size(), log.ended_.size(), where + "first_ended");
    ForEachEndedField([&](const auto& field) {
      using T = typename std::remove_cvref_t<decltype(field)>::Value;
      if (IsOfWorkload(field.name)) return;
      const auto values = reader.ReadAs<T>(episode, std::string("seen/ended_") + field.name);
      if (values.size() != log.ended_.size()) {
        throw DataError("{}ended_{} must have a value a job ({}), has {}", where, field.name,
                        log.ended_.size(), values.size());
      }
      for (std::size_t e = 0; e < values.size(); ++e) {
        if (!Holds(field.rule, static_cast<double>(values[e]))) {
          throw DataError("{}ended_{} must be {}, got {}", where, field.name, TextOf(field.rule),
                          values[e]);
        }
        log.ended_[e].*field.value = values[e];
      }
    });
    for (const EndedJob& ended : log.ended_) require("ended_job", ended.job, -1, jobs);
  }
  for (const std::int32_t node : log.node_) require("node", node, 0, nodes);
  for (const std::int32_t node : log.down_) require("down", node, 0, nodes);
  for (const std::int32_t known : log.nodes_) require("nodes", known, 1, nodes + 1);
  return log;
}

void ObservationLog::Fill(std::size_t decision, const Workload& workload,
                          const ClusterSpec& nominal, ClusterSpec* cluster,
                          Observation* observation) const {
  Observation& o = *observation;
  o.decision = static_cast<std::int64_t>(decision);
  const std::size_t begin = Size(first_row_[decision]);
  const std::size_t end = Size(first_row_[decision + 1]);
  o.ClearJobs();
  ForEachColumn([&](const auto& column) {
    const auto first = (rows_.*column.values).begin();
    (o.*column.values)
        .assign(first + static_cast<std::ptrdiff_t>(begin),
                first + static_cast<std::ptrdiff_t>(end));
  });
  for (const JobIndex job : o.job) {
    o.user.push_back(workload.jobs[At(job)].user);
    o.group.push_back(workload.jobs[At(job)].group);
  }
  o.user_names = &workload.users.names();
  o.group_names = &workload.groups.names();
  for (std::size_t row = begin; row < end; ++row) {
    o.table.push_back(&tables_[At(table_[row])]);
    for (std::size_t s = Size(first_share_[row]); s < Size(first_share_[row + 1]); ++s) {
      NodeShare share;
      share.node = node_[s];
      share.gpus = gpus_[s];
      for (std::size_t k = 0; k < kMaxUnitKinds; ++k)
        share.units.Set(k, units_[s * kMaxUnitKinds + k]);
      o.shares.push_back(share);
    }
    o.share_begin.push_back(static_cast<std::int32_t>(o.shares.size()));
  }
  o.events = {};
  if (tells_ended()) {
    for (std::size_t e = Size(first_ended_[decision]); e < Size(first_ended_[decision + 1]); ++e) {
      EndedJob& ended = o.events.ended.emplace_back(ended_[e]);
      if (ended.job < 0) continue;
      ended.user = workload.jobs[At(ended.job)].user;
      ended.group = workload.jobs[At(ended.job)].group;
    }
  }
  *cluster = nominal;
  for (std::size_t d = Size(first_down_[decision]); d < Size(first_down_[decision + 1]); ++d) {
    cluster->SetCapacity(down_[d], {});
  }
  for (std::size_t n = At(nodes_[decision]); n < nominal.nodes().size(); ++n) {
    cluster->SetCapacity(static_cast<NodeIndex>(n), {});  // this node came later
  }
  o.cluster = cluster;
}

const ConfigurationTable* ObservationLog::TableAt(std::size_t decision, JobIndex job) const {
  const auto begin = rows_.job.begin() + first_row_[decision];
  const auto end = rows_.job.begin() + first_row_[decision + 1];
  const auto row = std::lower_bound(begin, end, job);
  if (row == end || *row != job) return nullptr;
  return &tables_[At(table_[Size(row - rows_.job.begin())])];
}

}  // namespace allot
