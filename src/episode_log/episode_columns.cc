#include "episode_log/episode_columns.h"

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/rng.h"

namespace allot {

namespace {

using Json = nlohmann::ordered_json;

Json TrainingJson(const TrainingRules& rules) {
  Json slowdowns = Json::object();
  for (const auto& [application, factor] : rules.slowdowns) slowdowns[application] = factor;
  return {{"stepped", rules.stepped},           {"whole_seconds", rules.whole_seconds},
          {"interference", rules.interference}, {"own_restart", rules.own_restart},
          {"first_start", rules.first_start},   {"free_moves", rules.free_moves},
          {"users_batch", rules.users_batch},   {"slowdowns", std::move(slowdowns)},
          {"slowdown", rules.slowdown}};
}

TrainingRules TrainingFromJson(const Json& json) {
  TrainingRules rules;
  if (json.is_null()) return rules;
  rules.stepped = json.at("stepped");
  rules.whole_seconds = json.at("whole_seconds");
  rules.interference = json.at("interference");
  rules.own_restart = json.at("own_restart");
  rules.first_start = json.at("first_start");
  rules.free_moves = json.at("free_moves");
  rules.users_batch = json.value("users_batch", false);
  for (const auto& [application, factor] : json.at("slowdowns").items()) {
    rules.slowdowns.emplace_back(application, factor.get<double>());
  }
  rules.slowdown = json.at("slowdown");
  return rules;
}

}  // namespace

std::string SimJson(const SimOptions& options) {
  Json node_events = Json::array();
  for (const NodeEvent& event : options.node_events) {
    node_events.push_back({event.time, event.node, event.up});
  }
  Json json{{"interval_s", options.interval},
            {"node_events", std::move(node_events)},
            {"restart_cost_s", options.restart_cost},
            {"launch_cost_s", options.launch_cost},
            {"decide_on_events", options.decide_on_events},
            {"charge_whole_intervals", options.charge_whole_intervals},
            {"whole_rounds", options.whole_rounds},
            {"most_failures", options.most_failures},
            {"busy_gaps", options.busy_gaps},
            {"speedup", options.speedup},
            {"length_estimates", options.lengths.ToString()},
            {"beliefs", options.beliefs},
            {"progress", options.progress},
            {"seed", options.seed}};
  // Written only if given; older logs lack them.
  if (!options.autoscale.empty()) json["autoscale"] = options.autoscale;
  if (!options.services.empty()) {
    json["services"] = options.services;
    json["lend"] = options.lend;
    json["recall_notice_s"] = options.recall_notice;
  }
  if (!options.failures.empty()) json["failures"] = options.failures;
  if (options.node_loss != SimOptions{}.node_loss) json["failure_mode"] = TextOf(options.node_loss);
  if (options.checkpoints != SimOptions{}.checkpoints) json["checkpoints"] = options.checkpoints;
  if (options.rules != nullptr) json["rules"] = options.rules->text();
  Json training = TrainingJson(options.training);
  if (training != TrainingJson({})) json["training"] = std::move(training);
  return json.dump();
}

SimOptions SimFromJson(const std::string& text, const std::string& where) {
  try {
    const Json json = Json::parse(text);
    SimOptions options;
    options.interval = json.at("interval_s");
    options.restart_cost = json.at("restart_cost_s");
    options.launch_cost = json.value("launch_cost_s", 0.0);
    options.decide_on_events = json.at("decide_on_events");
    options.charge_whole_intervals = json.value("charge_whole_intervals", false);
    options.whole_rounds = json.value("whole_rounds", false);
    options.most_failures = json.value("most_failures", 0);
    options.busy_gaps = json.value("busy_gaps", false);
    options.training = TrainingFromJson(json.value("training", Json()));
    options.speedup = json.value("speedup", 1.0);
    for (const Json& event : json.value("node_events", Json::array())) {
      options.node_events.push_back({event.at(0), event.at(1), event.at(2)});
    }
    if (const Json failures = json.value("failures", Json()); !failures.is_null()) {
      options.failures = failures;
    }
    options.node_loss = ParseNodeLoss(json.value("failure_mode", "requeue"));
    options.checkpoints = json.value("checkpoints", options.checkpoints);
    options.lengths = LengthEstimates::Parse(json.at("length_estimates").get<std::string>());
    options.beliefs = json.value("beliefs", options.beliefs);
    options.progress = json.value("progress", options.progress);
    options.services = json.value("services", options.services);
    options.lend = json.value("lend", options.lend);
    options.recall_notice = json.value("recall_notice_s", options.recall_notice);
    options.autoscale = json.value("autoscale", options.autoscale);
    if (const std::string rules = json.value("rules", std::string()); !rules.empty()) {
      options.rules = std::make_shared<const OperatorRules>(
          OperatorRules::Parse(rules, fmt::format("{}, 'rules'", where)));
    }
    options.seed = json.at("seed");
    return options;
  } catch (const Json::exception& error) {
    throw DataError("{}: the simulator's options cannot be read: {}", where, error.what());
  }
}

// ---- the workload as columns ----

void WorkloadColumns(const Workload& workload, ArrayMap* columns) {
  std::vector<std::string> id, model, tenant, user, group;
  std::vector<double> submit, duration, work, priority, deadline;
  std::vector<std::int32_t> gpus, min_gpus, max_gpus;
  std::vector<std::uint8_t> outcome;
  for (const Job& job : workload.jobs) {
    id.push_back(job.id);
    model.push_back(workload.models[job.model]);
    tenant.push_back(workload.tenants[job.tenant]);
    user.push_back(workload.users[job.user]);
    group.push_back(workload.groups[job.group]);
    submit.push_back(job.submit);
    duration.push_back(job.duration);
    work.push_back(job.work);
    priority.push_back(job.priority);
    deadline.push_back(job.deadline);
    gpus.push_back(job.gpus);
    min_gpus.push_back(job.min_gpus);
    max_gpus.push_back(job.max_gpus);
    outcome.push_back(static_cast<std::uint8_t>(job.outcome));
  }
  std::vector<std::uint64_t> id_hash;
  id_hash.reserve(id.size());
  for (const std::string& text : id) id_hash.push_back(StableHash(text));
  ArrayMap& out = *columns;
  out[kJobIdHash] = MakeColumn(std::move(id_hash));
  out["workload/job_id"] = MakeColumn(std::move(id));
  out["workload/model"] = MakeColumn(std::move(model));
  out["workload/tenant"] = MakeColumn(std::move(tenant));
  out["workload/user"] = MakeColumn(std::move(user));
  out["workload/group"] = MakeColumn(std::move(group));
  out["workload/submit"] = MakeColumn(std::move(submit), "s");
  out["workload/duration"] = MakeColumn(std::move(duration), "s");
  out["workload/work"] = MakeColumn(std::move(work));
  out["workload/priority"] = MakeColumn(std::move(priority));
  out["workload/deadline"] = MakeColumn(std::move(deadline), "s");
  out["workload/gpus"] = MakeColumn(std::move(gpus), "GPU");
  out["workload/min_gpus"] = MakeColumn(std::move(min_gpus), "GPU");
  out["workload/max_gpus"] = MakeColumn(std::move(max_gpus), "GPU");
  out["workload/outcome"] = MakeColumn(std::move(outcome));

  // Demands of jobs on GPUs and hosts, if any job has some.
  const auto asks = [&](auto member, auto none) {
    return std::any_of(workload.jobs.begin(), workload.jobs.end(),
                       [&](const Job& job) { return job.*member != none; });
  };
  const auto add = [&](const char* name, auto value_of) {
    std::vector<decltype(value_of(workload.jobs.front()))> values;
    for (const Job& job : workload.jobs) values.push_back(value_of(job));
    out[std::string("workload/") + name] = MakeColumn(std::move(values));
  };
  const auto type = [&](auto member) {
    return [&workload, member](const Job& job) -> std::string {
      return workload.gpu_types[job.*member];
    };
  };
  const auto memory = [](auto member) {
    return [member](const Job& job) -> double { return job.*member; };
  };
  if (asks(&Job::gpu_types, -1)) add("gpu_types", type(&Job::gpu_types));
  if (asks(&Job::duration_type, -1)) add("duration_type", type(&Job::duration_type));
  if (asks(&Job::gpu_memory_gb, 0.0F)) add("gpu_memory_gb", memory(&Job::gpu_memory_gb));
  if (asks(&Job::memory_gb, 0.0F)) add("memory_gb", memory(&Job::memory_gb));
  if (asks(&Job::cpus, 0.0F)) add("cpus", memory(&Job::cpus));
  if (asks(&Job::batch, 0.0F)) add("batch", memory(&Job::batch));
  if (asks(&Job::communication, Communication{})) {
    add("comm_share", [](const Job& job) { return double{job.communication.share}; });
    add("pattern",
        [](const Job& job) { return static_cast<std::uint8_t>(job.communication.pattern); });
  }
  if (asks(&Job::keeps_batch, false)) {
    add("keeps_batch", [](const Job& job) -> std::uint8_t { return job.keeps_batch ? 1 : 0; });
  }
}

namespace {

// All columns of the workload group must be equally long.
template <typename T>
std::vector<T> Column(const MinariReader& reader, std::int64_t episode, const std::string& name,
                      std::size_t rows) {
  std::vector<T> values = reader.ReadAs<T>(episode, "workload/" + name);
  if (values.size() != rows) {
    throw DataError("{}: episode {}: workload/{} must have {} rows, has {}", reader.path().string(),
                    episode, name, rows, values.size());
  }
  return values;
}

}  // namespace

Workload WorkloadFromColumns(const MinariReader& reader, std::int64_t episode,
                             const std::string& name, const std::string& origin) {
  Workload workload;
  workload.name = name;
  workload.origin = origin;
  const auto id = reader.ReadAs<std::string>(episode, "workload/job_id");
  const std::size_t rows = id.size();
  const auto model = Column<std::string>(reader, episode, "model", rows);
  const auto tenant = Column<std::string>(reader, episode, "tenant", rows);
  const auto user = Column<std::string>(reader, episode, "user", rows);
  // Older logs have no groups.
  const auto group = reader.Has(episode, "workload/group")
                         ? Column<std::string>(reader, episode, "group", rows)
                         : std::vector<std::string>(rows);
  // Present only if some job asks for it.
  const auto has = [&](const char* column) {
    return reader.Has(episode, std::string("workload/") + column);
  };
  const auto type_names = [&](const char* column) {
    return has(column) ? Column<std::string>(reader, episode, column, rows)
                       : std::vector<std::string>(rows);
  };
  const auto memory = [&](const char* column) {
    return has(column) ? Column<double>(reader, episode, column, rows) : std::vector<double>(rows);
  };
  const auto gpu_types = type_names("gpu_types");
  const auto duration_type = type_names("duration_type");
  const auto gpu_memory = memory("gpu_memory_gb");
  const auto host_memory = memory("memory_gb");
  const auto cpus = memory("cpus");
  const auto batch = memory("batch");
  const auto comm_share = memory("comm_share");
  const auto pattern = has("pattern") ? Column<std::uint8_t>(reader, episode, "pattern", rows)
                                      : std::vector<std::uint8_t>(rows, 0);
  const auto keeps_batch = has("keeps_batch")
                               ? Column<std::uint8_t>(reader, episode, "keeps_batch", rows)
                               : std::vector<std::uint8_t>(rows);
  const auto submit = Column<double>(reader, episode, "submit", rows);
  const auto duration = Column<double>(reader, episode, "duration", rows);
  const auto work = Column<double>(reader, episode, "work", rows);
  const auto priority = Column<double>(reader, episode, "priority", rows);
  const auto deadline = Column<double>(reader, episode, "deadline", rows);
  const auto gpus = Column<std::int32_t>(reader, episode, "gpus", rows);
  const auto min_gpus = Column<std::int32_t>(reader, episode, "min_gpus", rows);
  const auto max_gpus = Column<std::int32_t>(reader, episode, "max_gpus", rows);
  const auto outcome = Column<std::uint8_t>(reader, episode, "outcome", rows);
  for (std::size_t i = 0; i < rows; ++i) {
    Job job;
    job.id = id[i];
    job.model = workload.models.Intern(model[i]);
    job.tenant = workload.tenants.Intern(tenant[i]);
    job.user = workload.users.Intern(user[i]);
    job.group = workload.groups.Intern(group[i]);
    job.gpu_types = workload.gpu_types.Intern(gpu_types[i]);
    job.duration_type = workload.gpu_types.InternSmall(duration_type[i]);
    job.gpu_memory_gb = static_cast<float>(gpu_memory[i]);
    job.memory_gb = static_cast<float>(host_memory[i]);
    job.cpus = static_cast<float>(cpus[i]);
    job.batch = static_cast<float>(batch[i]);
    job.communication = {static_cast<float>(comm_share[i]), pattern[i] == 0
                                                                ? CommunicationPattern::kRing
                                                                : CommunicationPattern::kAllToAll};
    job.keeps_batch = keeps_batch[i] != 0;
    job.submit = submit[i];
    job.duration = duration[i];
    job.work = work[i];
    job.priority = priority[i];
    job.deadline = deadline[i];
    job.gpus = gpus[i];
    job.min_gpus = min_gpus[i];
    job.max_gpus = max_gpus[i];
    job.outcome =
        static_cast<Outcome>(std::min(outcome[i], static_cast<std::uint8_t>(Outcome::kPending)));
    workload.jobs.push_back(std::move(job));
  }
  workload.Finish();
  return workload;
}

// ---- the decisions as ragged columns ----

void DecisionColumns(const DecisionLog& log, ArrayMap* columns) {
  std::vector<std::int64_t> first_entry{0}, first_share{0};
  std::vector<std::int32_t> job, configuration, node;
  std::vector<std::int16_t> units;
  std::vector<std::uint64_t> gpus;
  std::vector<std::uint8_t> relaunch;
  std::vector<std::int32_t> partner;
  std::vector<float> time_share;
  std::vector<std::uint8_t> requested_batches;
  for (const Allocation& allocation : log.allocations) {
    requested_batches.push_back(allocation.requested_batches() ? 1 : 0);
    for (const Allocation::Entry& entry : allocation.entries()) {
      job.push_back(entry.job);
      partner.push_back(entry.partner);
      time_share.push_back(entry.share);
      configuration.push_back(entry.configuration);
      relaunch.push_back(entry.relaunch ? 1 : 0);
      for (const NodeShare& share : allocation.shares(entry)) {
        node.push_back(share.node);
        gpus.push_back(share.gpus);
        units.insert(units.end(), share.units.counts().begin(), share.units.counts().end());
      }
      first_share.push_back(static_cast<std::int64_t>(node.size()));
    }
    first_entry.push_back(static_cast<std::int64_t>(job.size()));
  }
  const std::size_t shares = node.size();
  ArrayMap& out = *columns;
  out["allocation/time"] = MakeColumn(log.times, "s");
  out["allocation/first_entry"] = MakeColumn(std::move(first_entry));
  out["allocation/job"] = MakeColumn(std::move(job));
  out["allocation/configuration"] = MakeColumn(std::move(configuration));
  out["allocation/relaunch"] = MakeColumn(std::move(relaunch));
  out["allocation/first_share"] = MakeColumn(std::move(first_share));
  out["allocation/node"] = MakeColumn(std::move(node));
  out["allocation/gpus"] = MakeColumn(std::move(gpus));
  out["allocation/units"] = MakeArray({shares, kMaxUnitKinds}, std::move(units));
  // Written only if some entry has one.
  if (std::any_of(partner.begin(), partner.end(), [](JobIndex p) { return p != kAlone; })) {
    out["allocation/partner"] = MakeColumn(std::move(partner));
  }
  if (std::any_of(time_share.begin(), time_share.end(), [](float share) { return share > 0; })) {
    out["allocation/share"] = MakeColumn(std::move(time_share), "1");
  }
  if (std::any_of(requested_batches.begin(), requested_batches.end(), [](int r) { return r; })) {
    out["allocation/requested_batches"] = MakeColumn(std::move(requested_batches));
  }
}

void RequireOffsets(const std::vector<std::int64_t>& offsets, std::size_t items, std::size_t total,
                    const std::string& where) {
  const bool whole = offsets.size() == items + 1 && offsets.front() == 0 &&
                     offsets.back() == static_cast<std::int64_t>(total) &&
                     std::is_sorted(offsets.begin(), offsets.end());
  if (!whole) {
    throw DataError("{} must be {} ascending offsets from 0 to {}, got {} of them", where,
                    items + 1, total, offsets.size());
  }
}

DecisionLog DecisionsFromColumns(const MinariReader& reader, std::int64_t episode) {
  DecisionLog log;
  log.times = reader.ReadAs<double>(episode, "allocation/time");
  const auto first_entry = reader.ReadAs<std::int64_t>(episode, "allocation/first_entry");
  const auto job = reader.ReadAs<std::int32_t>(episode, "allocation/job");
  const auto configuration = reader.ReadAs<std::int32_t>(episode, "allocation/configuration");
  const auto relaunch = reader.ReadAs<std::uint8_t>(episode, "allocation/relaunch");
  const auto first_share = reader.ReadAs<std::int64_t>(episode, "allocation/first_share");
  const auto node = reader.ReadAs<std::int32_t>(episode, "allocation/node");
  const auto gpus = reader.ReadAs<std::uint64_t>(episode, "allocation/gpus");
  const auto units = reader.ReadAs<std::int16_t>(episode, "allocation/units");
  const auto optional = [&]<typename T>(const char* name, T none) {
    return reader.Has(episode, name) ? reader.ReadAs<T>(episode, name)
                                     : std::vector<T>(job.size(), none);
  };
  const auto partner = optional("allocation/partner", kAlone);
  const auto time_share = optional("allocation/share", 0.0F);
  const auto requested = reader.Has(episode, "allocation/requested_batches")
                             ? reader.ReadAs<std::uint8_t>(episode, "allocation/requested_batches")
                             : std::vector<std::uint8_t>(log.times.size());
  const std::string where = fmt::format("{}: episode {}: ", reader.path().string(), episode);
  RequireOffsets(first_entry, log.times.size(), job.size(), where + "allocation/first_entry");
  RequireOffsets(first_share, job.size(), node.size(), where + "allocation/first_share");
  if (configuration.size() != job.size() || relaunch.size() != job.size() ||
      partner.size() != job.size() || time_share.size() != job.size() ||
      requested.size() != log.times.size() || gpus.size() != node.size() ||
      units.size() != node.size() * kMaxUnitKinds) {
    throw DataError(
        "{}the columns of a table must be equally long ({} jobs, {} configurations; {} nodes, {} "
        "GPU masks, {} units)",
        where, job.size(), configuration.size(), node.size(), gpus.size(), units.size());
  }
  std::vector<NodeShare> shares;
  for (std::size_t d = 0; d < log.times.size(); ++d) {
    Allocation allocation;
    if (requested[d] != 0) allocation.KeepRequestedBatches();
    for (auto e = static_cast<std::size_t>(first_entry[d]);
         e < static_cast<std::size_t>(first_entry[d + 1]); ++e) {
      shares.clear();
      for (auto s = static_cast<std::size_t>(first_share[e]);
           s < static_cast<std::size_t>(first_share[e + 1]); ++s) {
        NodeShare share;
        share.node = node[s];
        share.gpus = gpus[s];
        for (std::size_t k = 0; k < kMaxUnitKinds; ++k)
          share.units.Set(k, units[s * kMaxUnitKinds + k]);
        shares.push_back(share);
      }
      allocation.Add(job[e], configuration[e], shares, relaunch[e] != 0, partner[e]);
      allocation.SetShare(allocation.entries().size() - 1, time_share[e]);
    }
    log.allocations.push_back(std::move(allocation));
  }
  return log;
}

}  // namespace allot
