#include "experiment/world.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/rng.h"
#include "experiment/spec_list.h"
#include "sim/profile.h"
#include "workload/arrival_law.h"
#include "workload/job_rules.h"
#include "workload/sample.h"

namespace allot {
namespace {

constexpr int kLawJobs = 1000;  // as long as --jobs does not say it

// A time of the workload as ParseWhen takes it.
std::string WhenText(const Workload& workload, Seconds time) {
  const auto origin = ParseCalendar(workload.origin);
  if (!origin) return fmt::format("{} s", time);
  return FormatCalendar(*origin + static_cast<std::int64_t>(std::floor(time)));
}

}  // namespace

void World::Declare(CommandLine& line) {
  line.Option("-w,--workload", workload_,
              "trace file (csv, json, .gz), 'embedded': four weeks of Philly, or law:NAME")
      .ShowDefault();
  line.Option("--format", format_, "trace format, see 'allot list'").ShowDefault();
  line.Flag("--lenient", lenient_, "drop and count malformed rows instead of stopping");
  line.Option("-c,--cluster", cluster_, "nodes x GPUs: 16x8, 6x4:v100,3x8:p100, or a file")
      .ShowDefault();
  line.Option("--from", from_, "first submission used: date, 14d, or seconds");
  line.Option("--to", to_, "submissions before this are used");
  line.Option("--load", loads_,
              "keep a random part of the jobs, so that the workload offers this load (GPU time / "
              "capacity); several loads: one per workload, in turn")
      .SplitAt(',');
  line.Option("--span", span_, "length of one sampled workload").ShowDefault();
  line.Option("--workloads", workloads_,
              "number of sampled workloads; they take the spans of the window in turn")
      .Range(1, 100000)
      .ShowDefault();
  line.Option("--rate", rate_,
              "jobs per hour of a workload made by a law (default: that of the law's trace)");
  line.Option("--jobs", jobs_, "jobs of a workload made by a law")
      .DefaultText(fmt::format("{}", kLawJobs));
  line.Option("--tail", tail_, "by a law: arrivals continue for this long after the last of --jobs")
      .DefaultText("0");
  line.Option("--seed", seed_, "seed of laws, samples, job models and length estimates")
      .ShowDefault();
  line.Flag("--rigid", rigid_,
            "keep jobs at their requested size (default: elastic, docs/formats/catalogue.md)");
  line.Option("--catalogue", catalogue_file_,
              "CSV of the throughput of your models (docs/formats/catalogue.md), instead of "
              "the catalogue that ships with allot");
  line.Option("--profile", profile_, "named set of simulator rules, see 'allot list'")
      .ShowDefault();
  line.Option("--interval", interval_, "seconds between decisions");
  line.Option("--restart-cost", restart_cost_,
              "seconds of progress lost by a change of allocation");
  line.Option("--launch-cost", launch_cost_,
              "seconds of progress lost by each launch of a job that holds no GPUs");
  line.Option("--failures", failures_,
              "nodes fail and are repaired at random: MEAN_BETWEEN:MEAN_REPAIR[:CHECKPOINTS], "
              "e.g. 30d:2h:1h");
  line.Option("--node-events", node_events_, "CSV of nodes that go down or up: time_s,node,event");
  line.Option("--speedup", speedup_, "factor on the speed of all jobs, hidden from policies")
      .Range(1e-6, 1e6)
      .ShowDefault();
  line.Option("--length-estimates", lengths_,
              "job lengths that policies get: none, noisy:SIGMA, true (oracle)")
      .DefaultText("of the profile; noisy:0.5");
  line.Option(
      "--setting", setting_specs_,
      "named worlds, joined by commas, see 'allot list settings'. A setting fixes workload, "
      "cluster, load and rules: of the options above only --workloads and --seed may be added");
  line.Exclude(
      "--setting",
      {"--workload",    "--format",    "--cluster",     "--from",     "--to",
       "--load",        "--span",      "--rate",        "--jobs",     "--tail",
       "--rigid",       "--catalogue", "--profile",     "--interval", "--restart-cost",
       "--launch-cost", "--failures",  "--node-events", "--speedup",  "--length-estimates"});
}

const std::vector<Setting>& World::settings() {
  if (settings_.empty() && in_settings()) {
    for (const std::string& spec : SplitSpecs(setting_specs_)) {
      settings_.push_back(MakeSetting(spec));
      if (settings_.back().profile != settings_.front().profile) {
        throw UsageError("settings must be of one profile, got {} ({}) and {} ({})",
                         settings_.front().name, settings_.front().profile, settings_.back().name,
                         settings_.back().profile);
      }
    }
  }
  return settings_;
}

bool World::made_by_law() const { return !LawName(workload_).empty(); }

Seconds World::tail() const { return tail_.empty() ? 0 : ParseWhen(Workload{}, tail_); }

std::shared_ptr<const Workload> World::MadeByLaw(std::uint64_t seed) const {
  if (seed == seed_ && trace_ != nullptr) return trace_;
  const auto& law = Registry<WorkloadLaw>::Global().Get("law", LawName(workload_));
  const double rate = RateOf(law, rate_);
  const LawLength length = {jobs_.value_or(kLawJobs), tail()};
  const auto make = [&] { return Generate(law, rate, seed, length); };
  if (workload_cache_ == nullptr) return std::make_shared<const Workload>(make());
  return workload_cache_->Share({law.id, rate, seed, length.jobs, length.tail}, make);
}

const Workload& World::trace() {
  if (trace_ != nullptr) return *trace_;
  if (made_by_law()) {
    trace_ = MadeByLaw(seed_);
    return *trace_;
  }
  const auto only_laws = [this](const char* option, const auto& value) {
    return UsageError("{} {} is for a workload made by a law (law:NAME), got --workload {}", option,
                      value, workload_);
  };
  if (rate_) throw only_laws("--rate", *rate_);
  if (jobs_) throw only_laws("--jobs", *jobs_);
  if (!tail_.empty()) throw only_laws("--tail", tail_);
  const auto read = [this](ReadReport* report) {
    return ReadTrace(workload_, format_, ReadOptions{.lenient = lenient_}, report);
  };
  if (workload_cache_ != nullptr) {
    trace_ = workload_cache_->Get({workload_, format_, lenient_}, read, &read_report_);
  } else {
    trace_ = std::make_shared<const Workload>(read(&read_report_));
  }
  return *trace_;
}

SimOptions World::sim() const {
  SimOptions options;
  Registry<ProfileInfo>::Global().Get("profile", profile_).apply(&options);
  if (interval_) options.interval = *interval_;
  if (restart_cost_) options.restart_cost = *restart_cost_;
  if (launch_cost_) options.launch_cost = *launch_cost_;
  options.speedup *= speedup_;
  if (!lengths_.empty()) options.lengths = LengthEstimates::Parse(lengths_);
  if (!failures_.empty()) options.failures = ParseNodeFailures(failures_);
  if (!node_events_.empty()) options.node_events = ReadNodeEvents(node_events_);
  options.seed = seed_;
  return options;
}

const ProfileInfo& World::Rules() {
  const std::string& name = in_settings() ? settings().front().profile : profile_;
  return Registry<ProfileInfo>::Global().Get("profile", name);
}

std::unique_ptr<Policy> World::MakePolicy(const std::string& spec) {
  return allot::MakePolicy(PolicySpecUnder(Rules(), spec));
}

std::string World::ComparedPolicies() {
  std::string policies;
  for (const char* name : {"fifo", "las", "srtf", "drf", "optimus"}) {
    policies += (policies.empty() ? "" : ",") + RepairedUnder(Rules(), name);
  }
  return policies;
}

// A trace that says how its jobs scale is left as it is.
bool World::elastic() {
  if (rigid_) return false;
  const auto& jobs = trace().jobs;
  return std::none_of(jobs.begin(), jobs.end(), [](const Job& job) {
    return job.model >= 0 || job.min_gpus > 0 || job.max_gpus > 0 || job.work > 0;
  });
}

// By the names of the options that were given.
void World::CheckWindow(const WindowOptions& window) {
  const Workload& all = trace();
  if (all.jobs.empty()) return;
  const Seconds first = all.jobs.front().submit;
  const Seconds last = all.jobs.back().submit;
  if (!to_.empty() && !from_.empty() && window.to <= window.from) {
    throw UsageError("--to must lie after --from, got {} and {}", to_, from_);
  }
  if (!to_.empty() && window.to <= first) {
    throw UsageError("--to must lie after the first submission of '{}', at {}, got {}", all.name,
                     WhenText(all, first), to_);
  }
  if (!from_.empty() && window.from > last && !made_by_law()) {
    throw UsageError("--from must not lie after the last submission of '{}', at {}, got {}",
                     all.name, WhenText(all, last), from_);
  }
}

const Catalogue& World::catalogue() {
  if (catalogue_file_.empty()) return Catalogue::Embedded();
  if (catalogue_ == nullptr) {
    catalogue_ = std::make_unique<const Catalogue>(Catalogue::FromFile(catalogue_file_));
  }
  return *catalogue_;
}

WindowOptions World::Window() {
  WindowOptions window;
  if (!from_.empty()) window.from = ParseWhen(trace(), from_);
  if (!to_.empty()) window.to = ParseWhen(trace(), to_);
  CheckWindow(window);
  for (const double load : loads_) {
    if (!(load > 0)) throw UsageError("--load must be > 0, got {}", load);
  }
  window.span = ParseWhen(trace(), span_);
  window.loads = loads_;
  window.elastic = elastic();
  window.elasticity.seed = seed_;
  window.catalogue = &catalogue();
  window.sim = sim();
  return window;
}

std::vector<World::Named> World::SettingScenarios() {
  std::vector<Named> scenarios;
  for (const Setting& setting : settings()) {
    for (int k = 0; k < workloads_; ++k) {
      const std::uint64_t seed = seed_ + static_cast<std::uint64_t>(k);
      Named named{setting.episodes(seed), 0, seed};
      named.load = OfferedLoad(named.scenario->workload(), named.scenario->cluster().total().gpus);
      scenarios.push_back(std::move(named));
    }
  }
  return scenarios;
}

EpisodeSource World::Episodes(const ClusterSpec& spec, WindowOptions window) {
  if (!made_by_law()) return WindowEpisodes(trace(), spec, std::move(window));
  return [this, spec, window = std::move(window)](std::uint64_t seed) {
    const std::shared_ptr<const Workload> made = MadeByLaw(seed);
    return WindowEpisodes(*made, spec, window)(seed);
  };
}

std::vector<World::Named> World::Scenarios() {
  if (in_settings()) return SettingScenarios();
  WindowOptions window = Window();
  window.weekly = true;
  window.first_seed = seed_;
  if (loads_.size() > static_cast<std::size_t>(workloads_)) {
    throw UsageError(
        "each of the {} values of --load ({}) needs a workload: --workloads must be at least {}, "
        "got {}",
        loads_.size(), fmt::join(loads_, ","), loads_.size(), workloads_);
  }
  if (loads_.empty()) {
    if (workloads_ > 1 && !made_by_law()) {
      throw UsageError(
          "--workloads {} needs --load: without it the workload is the whole window, once",
          workloads_);
    }
    window.loads = {0.0};
    window.span = made_by_law()
                      ? kLongestTime  // workloads of a law differ in length
                      : std::min(window.to, trace().jobs.back().submit + 1.0) - window.from;
  }
  const EpisodeSource source = Episodes(cluster(), window);
  std::vector<Named> scenarios;
  for (int k = 0; k < workloads_; ++k) {
    const std::uint64_t seed = seed_ + static_cast<std::uint64_t>(k);
    Named named{source(seed), 0, seed};
    named.load = OfferedLoad(named.scenario->workload(), cluster().total().gpus);
    scenarios.push_back(std::move(named));
  }
  return scenarios;
}

std::string World::OverloadHint(const std::vector<Named>& scenarios) const {
  double highest = 0;
  for (const Named& named : scenarios) highest = std::max(highest, named.load);
  if (in_settings() || !loads_.empty() || highest < 3) return "";
  return fmt::format(
      "note: the workload offers {:.1f} times what {} can serve, most jobs will only queue;\n"
      "      --load 1.0 takes a sub-sample that fits, --cluster gives more GPUs\n",
      highest, cluster_);
}

EpisodeSource World::TrainingEpisodes(const ClusterSpec& spec, Seconds span,
                                      std::vector<double> loads) {
  WindowOptions window = Window();
  window.span = span;
  window.loads = std::move(loads);
  return Episodes(spec, std::move(window));
}

nlohmann::ordered_json World::ToJson() {
  if (in_settings()) {
    return {{"setting", setting_specs_}, {"workloads", workloads_}, {"seed", seed_}};
  }
  const SimOptions options = sim();
  nlohmann::ordered_json json = {{"workload", workload_},
                                 {"format", format_},
                                 {"cluster", cluster_},
                                 {"from", from_},
                                 {"to", to_},
                                 {"span", span_},
                                 {"loads", loads_},
                                 {"workloads", workloads_},
                                 {"seed", seed_},
                                 {"elastic", elastic()},
                                 {"profile", profile_},
                                 {"interval_s", options.interval},
                                 {"restart_cost_s", options.restart_cost},
                                 {"decide_on_events", options.decide_on_events},
                                 {"speedup", options.speedup},
                                 {"length_estimates", options.lengths.ToString()}};
  // Only where they were given: worlds of before do not name them.
  if (!catalogue_file_.empty()) {
    json["catalogue"] = catalogue_file_;
    json["catalogue_fingerprint"] = fmt::format("{:016x}", StableHash(catalogue().csv()));
  }
  if (options.launch_cost > 0) json["launch_cost_s"] = options.launch_cost;
  if (made_by_law()) {
    json["rate"] = rate_ ? nlohmann::ordered_json(*rate_) : nlohmann::ordered_json();
    json["jobs"] = jobs_.value_or(kLawJobs);
    json["tail"] = tail_.empty() ? "0" : tail_;
  }
  return json;
}

std::string World::ReadNote() const { return allot::ReadNote(workload_, read_report_); }

std::string ReadNote(const std::string& path, const ReadReport& report) {
  if (report.drops.empty()) return "";
  std::string note =
      fmt::format("note: {} of {} records of '{}' left out\n", report.dropped(), report.rows, path);
  for (const DropCount& drop : report.drops) {
    note += fmt::format("      {:>8}  {} (first: {})\n", drop.rows, drop.reason, drop.example);
  }
  return note;
}

}  // namespace allot
