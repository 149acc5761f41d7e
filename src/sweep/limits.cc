#include "sweep/limits.h"

#include <algorithm>
#include <map>
#include <optional>

#include "core/check.h"
#include "core/error.h"
#include "core/strings.h"
#include "metrics/humanise.h"
#include "workload/calendar.h"

namespace allot {
namespace {

constexpr std::string_view kRisingFactors[] = {"rate", "load"};

Seconds TimeOf(const std::string& key, const std::string& text, std::string_view where) {
  const Seconds time = ParseWhen(Workload{}, text);
  if (!(time > 0)) throw UsageError("{}: '{}' must be a time > 0, got '{}'", where, key, text);
  return time;
}

SweepLimits Read(const SweepDefinition& definition, std::string_view where) {
  SweepLimits limits;
  for (const auto& [key, text] : definition.limits) {
    if (key == "until-jct") {
      limits.jct = TimeOf(key, text, where);
    } else if (key == "cutoff") {
      limits.cutoff = TimeOf(key, text, where);
    } else {
      const auto share = ParseNumber(text);
      if (!share || !(*share > 0 && *share <= 1)) {
        throw UsageError(
            "{}: '{}' must be a share of the GPUs' time, above 0 and at most 1, got "
            "'{}'",
            where, key, text);
      }
      limits.use = *share;
    }
  }
  return limits;
}

// The factor that rises; nullopt: none does.
std::optional<std::size_t> RisingFactor(const SweepDefinition& definition) {
  for (std::size_t f = 0; f < definition.factors.size(); ++f) {
    const std::string& name = definition.factors[f].name;
    if (std::find(std::begin(kRisingFactors), std::end(kRisingFactors), name) !=
        std::end(kRisingFactors)) {
      return f;
    }
  }
  return std::nullopt;
}

std::size_t SeedFactor(const SweepDefinition& definition) {
  const auto names = FactorNames(definition);
  const auto at = std::find(names.begin(), names.end(), kSeedFactor);
  ALLOT_CHECK(at != names.end());
  return static_cast<std::size_t>(at - names.begin());
}

// "policy fifo, cluster 8x4": what has several values, without what rises and the seed.
std::string ChainText(const SweepDefinition& definition, const CellValues& values) {
  std::string text;
  for (std::size_t f = 0; f < values.size(); ++f) {
    const SweepFactor& factor = definition.factors[f];
    const bool shown = factor.name == kPolicyFactor || factor.values.size() > 1;
    if (!shown || factor.name == kSeedFactor || RisingFactor(definition) == f) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", factor.name, values[f]);
  }
  return text;
}

std::string RiseNote(const SweepDefinition& definition, const SweepChain& chain,
                     const std::map<CellValues, const SweepCell*>& finished,
                     const std::vector<CellValues>& cells) {
  const std::size_t rising = *RisingFactor(definition);
  const SweepLimits limits = LimitsOf(definition);
  for (std::size_t s = 0; s < chain.steps.size(); ++s) {
    std::vector<const SweepCell*> step;
    for (const std::size_t cell : chain.steps[s]) {
      const auto found = finished.find(cells[cell]);
      if (found != finished.end()) step.push_back(found->second);
    }
    if (step.empty() || !Reaches(limits, step)) continue;
    const CellValues& values = step.front()->values;
    return fmt::format("{}: reached its limit at {} {}; {} higher values were left out.",
                       ChainText(definition, values), definition.factors[rising].name,
                       values[rising], chain.steps.size() - s - 1);
  }
  const CellValues& last = cells[chain.steps.back().front()];
  return fmt::format("{}: no limit was reached up to {} {}.", ChainText(definition, last),
                     definition.factors[rising].name, last[rising]);
}

void AddWindowNotes(const SweepDefinition& definition, const std::vector<SweepCell>& cells,
                    std::vector<std::string>* notes) {
  if (definition.window.empty()) return;
  const auto& [kind, text] = *definition.window.begin();
  notes->push_back(fmt::format(
      "Only jobs of --{} {} are counted. What happens to the others is in no figure; without a "
      "window all jobs count.",
      kind, text));
  std::map<std::string, std::int64_t> hidden;
  std::vector<std::string> order;
  for (const SweepCell& cell : cells) {
    const std::string chain = ChainText(definition, cell.values);
    if (hidden.try_emplace(chain, 0).second) order.push_back(chain);
    hidden[chain] += cell.hidden;
  }
  for (const std::string& chain : order) {
    if (hidden[chain] == 0) continue;
    notes->push_back(
        fmt::format("{}: {} jobs outside the window came before its last one and had not ended "
                    "when the run did (all rates and seeds together).",
                    chain, HumanCount(hidden[chain])));
  }
}

}  // namespace

SweepLimits LimitsOf(const SweepDefinition& definition) { return Read(definition, "sweep"); }

void CheckLimits(const SweepDefinition& definition, std::string_view where) {
  if (!Read(definition, where).raise()) return;
  const auto rising = RisingFactor(definition);
  if (!rising || definition.factors[*rising].values.size() < 2) {
    throw UsageError(
        "{}: 'until-utilisation' and 'until-jct' end a rise: 'rates' or 'loads' must have several "
        "values, got {}",
        where, rising ? Join(definition.factors[*rising].values, ", ") : "none");
  }
  double before = -kNever;
  for (const std::string& value : definition.factors[*rising].values) {
    const double number = ParseNumber(value).value_or(kUnknown);
    if (!(number > before)) {
      throw UsageError(
          "{}: with a limit on the rise the values of '{}' must rise, got '{}' after {}", where,
          definition.factors[*rising].name, value, before);
    }
    before = number;
  }
}

std::vector<SweepChain> ChainsOf(const SweepDefinition& definition,
                                 const std::vector<CellValues>& cells) {
  std::vector<SweepChain> chains;
  if (!LimitsOf(definition).raise()) {
    chains.reserve(cells.size());
    for (std::size_t c = 0; c < cells.size(); ++c) chains.push_back({{{c}}});
    return chains;
  }
  const std::size_t rising = *RisingFactor(definition);
  const std::size_t seed = SeedFactor(definition);
  const std::vector<std::string>& rise = definition.factors[rising].values;
  std::map<CellValues, std::size_t> known;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    CellValues key = cells[c];
    key[rising].clear();
    key[seed].clear();
    const auto [at, added] = known.try_emplace(std::move(key), chains.size());
    if (added) chains.emplace_back().steps.resize(rise.size());
    const auto step = std::find(rise.begin(), rise.end(), cells[c][rising]) - rise.begin();
    chains[at->second].steps[static_cast<std::size_t>(step)].push_back(c);
  }
  return chains;
}

bool Reaches(const SweepLimits& limits, std::span<const SweepCell* const> step) {
  double use = 0;
  double jct = 0;
  for (const SweepCell* cell : step) {
    if (cell->cut_off || !cell->failed.empty()) return true;
    use += cell->arrivals_use;
    jct += cell->summary.avg_jct_s;
  }
  const auto cells = static_cast<double>(step.size());
  return use / cells >= limits.use || jct / cells >= limits.jct;
}

std::vector<std::string> SweepNotes(const SweepDefinition& definition,
                                    const std::vector<SweepCell>& cells) {
  std::vector<std::string> notes;
  if (LimitsOf(definition).raise()) {
    const std::vector<CellValues> all = CellsOf(definition);
    std::map<CellValues, const SweepCell*> finished;
    for (const SweepCell& cell : cells) finished[cell.values] = &cell;
    for (const SweepChain& chain : ChainsOf(definition, all)) {
      notes.push_back(RiseNote(definition, chain, finished, all));
    }
  }
  AddWindowNotes(definition, cells, &notes);
  for (const SweepCell& cell : cells) {
    if (cell.failed.empty()) continue;
    notes.push_back(
        fmt::format("no figures of {}: {}", CellText(definition, cell.values), cell.failed));
  }
  return notes;
}

}  // namespace allot
