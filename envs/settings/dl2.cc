// DL2's world (Peng et al., TPDS 2021; its simulator's servers, job types, slots and arrivals), in
// sizes from idle to overloaded. Arrivals follow 75 slots of Google's cluster trace, cut at a most
// per slot; at another most than the simulator's own the pattern for 5 is stretched, fractions
// carried over. S and those that begin with M have every type's one length; V: times an exponential
// draw; E: as V, and schedulers get lengths that are up to 30 % wrong; U: they get the type's mean
// of a heavy-tailed length.

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <mutex>
#include <utility>

#include "core/error.h"
#include "core/rng.h"
#include "envs/setting.h"
#include "perf/dl2_job_types.h"
#include "perf/table_cache.h"
#include "sim/profile.h"

namespace allot {
namespace {

enum class Lengths { kOfType, kExponential, kUnknown };

struct Size {
  std::string_view name;
  int servers;
  int jobs;
  int most_per_slot;
  Seconds slot = 1200;
  double epochs = 30000;
  Lengths lengths = Lengths::kExponential;
  double estimate_error = 0;
};

constexpr std::array<Size, 15> kSizes = {{
    {"S", 6, 10, 5, 300, 1000, Lengths::kOfType},
    {"M96", 96, 60, 3, 1200, 30000, Lengths::kOfType},
    {"L500", 500, 200, 10, 1200, 30000, Lengths::kOfType},
    {"M32", 32, 60, 3, 1200, 30000, Lengths::kOfType},
    {"M16", 16, 60, 3, 1200, 30000, Lengths::kOfType},
    {"V24", 24, 120, 3},
    {"V24h", 24, 60, 1},
    {"V24x2", 24, 240, 6},
    {"V32", 32, 60, 3},
    {"V48", 48, 120, 3},
    {"V48x2", 48, 240, 6},
    {"V240", 240, 1200, 30},
    {"E24", 24, 120, 3, 1200, 30000, Lengths::kExponential, 0.3},
    {"U24", 24, 120, 3, 1200, 30000, Lengths::kUnknown},
    {"U24x2", 24, 240, 6, 1200, 30000, Lengths::kUnknown},
}};

const Size& SizeNamed(const std::string& name) {
  std::vector<std::string> names;
  for (const Size& size : kSizes) {
    if (size.name == name) return size;
    names.emplace_back(size.name);
  }
  throw UsageError("setting 'dl2': unknown size '{}'{}", name, DidYouMean(name, names));
}

// Arrivals per slot, a hexadecimal digit each, already cut.
struct Pattern {
  int most;
  std::string_view digits;
};
constexpr std::array<Pattern, 4> kPatterns = {{
    {1, "111111111010111111111001110000010111110000000101000011111111111101000101011"},
    {3, "233333332222333233333223332221222222331221222222212123333322223212122222232"},
    {5, "455455543343455455554334543332333433442332333333322244444444344324233433343"},
    {10, "6a878a976565789688887557975553564666774553554656534467777766667646454656576"},
}};

int ArrivalsIn(const Pattern& pattern, std::uint64_t slot) {
  const char digit = pattern.digits[slot % pattern.digits.size()];
  return digit >= 'a' ? digit - 'a' + 10 : digit - '0';
}

// Jobs per slot until `jobs` have come.
std::vector<int> DrawArrivals(const Size& size, Rng* rng) {
  const auto own = std::find_if(kPatterns.begin(), kPatterns.end(), [&](const Pattern& pattern) {
    return pattern.most == size.most_per_slot;
  });
  const Pattern& pattern = own == kPatterns.end() ? kPatterns[2] : *own;
  const double stretch = static_cast<double>(size.most_per_slot) / pattern.most;
  const std::uint64_t offset = rng->Below(5);
  std::vector<int> arrivals;
  double carried = 0;
  for (int left = size.jobs; left > 0; left -= arrivals.back()) {
    carried += stretch * ArrivalsIn(pattern, arrivals.size() + offset);
    const int come = std::min({left, size.most_per_slot, static_cast<int>(carried)});
    carried -= come;
    arrivals.push_back(come);
  }
  return arrivals;
}

struct Length {
  double epochs = 0;
  double estimate = 0;
};

Length DrawLength(const Size& size, const Dl2JobType& type, Rng* rng) {
  constexpr double kShape = 0.7;
  const double usual = std::floor(type.epochs * size.epochs);
  Length length{usual, usual};
  if (size.lengths == Lengths::kExponential) {
    length.epochs = length.estimate = usual * std::clamp(rng->Exponential(1), 0.02, 5.0);
  } else if (size.lengths == Lengths::kUnknown) {
    // Weibull of mean 1, by inversion.
    const double x = std::pow(rng->Exponential(1), 1 / kShape) / std::tgamma(1 + 1 / kShape);
    length.epochs = usual * std::clamp(x, 0.01, 8.0);
  }
  if (size.estimate_error > 0) {
    length.epochs *= 1 + size.estimate_error * rng->Uniform(-1, 1);
  }
  return length;
}

ClusterSpec ServersOf(const Size& size) {
  ClusterSpec cluster;
  cluster.AddNodes(size.servers, {.gpus = 8, .cpus = 8}, "gpu");
  return cluster;
}

// Tables are worked out once per setting and shared by its scenarios.
struct World {
  explicit World(const Size& s)
      : size(s), cluster(ServersOf(s)), tables(Dl2Catalogue(), cluster.type_specs()) {
    Registry<ProfileInfo>::Global().Get("profile", "dl2").apply(&options);
    options.interval = size.slot;
    for (const Dl2JobType& type : Dl2JobTypes()) {
      Job job;
      job.model = workload.models.Intern(type.model);
      job.max_gpus = kDl2MostUnits;
      job.min_gpus = 1;
      Scenario::JobFacts one;
      one.table = tables.TableFor(workload, job);
      one.requested = tables.RequestedOf(workload, job);
      facts.push_back(one);
    }
  }

  std::shared_ptr<const Scenario> Draw(std::uint64_t seed) const {
    Rng rng(seed, "dl2-setting");
    Workload drawn = workload;
    drawn.name = fmt::format("{}-seed{}", size.name, seed);
    std::vector<Scenario::JobFacts> drawn_facts;
    const std::vector<int> arrivals = DrawArrivals(size, &rng);
    for (std::size_t slot = 0; slot < arrivals.size(); ++slot) {
      for (int k = 0; k < arrivals[slot]; ++k) {
        const auto type = static_cast<std::size_t>(rng.Below(facts.size()));
        const Length length = DrawLength(size, Dl2JobTypes()[type], &rng);
        Scenario::JobFacts one = facts[type];
        one.work = length.epochs;
        one.estimate = length.estimate;
        Job job;
        job.id = std::to_string(drawn.jobs.size() + 1);
        job.submit = static_cast<double>(slot) * size.slot;
        job.gpus = job.min_gpus = 1;
        job.max_gpus = kDl2MostUnits;
        job.model = static_cast<std::int32_t>(type);
        job.work = length.epochs;
        job.duration = length.epochs / one.table->reference_rate();
        drawn.jobs.push_back(std::move(job));
        drawn_facts.push_back(std::move(one));
      }
    }
    drawn.Finish();
    return std::make_shared<const Scenario>(std::move(drawn), cluster, options,
                                            std::move(drawn_facts), Dl2Catalogue());
  }

  const Size& size;
  ClusterSpec cluster;
  SimOptions options;
  Workload workload;  // no jobs; the types' models, in their order
  TableCache tables;
  std::vector<Scenario::JobFacts> facts;  // by type
};

// Best over these sizes (bench/results/learning.md); training of networks that add to an index
// begins there.
constexpr const char* kBestInSlots = "index:alpha=0.12,beta=0.75,kappa=0,rank=0.25";

std::string SizeNames() {
  std::string names;
  for (const Size& size : kSizes)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", size.name);
  return names;
}

ALLOT_REGISTER(SettingInfo,
               (SettingInfo{"dl2",
                            "DL2's simulated cluster: workers and servers, slots, eight job types",
                            {{"size", "V24", SizeNames()}},
                            [](const Params& params) {
                              const Size& size = SizeNamed(params.Text("size"));
                              const auto world = std::make_shared<const World>(size);
                              Setting setting{
                                  fmt::format("dl2 {}", size.name), "dl2",
                                  [world](std::uint64_t seed) { return world->Draw(seed); }};
                              setting.index = kBestInSlots;
                              return setting;
                            }}));

}  // namespace
}  // namespace allot
