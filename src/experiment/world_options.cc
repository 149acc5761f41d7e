#include "experiment/world_options.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <type_traits>

#include "cluster/topology_text.h"
#include "core/duration_text.h"
#include "core/error.h"
#include "core/named_files.h"
#include "core/strings.h"
#include "experiment/spec_list.h"
#include "experiment/world.h"
#include "perf/catalogue.h"
#include "sim/fault_law.h"
#include "sim/service_load.h"
#include "workload/arrival_law.h"
#include "workload/trace_reader.h"

namespace allot {
namespace {

using W = WorldSpec;

// Headings of the help.
constexpr const char* kWorkload = "Workload";
constexpr const char* kCluster = "Cluster";
constexpr const char* kRules = "Rules of the simulation";

std::vector<std::string> FilesOfWorkload(const std::string& workload) {
  return LawName(workload).empty() ? FilesOfTrace(workload) : std::vector<std::string>{};
}

// The catalogue is one file or folder, or two files of Gavel's joined by a comma.
std::vector<std::string> FilesOfCatalogue(const std::string& catalogue) {
  std::vector<std::string> files;
  if (Registry<CatalogueInfo>::Global().Find(catalogue) != nullptr) return files;
  for (const std::string_view file : Split(catalogue, ',')) {
    if (!file.empty()) files.emplace_back(file);
  }
  return files;
}

std::vector<std::string> FilesOfSettings(const std::string& settings) {
  std::vector<std::string> files;
  if (settings.empty()) return files;
  for (const std::string& spec : SplitSettings(settings)) {
    const auto named = FilesOfSpec<SettingInfo>(spec);
    files.insert(files.end(), named.begin(), named.end());
  }
  return files;
}

std::vector<std::string> FilesOfFailures(const std::string& failures) {
  return failures.empty() ? std::vector<std::string>{} : FilesOfSpec<FaultLawInfo>(failures);
}

std::vector<std::string> FilesOfServices(const std::string& services) {
  return services.empty() ? std::vector<std::string>{} : FilesOfSpec<ServiceLawInfo>(services);
}

[[noreturn]] void ThrowNotA(std::string_view what, const std::string& name,
                            const std::string& text) {
  throw UsageError("--{}: must be {}, got '{}'", name, what, text);
}

void Parse(const std::string& /*name*/, const std::string& text, std::string* value) {
  *value = text;
}

void Parse(const std::string& name, const std::string& text, bool* value) {
  if (text != "true" && text != "false") ThrowNotA("true or false", name, text);
  *value = text == "true";
}

void Parse(const std::string& name, const std::string& text, double* value) {
  const std::optional<double> number = ParseNumber(text);
  if (!number) ThrowNotA("a number", name, text);
  *value = *number;
}

void Parse(const std::string& name, const std::string& text, int* value) {
  const auto whole = ParseInteger(text);
  if (!whole || *whole < std::numeric_limits<int>::min() ||
      *whole > std::numeric_limits<int>::max()) {
    ThrowNotA("a whole number", name, text);
  }
  *value = static_cast<int>(*whole);
}

void Parse(const std::string& name, const std::string& text, std::uint64_t* value) {
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, *value);
  if (text.empty() || last != end || error != std::errc()) {
    throw UsageError("--{}: must be a whole number from 0 to {}, got '{}'", name,
                     std::numeric_limits<std::uint64_t>::max(), text);
  }
}

void Parse(const std::string& name, const std::string& text, std::vector<double>* value) {
  value->clear();
  for (const std::string_view part : Split(text, ',')) {
    Parse(name, std::string(Trim(part)), &value->emplace_back());
  }
}

template <typename T>
void Parse(const std::string& name, const std::string& text, std::optional<T>* value) {
  Parse(name, text, &value->emplace());
}

template <typename T>
void RequireRange(const WorldOption& option, const T& value) {
  if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
    if (!option.range) return;
    const auto [least, most] = *option.range;
    const auto number = static_cast<double>(value);
    if (number < least || number > most) {
      throw UsageError("--{}: must be from {} to {}, got {}", option.name, least, most, value);
    }
  }
}

void Set(const WorldOption& option, const std::string& given, WorldSpec* spec) {
  std::string text = given;
  if (option.duration) {
    const auto seconds = ParseDuration(given);
    if (!seconds) ThrowNotA(kDurationForms, option.name, given);
    text = fmt::format("{}", *seconds);
  }
  std::visit(
      [&](const auto member) {
        Parse(option.name, text, &(spec->*member));
        RequireRange(option, spec->*member);
      },
      option.value);
}

}  // namespace

const std::vector<WorldOption>& WorldOptionTable() {
  static const std::vector<WorldOption> table = {
      {.name = "workload",
       .value = &W::workload,
       .help = "trace file (csv, json, .gz), 'embedded': four weeks of Philly, or law:NAME",
       .show_default = true,
       .letter = "w",
       .topic = kWorkload,
       .files = FilesOfWorkload},
      {.name = "format",
       .value = &W::format,
       .help = "trace format, see 'allot list'",
       .show_default = true,
       .topic = kWorkload},
      {.name = "columns",
       .value = &W::columns,
       .help = "columns of any table: submit=COLUMN,gpus=COLUMN,...; 'allot trace inspect FILE' "
               "suggests them (docs/formats/workloads.md)",
       .topic = kWorkload},
      {.name = "model-map",
       .value = &W::model_map,
       .help = "names of models: theirs=ours,..., or a CSV file theirs,ours",
       .topic = kWorkload,
       .detail = true,
       .files = TheFile},
      {.name = "type-map",
       .value = &W::type_map,
       .help = "names of GPU types: theirs=ours,..., or a CSV file theirs,ours. Case, separators, "
               "vendor, memory and form are ignored: 'Tesla V100-SXM2-32GB' is a v100",
       .topic = kWorkload,
       .detail = true,
       .files = TheFile},
      {.name = "oversized",
       .value = &W::oversized,
       .help = "jobs that ask for more GPUs, host memory or CPUs than the cluster has: error, "
               "drop, or clip (fewer GPUs for a longer time). Those of laws are always dropped or "
               "clipped",
       .show_default = true,
       .topic = kWorkload,
       .detail = true},
      {.name = "lenient",
       .value = &W::lenient,
       .help = "drop and count malformed rows instead of stopping",
       .topic = kWorkload,
       .detail = true},
      {.name = "late-deadlines",
       .value = &W::late_deadlines,
       .help = "keep jobs that could not meet the deadline (SLO) of Gavel's traces even alone on "
               "their fastest GPUs, instead of stopping",
       .topic = kWorkload,
       .detail = true},
      {.name = "cluster",
       .value = &W::cluster,
       .help = "nodes x GPUs: 16x8, 6x4:v100,3x8:p100, or a file",
       .show_default = true,
       .letter = "c",
       .topic = kCluster,
       .files = TheFile},
      {.name = "topology",
       .value = &W::topology,
       .help = "where nodes lie in the network: leaf=16,pod=64 (nodes), or a file (Slurm, Kueue, "
               "KAI, node labels); jobs with a comm_share then run slower across leaves "
               "(docs/topology.md)",
       .topic = kCluster,
       .detail = true,
       .files = FilesOfTopology},
      {.name = "comm-share",
       .value = &W::comm_share,
       .help =
           "with --topology: part of an iteration in which jobs of 2 and more GPUs communicate, "
           "where the trace does not say",
       .range = {{0, 0.99}},
       .topic = kCluster,
       .detail = true},
      {.name = "slowness",
       .value = &W::slowness,
       .help =
           "CSV file with columns node,gpu,class,slowness: GPUs that are slower than the median "
           "one for a class of programs (docs/formats/cluster.md)",
       .topic = kCluster,
       .detail = true,
       .files = ThePath},
      {.name = "from",
       .value = &W::from,
       .help = "first submission used: date, 14d, or seconds",
       .topic = kWorkload,
       .detail = true},
      {.name = "to",
       .value = &W::to,
       .help = "submissions before this are used",
       .topic = kWorkload,
       .detail = true},
      {.name = "load",
       .value = &W::loads,
       .help = "keep a random part of the jobs, so that the workload offers this load (GPU time / "
               "capacity); several loads: one per workload, in turn",
       .topic = kWorkload},
      {.name = "span",
       .value = &W::span,
       .help = "length of one sampled workload; 0: the whole window as one",
       .show_default = true,
       .topic = kWorkload},
      {.name = "workloads",
       .value = &W::workloads,
       .help = "number of sampled workloads; they take the spans of the window in turn",
       .show_default = true,
       .range = {{1, 100000}},
       .topic = kWorkload},
      {.name = "rate",
       .value = &W::rate,
       .help = "jobs per hour of a workload made by a law (default: as in the law's trace)",
       .topic = kWorkload,
       .detail = true},
      {.name = "jobs",
       .value = &W::jobs,
       .help = "jobs of a workload made by a law",
       .default_text = fmt::format("{}", kLawJobs),
       .topic = kWorkload,
       .detail = true},
      {.name = "tail",
       .value = &W::tail,
       .help = "for laws: arrivals continue for so long after the last of --jobs",
       .default_text = "0",
       .topic = kWorkload,
       .detail = true},
      {.name = "seed",
       .value = &W::seed,
       .help = "seed of laws, samples, job models and length estimates",
       .show_default = true,
       .topic = kWorkload},
      {.name = "rigid",
       .value = &W::rigid,
       .help = "every job runs on exactly the GPUs that it asks for, even if it names a model",
       .topic = kWorkload},
      {.name = "elastic",
       .value = &W::elastic,
       .help =
           "draw a throughput model by --seed for each job that names none, which makes the job "
           "elastic (default for 'embedded' and laws); results report the number of such jobs",
       .topic = kWorkload},
      {.name = "catalogue",
       .value = &W::catalogue,
       .help =
           "CSV of the throughput of your models (docs/formats/catalogue.md), a folder of "
           "applications (docs/goodput.md), or a name of 'allot list catalogues', instead of the "
           "catalogue 'embedded'",
       .topic = kWorkload,
       .detail = true,
       .files = FilesOfCatalogue},
      {.name = "profile",
       .value = &W::profile,
       .help = "named set of simulator rules, see 'allot list'",
       .default_text = "default; event for traces in files, unless --interval is given",
       .topic = kRules},
      {.name = "interval",
       .value = &W::interval,
       .help =
           "time between decisions: seconds, or 5m, 1h. By default a trace of your own is decided "
           "at "
           "arrivals and completions, 'embedded' and laws every 300 s, settings by their own rules",
       .default_text = "the profile's",
       .duration = true,
       .topic = kRules},
      {.name = "restart-cost",
       .value = &W::restart_cost,
       .help = "progress lost by a change of allocation: seconds, or 2m",
       .duration = true,
       .topic = kRules},
      {.name = "launch-cost",
       .value = &W::launch_cost,
       .help = "progress lost by each launch of a job without GPUs: seconds, or 2m",
       .duration = true,
       .topic = kRules,
       .detail = true},
      {.name = "failures",
       .value = &W::failures,
       .help = "a law by which nodes fail and are repaired: exponential:between=30d,repair=2h, "
               "renewal:rate=5, spot:notice=2min, trace:file=FILE,nodes=N; see 'allot list faults'",
       .topic = kCluster,
       .detail = true,
       .files = FilesOfFailures},
      {.name = "failure-mode",
       .value = &W::failure_mode,
       .help = "what becomes of jobs on a node that fails: requeue (stopped), shrink (go on from "
               "the last checkpoint on the GPUs left), hot (the same without a loss)",
       .default_text = "requeue",
       .topic = kCluster,
       .detail = true},
      {.name = "checkpoints",
       .value = &W::checkpoints,
       .help = "how often jobs write checkpoints, and what one costs: fixed:every=1h,cost=2min, "
               "young-daly:cost=2min, none, continuous; see 'allot list checkpoints'",
       .default_text = "young-daly with --failures, else continuous",
       .topic = kCluster,
       .detail = true},
      {.name = "node-events",
       .value = &W::node_events,
       .help = "CSV of nodes that go down or up: time_s,node,event",
       .topic = kCluster,
       .detail = true,
       .files = ThePath},
      {.name = "services",
       .value = &W::services,
       .help = "services that share the cluster with jobs and lend them the nodes that they do not "
               "need: weekly, trace:file=FILE; see 'allot list services'",
       .topic = kCluster,
       .detail = true,
       .files = FilesOfServices},
      {.name = "lend",
       .value = &W::lend,
       .help = "how many GPUs services lend: margin:margin=0.1, level:quantile=0.99; see 'allot "
               "list lenders'",
       .default_text = "margin",
       .topic = kCluster,
       .detail = true},
      {.name = "recall-notice",
       .value = &W::recall_notice,
       .help = "time between the recall of a lent node and its effect: seconds, or 10m",
       .default_text = "600",
       .duration = true,
       .topic = kCluster,
       .detail = true},
      {.name = "autoscale",
       .value = &W::autoscale,
       .help = "the number of nodes follows their use, out of those of --cluster: min=N,max=N,"
               "utility=LOW|HIGH; see 'allot list autoscalers'",
       .topic = kCluster,
       .detail = true},
      {.name = "node-price",
       .value = &W::node_price,
       .help = "price of a node for an hour: results then have node hours and cost",
       .range = {{0, 1e9}},
       .topic = kCluster,
       .detail = true},
      {.name = "rules",
       .value = &W::rules,
       .help = "TOML file of the operator's rules on sizes and changes of jobs, as for 'allot "
               "serve' (docs/rules.md)",
       .topic = kRules,
       .files = ThePath},
      {.name = "speedup",
       .value = &W::speedup,
       .help = "factor on the speed of all jobs, hidden from policies",
       .show_default = true,
       .range = {{1e-6, 1e6}},
       .topic = kRules,
       .detail = true},
      {.name = "length-estimates",
       .value = &W::lengths,
       .help =
           "job lengths that policies get: none, user (what the trace's users stated, like time "
           "limits), noisy:SIGMA, true (oracle)",
       .default_text = "the profile's; noisy:0.5",
       .topic = kRules},
      {.name = "beliefs",
       .value = &W::beliefs,
       .help = "rates that policies see: exact, noisy:SIGMA, measured; see 'allot list beliefs'",
       .default_text = "exact",
       .topic = kRules,
       .detail = true},
      {.name = "progress",
       .value = &W::progress,
       .help = "how the true rates change while a job runs; see 'allot list progress'",
       .default_text = "constant",
       .topic = kRules,
       .detail = true},
      {.name = "setting",
       .value = &W::setting,
       .help =
           "named worlds, joined by commas, see 'allot list settings'. A setting fixes workload, "
           "cluster, load and rules: of the options above only --workloads and --seed may be "
           "added",
       .topic = kWorkload,
       .files = FilesOfSettings},
  };
  return table;
}

std::vector<std::string> FilesOfWorld(const WorldSpec& world) {
  std::vector<std::string> files;
  for (const WorldOption& option : WorldOptionTable()) {
    if (option.files == nullptr) continue;
    const auto named = option.files(world.*std::get<std::string WorldSpec::*>(option.value));
    files.insert(files.end(), named.begin(), named.end());
  }
  return files;
}

std::vector<std::string> ExcludedBy(const std::string& name) {
  std::vector<std::string> names;
  if (name == "elastic") return {"rigid"};
  if (name != "setting") return names;
  // A setting leaves these open; the reading of malformed rows does not matter to it.
  for (const WorldOption& option : WorldOptionTable()) {
    const std::string other = option.name;
    if (other != name && other != "workloads" && other != "seed" && other != "lenient") {
      names.push_back(other);
    }
  }
  return names;
}

WorldSpec WorldFromTexts(const std::map<std::string, std::string>& texts) {
  const std::vector<WorldOption>& table = WorldOptionTable();
  WorldSpec spec;
  for (const auto& given : texts) {
    const std::string& name = given.first;
    const std::string& text = given.second;
    const auto option = std::find_if(table.begin(), table.end(),
                                     [&](const WorldOption& each) { return name == each.name; });
    if (option == table.end()) {
      std::vector<std::string> known;
      known.reserve(table.size());
      for (const WorldOption& each : table) known.emplace_back(each.name);
      throw UsageError("a world has no option '{}'{}", name, DidYouMean(name, known));
    }
    Set(*option, text, &spec);
    for (const std::string& other : ExcludedBy(name)) {
      if (texts.contains(other)) {
        throw UsageError("--{} excludes --{}, got {} and {}", name, other, text, texts.at(other));
      }
    }
  }
  return spec;
}

}  // namespace allot
