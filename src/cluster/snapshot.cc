#include "cluster/snapshot.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>

#include "cluster/validate.h"
#include "core/error.h"
#include "core/file.h"
#include "core/index.h"
#include "core/user_json.h"

namespace allot {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;

Json Known(double value) { return std::isfinite(value) ? Json(value) : Json(); }

double Number(const Json& job, const char* key, double otherwise) {
  const auto found = job.find(key);
  return found == job.end() || found->is_null() ? otherwise : found->get<double>();
}

// The library would cut off what a number has too many of.
template <typename T>
T Whole(const Json& value, const char* what, T least = std::numeric_limits<T>::min(),
        T most = std::numeric_limits<T>::max()) {
  const auto number = value.get<double>();
  if (number >= static_cast<double>(least) && number <= static_cast<double>(most) &&
      number == std::floor(number)) {
    return value.get<T>();
  }
  throw DataError("'{}' must be a whole number from {} to {}, got {}", what, least, most,
                  value.dump());
}

template <typename T>
T WholeOr(const Json& json, const char* key, T otherwise, T least = std::numeric_limits<T>::min(),
          T most = std::numeric_limits<T>::max()) {
  const auto found = json.find(key);
  return found == json.end() ? otherwise : Whole<T>(*found, key, least, most);
}

std::vector<std::int16_t> UnitsOf(const Json& json) {
  std::vector<std::int16_t> units;
  for (const Json& one : json.at("units")) units.push_back(Whole<std::int16_t>(one, "units", 0));
  return units;
}

std::string Name(const Json& job, const char* key) {
  const auto found = job.find(key);
  return found == job.end() || found->is_null() ? std::string() : found->get<std::string>();
}

// Whoever has a number and no name is called by the number.
Json NameJson(std::int32_t index, const std::vector<std::string>* names) {
  if (index < 0) return Json();
  return names != nullptr && At(index) < names->size() ? Json((*names)[At(index)])
                                                       : Json(fmt::format("{}", index));
}

// Columns that are names in the JSON, not numbers.
bool IsName(std::string_view column) {
  return column == "job" || column == "user" || column == "group";
}

}  // namespace

Json TableJson(const ConfigurationTable& table) {
  Json kinds = Json::array();
  for (const UnitKind& kind : table.kinds()) {
    Json one = {{"name", kind.name},
                {"gpus", kind.demand.gpus},
                {"cpus", kind.demand.cpus},
                {"price", kind.price}};
    if (kind.demand.memory_mb > 0) one["memory_mb"] = kind.demand.memory_mb;
    kinds.push_back(std::move(one));
  }
  Json configurations = Json::array();
  for (const Configuration& c : table.configurations()) {
    Json one = {{"type", c.gpu_type}, {"units", c.units.counts()}, {"rate", c.rate}};
    if (!c.span.any()) one["nodes"] = TextOf(c.span);
    if (c.partner != kNoPartner) one["partner"] = table.partners()[At(c.partner)];
    const float spread = table.spread(static_cast<std::int32_t>(configurations.size()));
    if (spread > 0) one["spread"] = spread;
    configurations.push_back(std::move(one));
  }
  Json json = {{"name", table.name()},
               {"kinds", std::move(kinds)},
               {"most_units", table.limits().counts()},
               {"configurations", std::move(configurations)}};
  if (!(table.trusted() == ConfigurationTable::kNoLimits)) {
    json["trusted_units"] = table.trusted().counts();
  }
  return json;
}

ConfigurationTable TableFromJson(const Json& json, std::size_t types) {
  std::vector<UnitKind> kinds;
  for (const Json& kind : json.at("kinds")) {
    kinds.push_back({kind.at("name"),
                     {Whole<GpuCount>(kind.at("gpus"), "gpus", 0, kMaxGpusPerNode),
                      WholeOr<std::int32_t>(kind, "cpus", 0, 0, kMostCpusOfUnit),
                      WholeOr<std::int64_t>(kind, "memory_mb", 0, 0, kUnlimitedMemory)},
                     kind.value("price", 1.0)});
  }
  if (kinds.empty() || kinds.size() > kMaxUnitKinds) {
    throw DataError("'kinds' must be 1 to {}, got {}", kMaxUnitKinds, kinds.size());
  }
  std::vector<Configuration> configurations;
  std::vector<std::string> partners;
  std::unordered_set<ConfigurationKey> keys;
  std::unordered_map<ConfigurationKey, float> spread_of;
  for (const Json& one : json.at("configurations")) {
    Configuration c;
    c.gpu_type = WholeOr<GpuTypeIndex>(one, "type", 0);
    if (c.gpu_type < 0 || At(c.gpu_type) >= types) {
      throw DataError("'type' must be one of the cluster's {} GPU types, got {}", types,
                      c.gpu_type);
    }
    const std::vector<std::int16_t> units = UnitsOf(one);
    if (units.size() < kinds.size() || units.size() > kMaxUnitKinds) {
      throw DataError("'units' must have one number a kind ({}), got {}", kinds.size(),
                      units.size());
    }
    for (std::size_t k = 0; k < units.size(); ++k) {
      c.units.Set(k, units[k]);
      if (k >= kinds.size()) continue;
      c.demand += kinds[k].demand * units[k];
      c.cost += kinds[k].price * units[k];
    }
    c.span = ParseSpan(one.value("nodes", std::string("any")));
    if (const std::string partner = one.value("partner", std::string()); !partner.empty()) {
      const auto known = std::find(partners.begin(), partners.end(), partner);
      c.partner = static_cast<std::int16_t>(known - partners.begin());
      if (known == partners.end()) partners.push_back(partner);
    }
    if (!keys.insert(c.key()).second) {
      throw DataError("each configuration once, got {} units of type {} on {} nodes twice",
                      fmt::join(units, " and "), c.gpu_type, TextOf(c.span));
    }
    c.rate = one.at("rate");
    if (!(c.cost > 0) || !std::isfinite(c.rate)) {
      throw DataError("a configuration must cost something and have a finite rate, got {} and {}",
                      c.cost, c.rate);
    }
    if (one.contains("spread")) {
      const double spread = one.at("spread");
      if (!std::isfinite(spread) || spread < 0) {
        throw DataError("'spread' must be finite and >= 0, got {}", spread);
      }
      spread_of[c.key()] = static_cast<float>(spread);
    }
    configurations.push_back(c);
  }
  const bool progresses =
      std::any_of(configurations.begin(), configurations.end(),
                  [](const Configuration& c) { return c.rate > 0 && c.partner == kNoPartner; });
  if (!progresses) throw DataError("'configurations' must have one with 'rate' > 0");
  const auto most = json.value("most_units", ConfigurationTable::kNoLimits.counts());
  ConfigurationTable table(json.value("name", std::string("table")), std::move(kinds),
                           std::move(configurations), UnitCounts(most[0], most[1]),
                           std::move(partners));
  if (!json.contains("trusted_units") && spread_of.empty()) return table;
  const auto trusted = json.value("trusted_units", ConfigurationTable::kNoLimits.counts());
  std::vector<double> rates;
  std::vector<float> spreads;
  bool progresses_trusted = false;
  for (const Configuration& c : table.configurations()) {
    rates.push_back(c.rate);
    const auto spread = spread_of.find(c.key());
    spreads.push_back(spread == spread_of.end() ? 0 : spread->second);
    progresses_trusted = progresses_trusted || (c.rate > 0 && c.partner == kNoPartner &&
                                                c.units.FitsIn({trusted[0], trusted[1]}));
  }
  if (!progresses_trusted) {
    throw DataError("'trusted_units' must leave a configuration with 'rate' > 0, got {}",
                    fmt::join(trusted, " and "));
  }
  if (spread_of.empty()) spreads.clear();
  table.Renew(rates, {trusted[0], trusted[1]}, spreads);
  return table;
}

Json SharesJson(std::span<const NodeShare> shares) {
  Json all = Json::array();
  for (const NodeShare& share : shares) {
    Json gpus = Json::array();
    for (int gpu = 0; gpu < kMaxGpusPerNode; ++gpu) {
      if ((share.gpus >> gpu & 1) != 0) gpus.push_back(gpu);
    }
    all.push_back({{"node", share.node}, {"units", share.units.counts()}, {"gpus", gpus}});
  }
  return all;
}

std::vector<NodeShare> SharesFromJson(const Json& job, std::size_t nodes) {
  std::vector<NodeShare> shares;
  for (const Json& share : job.value("shares", Json::array())) {
    NodeShare placed;
    placed.node = Whole<NodeIndex>(share.at("node"), "node");
    if (placed.node < 0 || At(placed.node) >= nodes) {
      throw DataError("'node' must be one of {} nodes, got {}", nodes, placed.node);
    }
    const std::vector<std::int16_t> units = UnitsOf(share);
    for (std::size_t k = 0; k < std::min<std::size_t>(units.size(), kMaxUnitKinds); ++k) {
      placed.units.Set(k, units[k]);
    }
    for (const Json& gpu : share.at("gpus")) {
      placed.gpus |= std::uint64_t{1} << Whole<int>(gpu, "gpus", 0, kMaxGpusPerNode - 1);
    }
    shares.push_back(placed);
  }
  return shares;
}

namespace {

std::int32_t ConfigurationFromJson(const Json& job, const char* key,
                                   const ConfigurationTable& table, std::int32_t least) {
  const auto index = WholeOr<std::int32_t>(job, key, least);
  if (index < least || index >= table.size()) {
    throw DataError("'{}' must be one of {} configurations, got {}", key, table.size(), index);
  }
  return index;
}

void AddJob(const Json& job, Snapshot* snapshot) {
  Observation& o = snapshot->observation;
  const auto table_index = job.at("table").get<std::size_t>();
  if (table_index >= snapshot->tables.size()) {
    throw DataError("'table' must be one of {} tables, got {}", snapshot->tables.size(),
                    table_index);
  }
  const ConfigurationTable& table = snapshot->tables[table_index];
  JobRow row;
  ForEachJobColumn([&](const auto& column) {
    using T = typename std::remove_cvref_t<decltype(column)>::Value;
    if constexpr (std::is_floating_point_v<T>) {
      const double value = Number(job, column.name, column.absent);
      if (!Holds(column.rule, value)) {
        throw DataError("'{}' must be {}, got {}", column.name, TextOf(column.rule), value);
      }
      row.*column.value = value;
    } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      if (!IsName(column.name)) row.*column.value = WholeOr<T>(job, column.name, column.absent);
    } else if constexpr (std::is_arithmetic_v<T>) {
      if (!IsName(column.name)) row.*column.value = job.value(column.name, column.absent);
    }
  });
  snapshot->names.push_back(job.at("job"));
  row.job = o.rows();
  row.submit = job.at("submit");
  row.table = &table;
  row.requested = ConfigurationFromJson(job, "requested", table, 0);
  row.running = ConfigurationFromJson(job, "running", table, -1);
  row.changes = job.value("changes", UsualChanges(row.running));
  row.waiting_since =
      Number(job, "waiting_since", UsualWaitingSince(row.running, row.submit, o.now));
  row.user = snapshot->users.Intern(Name(job, "user"));
  row.group = snapshot->groups.Intern(Name(job, "group"));
  o.Append(row, SharesFromJson(job, snapshot->cluster.nodes().size()));
}

void AddEnded(const Json& job, Snapshot* snapshot) {
  EndedJob ended;
  ForEachEndedField([&](const auto& field) {
    using T = typename std::remove_cvref_t<decltype(field)>::Value;
    T& value = ended.*field.value;
    if constexpr (std::is_floating_point_v<T>) {
      value = Number(job, field.name, value);
      if (Holds(field.rule, value)) return;
      throw DataError("'{}' must be {}, got {}", field.name, TextOf(field.rule), value);
    } else if (!IsName(field.name)) {
      value = job.value(field.name, value);
    }
  });
  snapshot->ended_names.push_back(Name(job, "job"));
  ended.user = snapshot->users.Intern(Name(job, "user"));
  ended.group = snapshot->groups.Intern(Name(job, "group"));
  snapshot->observation.events.ended.push_back(ended);
}

// Without names of the jobs, which nobody asks for.
Json EndedJson(const Observation& o) {
  Json all = Json::array();
  for (const EndedJob& ended : o.events.ended) {
    Json job;
    ForEachEndedField([&](const auto& field) {
      using T = typename std::remove_cvref_t<decltype(field)>::Value;
      if constexpr (std::is_floating_point_v<T>) {
        job[field.name] = Known(ended.*field.value);
      } else if (!IsName(field.name)) {
        job[field.name] = ended.*field.value;
      }
    });
    job["user"] = NameJson(ended.user, o.user_names);
    job["group"] = NameJson(ended.group, o.group_names);
    all.push_back(std::move(job));
  }
  return all;
}

// Jobs name their partners, once all are known.
void ReadPartners(const Json& jobs, Snapshot* snapshot) {
  Observation& o = snapshot->observation;
  for (std::size_t row = 0; row < o.job.size(); ++row) {
    const std::string name = Name(jobs[row], "partner");
    if (name.empty()) continue;
    const auto found = std::find(snapshot->names.begin(), snapshot->names.end(), name);
    if (found == snapshot->names.end()) {
      throw DataError("'partner' must be one of the {} jobs, got '{}'", o.rows(), name);
    }
    if (o.partner.empty()) o.partner.assign(o.job.size(), kAlone);
    o.partner[row] = o.job[static_cast<std::size_t>(found - snapshot->names.begin())];
  }
}

// What runs must be a legal allocation.
void CheckRunning(const Observation& o) {
  Allocation running;
  for (std::int32_t row = 0; row < o.rows(); ++row) {
    if (o.running[At(row)] < 0) continue;
    running.Add(o.job[At(row)], o.running[At(row)], o.shares_of(row), false, o.partner_of(row));
  }
  // Checked as if it were given now: what a job holds already is taken to add up. A job may still
  // be on a node that is down.
  ClusterSpec cluster = *o.cluster;
  for (NodeIndex node = 0; At(node) < cluster.nodes().size(); ++node) {
    if (cluster.nodes()[At(node)].capacity.gpus > 0) continue;
    cluster.SetCapacity(node, {kMaxGpusPerNode, kMaxGpusPerNode * kMostCpusOfUnit});
  }
  Observation before = o;
  before.cluster = &cluster;
  before.running.assign(o.running.size(), -1);
  const Status status = ValidateAllocation(before, running);
  if (!status.ok()) throw DataError("what runs breaks a rule: {}", status.message());
}

}  // namespace

Json SnapshotJson(const Observation& o, const std::vector<std::string>& names) {
  std::map<const ConfigurationTable*, std::size_t> index;
  Json tables = Json::array();
  Json jobs = Json::array();
  for (std::int32_t row = 0; row < o.rows(); ++row) {
    const std::size_t r = At(row);
    if (index.emplace(o.table[r], tables.size()).second) tables.push_back(TableJson(*o.table[r]));
    Json job;
    ForEachJobColumn([&](const auto& column) {
      using T = typename std::remove_cvref_t<decltype(column)>::Value;
      Json& value = job[column.name];  // in the order of the columns
      if constexpr (std::is_floating_point_v<T>)
        value = Known((o.*column.values)[r]);
      else if constexpr (std::is_arithmetic_v<T>)
        value = (o.*column.values)[r];
    });
    job["job"] = names[r];
    job["table"] = index.at(o.table[r]);
    job["user"] = NameJson(o.user[r], o.user_names);
    job["group"] = NameJson(o.group[r], o.group_names);
    job["shares"] = SharesJson(o.shares_of(row));
    if (const JobIndex partner = o.partner_of(row); partner != kAlone) {
      const auto beside = std::find(o.job.begin(), o.job.end(), partner) - o.job.begin();
      if (beside < o.rows()) job["partner"] = names[static_cast<std::size_t>(beside)];
    }
    jobs.push_back(std::move(job));
  }
  Json snapshot = {{"snapshot", kVersion},
                   {"now", o.now},
                   {"interval", o.interval},
                   {"decision", o.decision},
                   {"cluster", o.cluster->ToString()},
                   {"tables", std::move(tables)},
                   {"jobs", std::move(jobs)}};
  if (!o.events.ended.empty()) snapshot["ended"] = EndedJson(o);
  return snapshot;
}

std::unique_ptr<Snapshot> ParseSnapshot(std::string_view text, const std::string& origin) {
  auto snapshot = std::make_unique<Snapshot>();
  std::string where = origin;
  try {
    if (const auto at = FindTooDeep(text)) {
      throw DataError("a snapshot nests at most {} deep, got more at byte {}", kDeepestJson, *at);
    }
    const Json json = Json::parse(text);
    if (json.value("snapshot", 0) != kVersion) {
      throw DataError("'snapshot' must be {}, got {}", kVersion, json.value("snapshot", 0));
    }
    snapshot->cluster = ClusterSpec::Parse(json.at("cluster").get<std::string>());
    Observation& o = snapshot->observation;
    o.cluster = &snapshot->cluster;
    o.user_names = &snapshot->users.names();
    o.group_names = &snapshot->groups.names();
    o.now = json.at("now");
    o.interval = json.at("interval");
    if (!(o.interval > 0)) throw DataError("'interval' must be > 0, got {}", o.interval);
    o.decision = json.value("decision", std::int64_t{0});
    o.ClearJobs();
    for (const Json& table : json.at("tables")) {
      where = fmt::format("{}: table {}", origin, snapshot->tables.size());
      snapshot->tables.push_back(TableFromJson(table, snapshot->cluster.types().size()));
    }
    for (const Json& job : json.at("jobs")) {
      where = fmt::format("{}: job {}", origin, o.rows());
      AddJob(job, snapshot.get());
    }
    where = origin + ": ended";
    snapshot->tells_ended = json.contains("ended");
    for (const Json& job : json.value("ended", Json::array())) AddEnded(job, snapshot.get());
    where = origin;
    ReadPartners(json.at("jobs"), snapshot.get());
    CheckRunning(o);
  } catch (const Json::exception& error) {
    throw DataError("{}: {}", where, error.what());
  } catch (const Error& error) {
    throw DataError("{}: {}", where, error.what());
  }
  return snapshot;
}

std::unique_ptr<Snapshot> ReadSnapshot(const std::string& path) {
  return ParseSnapshot(ReadTextFile(path), path);
}

}  // namespace allot
