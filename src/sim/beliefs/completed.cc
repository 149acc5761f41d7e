// Throughputs of which only a part was profiled, the rest estimated by matrix completion: what
// Gavel's throughput estimator does (Narayanan et al., OSDI'20, section 6). Reference models are
// profiled in full. Of each other model a share of the GPU types, alone and beside each partner,
// is; the matrix of models and ways to run is completed, and a model takes what is unknown from it,
// or from the reference model that its completed row is nearest to. What a job has run as for a
// minute is known of its model from then on.
//
// Where rates change while jobs run, a job's are believed to change as the true ones do, from the
// estimates: true rate now x estimate / rate in the true table, x 1 once known. Changes are then
// measured at once, and starts are no events of their own: the minute is summed over the
// measurements of the job in a configuration, and what it tells is known at the first event after.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "core/index.h"
#include "core/rng.h"
#include "perf/matrix_completion.h"
#include "sim/followed_truth.h"

namespace allot {
namespace {

constexpr Seconds kProfilingTime = 60;  // of undisturbed work, until it is known how fast it is
constexpr Seconds kClockTick = 1e-6;    // a minute to within the clock's rounding
constexpr double kLeastShare = 1e-3;    // of a model's mean rate: no estimate says that it stands

struct CompletedOptions {
  double profiled = 0.3;
  int references = 16;
  bool nearest = false;
  bool learns = true;
  CompletionOptions completion;
};

// What of which model was profiled, and estimates of all of it. By names, which jobs of all sizes
// and tables share.
class Profiles {
 public:
  Profiles(const Scenario& scenario, const CompletedOptions& options) : options_(options) {
    Collect(scenario);
    Estimate();
  }

  // Estimate of a model's way to run; its true rate where it is known.
  double RateOf(const std::string& model, const std::string& key) const {
    const Model& m = models_.at(model);
    if (const double truth = m.truth.at(key); !(truth > 0)) return truth;  // known at once
    const double rate = m.known.contains(key) ? m.truth.at(key) : m.estimate.at(key);
    return std::max(rate, kLeastShare * m.mean);
  }
  // Of what is believed of it to its true rate.
  double FactorOf(const std::string& model, const std::string& key) const {
    const Model& m = models_.at(model);
    const double truth = m.truth.at(key);
    return !(truth > 0) || m.known.contains(key) ? 1 : RateOf(model, key) / truth;
  }
  void Learn(const std::string& model, const std::string& key) {
    models_.at(model).known.insert(key);
  }
  // How much is known of the model: estimates stay while it does.
  std::size_t KnownOf(const std::string& model) const { return models_.at(model).known.size(); }

 private:
  struct Model {
    std::map<std::string, double> truth;  // by way to run
    std::set<std::string> known;
    std::map<std::string, double> estimate;
    double mean = 0;  // of the known rates: rows are in units of it
  };

  // Whether it was profiled so; a job is on one type for long enough at least.
  void Profile(const std::string& name, std::uint64_t seed,
               const std::map<std::string, std::set<std::string>>& ways, Model* model) const {
    Rng first(seed, "profiled-first", StableHash(name));
    const auto always =
        std::next(ways.begin(), static_cast<std::ptrdiff_t>(first.Below(ways.size())));
    for (auto way = ways.begin(); way != ways.end(); ++way) {
      Rng rng(seed, "profiled", StableHash(name), StableHash(way->first));
      if (rng.Uniform() >= options_.profiled && way != always) continue;
      model->known.insert(way->second.begin(), way->second.end());
    }
  }

  void Collect(const Scenario& scenario) {
    // By model, by type (and partner): profiling on a type is of all sizes.
    std::map<std::string, std::map<std::string, std::set<std::string>>> ways;
    std::map<std::string, std::map<std::string, std::set<std::string>>> beside;
    std::set<const ConfigurationTable*> seen;
    const Workload& workload = scenario.workload();
    for (JobIndex job = 0; At(job) < workload.jobs.size(); ++job) {
      const ConfigurationTable& table = *scenario.facts(job).table;
      if (workload.jobs[At(job)].model < 0 || !seen.insert(&table).second) continue;
      Model& model = models_[table.name()];
      for (std::int32_t c = 0; c < table.size(); ++c) {
        const std::string key = table.KeyText(c, scenario.cluster().types());
        model.truth[key] = table[c].rate;
        columns_.try_emplace(key, 0);
        const std::string type = scenario.cluster().types()[At(table[c].gpu_type)];
        if (table[c].partner == kNoPartner) {
          ways[table.name()][type].insert(key);
        } else {
          const std::string& partner = table.partners()[At(table[c].partner)];
          beside[table.name()][fmt::format("{}|{}", type, partner)].insert(key);
        }
      }
    }
    std::size_t column = 0;
    for (auto& [key, at] : columns_) at = column++;
    ChooseReferences(scenario.options().seed);
    for (auto& [name, model] : models_) {
      if (references_.contains(name)) {
        for (const auto& [key, rate] : model.truth) model.known.insert(key);
      } else {
        Profile(name, scenario.options().seed, ways.at(name), &model);
        if (const auto pairs = beside.find(name); pairs != beside.end()) {
          Profile(name, scenario.options().seed, pairs->second, &model);
        }
      }
      double sum = 0;
      for (const std::string& key : model.known) sum += model.truth.at(key);
      model.mean = sum / static_cast<double>(model.known.size());
    }
  }

  void ChooseReferences(std::uint64_t seed) {
    std::vector<std::pair<std::uint64_t, std::string>> drawn;
    for (const auto& [name, model] : models_) {
      drawn.emplace_back(Rng(seed, "reference-model", StableHash(name)).NextU64(), name);
    }
    std::sort(drawn.begin(), drawn.end());
    drawn.resize(std::min(drawn.size(), static_cast<std::size_t>(options_.references)));
    for (auto& [number, name] : drawn) references_.insert(std::move(name));
  }

  void Estimate() {
    DenseMatrix matrix(models_.size(), columns_.size(), kUnknown);
    std::vector<std::size_t> references;  // their rows
    std::size_t row = 0;
    for (const auto& [name, model] : models_) {
      if (references_.contains(name)) references.push_back(row);
      for (const std::string& key : model.known) {
        matrix.at(row, columns_.at(key)) = model.truth.at(key) / model.mean;
      }
      ++row;
    }
    const DenseMatrix complete = CompleteRates(matrix, options_.completion);
    row = 0;
    for (auto& [name, model] : models_) {
      std::size_t from = row;
      double scale = model.mean;
      if (options_.nearest && !references.empty()) {
        from = NearestRow(complete, references, complete.row(row));
        scale *= Ratio(complete, row, from, model);
      }
      for (const auto& [key, rate] : model.truth) {
        model.estimate[key] = complete.at(from, columns_.at(key)) * scale;
      }
      ++row;
    }
  }

  // Of what is known of the model to what is there of the row `from`.
  double Ratio(const DenseMatrix& complete, std::size_t row, std::size_t from,
               const Model& model) const {
    double here = 0;
    double there = 0;
    for (const std::string& key : model.known) {
      here += complete.at(row, columns_.at(key));
      there += complete.at(from, columns_.at(key));
    }
    return there > 0 ? here / there : 1;
  }

  CompletedOptions options_;
  std::map<std::string, Model> models_;
  std::map<std::string, std::size_t> columns_;  // by way to run
  std::set<std::string> references_;
};

class CompletedBelief : public FollowedTruth {
 public:
  CompletedBelief(const Scenario& scenario, const CompletedOptions& options)
      : FollowedTruth(scenario,
                      [this](const ConfigurationTable& table, std::int32_t configuration) {
                        return profiles_.FactorOf(table.name(), KeyOf(table, configuration));
                      }),
        scenario_(scenario),
        learns_(options.learns),
        profiles_(scenario, options) {}

  const ConfigurationTable* TableOf(JobIndex job) override {
    const Scenario::JobFacts& facts = scenario_.facts(job);
    if (scenario_.workload().jobs[At(job)].model < 0) return FollowedTruth::TableOf(job);
    const auto [at, is_new] = jobs_.try_emplace(job);
    Believed& believed = at->second;
    if (is_new) believed.known = profiles_.KnownOf(facts.table->name());
    if (facts.process() != nullptr) return FollowedTruth::TableOf(job);
    if (is_new) {
      believed.table = std::make_unique<ConfigurationTable>(*facts.table);
      Renew(believed.table.get());
    }
    return believed.table.get();
  }

  void Forget(JobIndex job) override {
    jobs_.erase(job);
    FollowedTruth::Forget(job);
  }

  bool Take(const RateMeasurement& measured) override {
    const auto found = jobs_.find(measured.job);
    if (found == jobs_.end() || !learns_) return FollowedTruth::Take(measured);
    Believed& believed = found->second;
    const ConfigurationTable& truth = *scenario_.facts(measured.job).table;
    Seconds& ran = believed.ran[measured.configuration];
    ran += measured.seconds;
    if (ran + kClockTick >= kProfilingTime) {
      profiles_.Learn(truth.name(), KeyOf(truth, measured.configuration));
    }
    const std::size_t known = profiles_.KnownOf(truth.name());
    if (known == believed.known) return FollowedTruth::Take(measured);
    believed.known = known;
    return believed.table != nullptr ? Renew(believed.table.get())
                                     : RenewAt(measured.job, measured.done);
  }

  Seconds measured_after() const override {
    return measures_starts() ? kProfilingTime : FollowedTruth::measured_after();
  }
  bool measures_starts() const override { return learns_ && !scenario_.has_processes(); }

 private:
  struct Believed {
    std::unique_ptr<ConfigurationTable> table;  // null: it has a process, FollowedTruth has it
    std::size_t known = 0;                      // of its model when the table was last renewed
    std::map<std::int32_t, Seconds> ran;        // by configuration, as measured
  };

  std::string KeyOf(const ConfigurationTable& table, std::int32_t configuration) const {
    return table.KeyText(configuration, scenario_.cluster().types());
  }

  // False where the table says so already.
  bool Renew(ConfigurationTable* table) const {
    std::vector<double> rates;
    bool same = true;
    for (std::int32_t c = 0; c < table->size(); ++c) {
      rates.push_back(profiles_.RateOf(table->name(), KeyOf(*table, c)));
      same = same && rates.back() == (*table)[c].rate;
    }
    if (!same) table->Renew(rates);
    return !same;
  }

  const Scenario& scenario_;
  bool learns_;
  Profiles profiles_;
  std::map<JobIndex, Believed> jobs_;
};

ALLOT_REGISTER(
    BeliefInfo,
    (BeliefInfo{
        "completed",
        "a part of the rates was profiled, the rest is estimated by matrix completion",
        {{"profiled", "0.3",
          "share of the GPU types, alone and beside each partner, that a model is profiled on; one "
          "at least",
          0, 1},
         {"references", "16", "models that are profiled in full, drawn by --seed", 0, 1e6},
         {"nearest", "false",
          "unknown rates are those of the nearest reference model, as in Gavel; false: of the "
          "completed matrix"},
         {"learns", "true", "what a job has run as for a minute is known"},
         {"rank", "10", "of the factors", 1, 100},
         {"mu", "0.01", "weight of the priors of the factors", 1e-9, 1e6}},
        [](const Params& params, const Scenario& scenario) -> std::unique_ptr<Belief> {
          CompletedOptions options;
          options.profiled = params.Number("profiled");
          options.references = params.Integer("references");
          options.nearest = params.Flag("nearest");
          options.learns = params.Flag("learns");
          options.completion.rank = params.Integer("rank");
          options.completion.mu = params.Number("mu");
          options.completion.seed = scenario.options().seed;
          return std::make_unique<CompletedBelief>(scenario, options);
        }}));

}  // namespace
}  // namespace allot
