#include "metrics/sweep_table.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/labelled_spec.h"
#include "core/strings.h"
#include "metrics/csv.h"
#include "metrics/humanise.h"
#include "metrics/json_field.h"

namespace allot {
namespace {

using Values = std::vector<std::string>;

template <double RunSummary::*kMember>
double Of(const RunSummary& summary) {
  return summary.*kMember;
}
double Fairness(const RunSummary& summary) {
  return summary.service ? summary.service->avg_fairness : kUnknown;
}

struct SweepFigure {
  const char* name;
  double (*in_run)(const RunSummary&);
  PairedRatio SweepRow::*in_row;
};
constexpr SweepFigure kFigures[] = {
    {"avg_jct_s", Of<&RunSummary::avg_jct_s>, &SweepRow::avg_jct_s},
    {"p50_jct_s", Of<&RunSummary::p50_jct_s>, &SweepRow::p50_jct_s},
    {"p95_jct_s", Of<&RunSummary::p95_jct_s>, &SweepRow::p95_jct_s},
    {"p99_jct_s", Of<&RunSummary::p99_jct_s>, &SweepRow::p99_jct_s},
    {"avg_queueing_s", Of<&RunSummary::avg_queueing_s>, &SweepRow::avg_queueing_s},
    {"gpu_utilisation", Of<&RunSummary::gpu_utilisation>, &SweepRow::gpu_utilisation},
    {"makespan_s", Of<&RunSummary::makespan_s>, &SweepRow::makespan_s},
    {"avg_fairness", Fairness, &SweepRow::avg_fairness},
};

// By seed.
using CellsBySeed = std::map<std::string, const SweepCell*>;

PairedRatio RatioTo(const CellsBySeed& reference, const CellsBySeed& own) {
  std::vector<double> a;
  std::vector<double> b;
  std::vector<std::int32_t> windows;
  for (const auto& [seed, cell] : own) {
    const auto paired = reference.find(seed);
    if (paired == reference.end()) continue;
    if (!paired->second->failed.empty() || !cell->failed.empty()) continue;
    a.push_back(paired->second->summary.avg_jct_s);
    b.push_back(cell->summary.avg_jct_s);
    windows.push_back(cell->window);
  }
  return ComparePaired(a, b, windows);
}

// Level by level over the seeds; none where a cell has none.
std::vector<double> MeanQuantiles(const CellsBySeed& cells,
                                  std::vector<double> SweepCell::*quantiles) {
  std::vector<double> mean;
  for (const auto& [seed, cell] : cells) {
    const std::vector<double>& own = cell->*quantiles;
    if (mean.empty()) mean.resize(own.size());
    if (own.empty() || own.size() != mean.size()) return {};
    for (std::size_t i = 0; i < own.size(); ++i) {
      mean[i] += own[i] / static_cast<double>(cells.size());
    }
  }
  return mean;
}

void AddLosses(const CellsBySeed& cells, SweepRow* row) {
  double held = 0;
  double redone = 0;
  double lost = 0;
  double evictions = 0;
  double demand = 0;
  double missing = 0;
  for (const auto& [seed, cell] : cells) {
    const RunSummary& run = cell->summary;
    evictions += static_cast<double>(run.evictions);
    if (run.lost) {
      held += run.gpu_seconds;
      redone += run.lost->redone;
      lost += run.lost->redone + run.lost->restarts + run.lost->checkpoints;
    }
    if (run.lending) {
      demand += run.lending->demand;
      missing += run.lending->shortage * run.lending->demand;
    }
  }
  if (held > 0) {
    row->redone_share = redone / held;
    row->lost_share = lost / held;
  }
  if (demand > 0) row->shortage = missing / demand;
  if ((demand > 0 || evictions > 0) && row->jobs > 0) {
    row->evictions_per_job = evictions / static_cast<double>(row->jobs);
  }
}

struct LossColumn {
  const char* name;
  const char* title;
  double SweepRow::*value;
  bool share;
};
constexpr LossColumn kLossColumns[] = {
    {"redone_share", "done again", &SweepRow::redone_share, true},
    {"lost_share", "lost", &SweepRow::lost_share, true},
    {"evictions_per_job", "evictions/job", &SweepRow::evictions_per_job, false},
    {"shortage", "shortage", &SweepRow::shortage, true}};

// Those that some row has.
std::vector<LossColumn> LossColumnsOf(const std::vector<SweepRow>& rows) {
  std::vector<LossColumn> columns;
  for (const LossColumn& column : kLossColumns) {
    const auto has = [&](const SweepRow& row) { return std::isfinite(row.*column.value); };
    if (std::any_of(rows.begin(), rows.end(), has)) columns.push_back(column);
  }
  return columns;
}

std::string LossText(const SweepRow& row, const LossColumn& column) {
  const double value = row.*column.value;
  return column.share ? HumanFixed(100 * value, 3) + " %" : HumanFixed(value, 3);
}

std::string DurationWithInterval(const PairedRatio& value) {
  std::string mean = HumanDuration(value.mean);
  if (!value.has_interval() || !std::isfinite(value.mean)) return mean;
  return fmt::format("{} [{}, {}]", mean, HumanDuration(value.low), HumanDuration(value.high));
}

std::string CsvNumber(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

Json IntervalJson(const PairedRatio& value) {
  return {{"mean", NumberOrNull(value.mean)},
          {"low", NumberOrNull(value.low)},
          {"high", NumberOrNull(value.high)}};
}

}  // namespace

std::vector<SweepRow> Aggregate(const SweepResults& results) {
  const std::size_t seed_at = results.FactorAt(kSeedFactor);
  const std::size_t policy_at = results.FactorAt(kPolicyFactor);
  std::vector<Values> order;
  std::map<Values, CellsBySeed> groups;
  for (const SweepCell& cell : results.cells) {
    Values key = cell.values;
    key[seed_at].clear();
    CellsBySeed& group = groups[key];
    if (group.empty()) order.push_back(key);
    group[cell.values[seed_at]] = &cell;
  }
  std::vector<SweepRow> rows;
  for (const Values& key : order) {
    const CellsBySeed& group = groups[key];
    SweepRow row;
    row.values = key;
    row.seeds = static_cast<int>(group.size());
    double preemptions = 0;
    for (const auto& [seed, cell] : group) {
      row.oracle = row.oracle || cell->summary.oracle;
      row.jobs += cell->summary.jobs;
      row.unfinished += cell->summary.unfinished;
      preemptions += static_cast<double>(cell->summary.preemptions);
    }
    AddLosses(group, &row);
    if (row.jobs > 0) row.preemptions_per_job = preemptions / static_cast<double>(row.jobs);
    std::vector<std::int32_t> windows;
    for (const auto& [seed, cell] : group) windows.push_back(cell->window);
    for (const SweepFigure& figure : kFigures) {
      std::vector<double> values;
      for (const auto& [seed, cell] : group) values.push_back(figure.in_run(cell->summary));
      row.*figure.in_row = PositiveMeanWithInterval(values, windows);
    }
    row.jct_quantiles_s = MeanQuantiles(group, &SweepCell::jct_quantiles_s);
    row.fairness_quantiles = MeanQuantiles(group, &SweepCell::fairness_quantiles);
    Values reference = key;
    for (const auto& [factor, value] : results.reference) {
      reference[results.FactorAt(factor)] = value;
    }
    row.reference = reference == key;
    row.values[policy_at] = ReadLabel(key[policy_at]).label;
    if (const auto found = groups.find(reference); found != groups.end()) {
      row.ratio = RatioTo(found->second, group);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<std::size_t> TellingFactors(const SweepResults& results) {
  std::vector<std::size_t> telling;
  for (std::size_t f = 0; f < results.factors.size(); ++f) {
    if (results.factors[f] == kSeedFactor) continue;
    std::set<std::string> values;
    for (const SweepCell& cell : results.cells) values.insert(cell.values[f]);
    if (values.size() > 1 || results.factors[f] == kPolicyFactor) telling.push_back(f);
  }
  return telling;
}

std::string ReferenceText(const SweepResults& results) {
  std::string text;
  for (const auto& [factor, value] : results.reference) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", factor, value);
  }
  return text;
}

TextTable SweepTable(const SweepResults& results, const std::vector<SweepRow>& rows) {
  const std::vector<std::size_t> telling = TellingFactors(results);
  std::vector<TextTable::Column> columns;
  for (const std::size_t f : telling) {
    const bool number = std::all_of(rows.begin(), rows.end(), [f](const SweepRow& row) {
      return ParseNumber(row.values[f]).has_value();
    });
    columns.push_back(
        {results.factors[f], number ? TextTable::Align::kRight : TextTable::Align::kLeft});
  }
  for (const char* title : {"avg JCT", "ref / row", "p50 JCT", "p95 JCT", "p99 JCT", "queueing",
                            "makespan", "GPU use", "fairness", "preempt/job"})
    columns.push_back({title});
  const std::vector<LossColumn> losses = LossColumnsOf(rows);
  for (const LossColumn& column : losses) columns.push_back({column.title});
  TextTable table(std::move(columns));
  int seeds = 0;
  bool oracle = false;
  for (const SweepRow& row : rows) {
    seeds = std::max(seeds, row.seeds);
    oracle = oracle || row.oracle;
    std::vector<std::string> cells;
    for (const std::size_t f : telling) {
      const bool tagged = row.oracle && results.factors[f] == kPolicyFactor;
      cells.push_back(row.values[f] + (tagged ? " (oracle)" : ""));
    }
    cells.insert(cells.end(),
                 {DurationWithInterval(row.avg_jct_s), row.reference ? "1" : HumanRatio(row.ratio),
                  HumanDuration(row.p50_jct_s.mean), HumanDuration(row.p95_jct_s.mean),
                  HumanDuration(row.p99_jct_s.mean), HumanDuration(row.avg_queueing_s.mean),
                  HumanDuration(row.makespan_s.mean), HumanShare(row.gpu_utilisation.mean),
                  HumanFixed(row.avg_fairness.mean, 2), HumanFixed(row.preemptions_per_job, 2)});
    for (const LossColumn& column : losses) cells.push_back(LossText(row, column));
    table.AddRow(std::move(cells), row.reference ? '>' : ' ');
  }
  table.AddNote(
      fmt::format("ref / row: average JCT of {} over that of the row{}.", ReferenceText(results),
                  seeds > 1 ? ", geometric mean of the per-seed ratios [95 % interval]" : ""));
  table.AddNote(seeds > 1 ? fmt::format("Means over {} seeds with the 95 % interval (Student's t "
                                        "on the logarithm).",
                                        seeds)
                          : "One seed: no intervals; --seeds 0..9 gives them.");
  table.AddNote("fairness: mean finish-time fairness, below 1 better than a share of one's own.");
  for (const std::string& note : results.notes) table.AddNote(note);
  if (oracle) table.AddNote("(oracle): uses true job lengths, which no real scheduler knows.");
  for (const SweepRow& row : rows) {
    if (row.unfinished == 0) continue;
    std::string name;
    for (const std::size_t f : telling) {
      name += fmt::format("{}{} {}", name.empty() ? "" : ", ", results.factors[f], row.values[f]);
    }
    table.AddNote(fmt::format("{}: {} of {} jobs unfinished; JCT is over the finished ones only.",
                              name, HumanCount(row.unfinished), HumanCount(row.jobs)));
  }
  return table;
}

std::string SweepTableCsv(const SweepResults& results, const std::vector<SweepRow>& rows) {
  const std::size_t seed_at = results.FactorAt(kSeedFactor);
  std::string text;
  for (std::size_t f = 0; f < results.factors.size(); ++f) {
    if (f != seed_at) text += CsvField(results.factors[f]) + ",";
  }
  text += "seeds,jobs,unfinished,oracle,preemptions_per_job";
  for (const SweepFigure& figure : kFigures)
    text += fmt::format(",{0},{0}_low,{0}_high", figure.name);
  text += ",ratio,ratio_low,ratio_high";
  const std::vector<LossColumn> losses = LossColumnsOf(rows);
  for (const LossColumn& column : losses) text += fmt::format(",{}", column.name);
  text += '\n';
  for (const SweepRow& row : rows) {
    for (std::size_t f = 0; f < row.values.size(); ++f) {
      if (f != seed_at) text += CsvField(row.values[f]) + ",";
    }
    text += fmt::format("{},{},{},{},{}", row.seeds, row.jobs, row.unfinished, row.oracle,
                        CsvNumber(row.preemptions_per_job));
    const auto interval = [&text](const PairedRatio& value) {
      text += fmt::format(",{},{},{}", CsvNumber(value.mean), CsvNumber(value.low),
                          CsvNumber(value.high));
    };
    for (const SweepFigure& figure : kFigures) interval(row.*figure.in_row);
    interval(row.ratio);
    for (const LossColumn& column : losses) {
      text += fmt::format(",{}", CsvNumber(row.*column.value));
    }
    text += '\n';
  }
  return text;
}

nlohmann::ordered_json SweepTableJson(const SweepResults& results,
                                      const std::vector<SweepRow>& rows) {
  const std::vector<LossColumn> losses = LossColumnsOf(rows);
  Json list = Json::array();
  for (const SweepRow& row : rows) {
    Json json = Json::object();
    for (std::size_t f = 0; f < results.factors.size(); ++f) {
      if (results.factors[f] != kSeedFactor) json[results.factors[f]] = row.values[f];
    }
    json["seeds"] = row.seeds;
    json["jobs"] = row.jobs;
    json["unfinished"] = row.unfinished;
    json["oracle"] = row.oracle;
    json["preemptions_per_job"] = NumberOrNull(row.preemptions_per_job);
    for (const LossColumn& column : losses) json[column.name] = NumberOrNull(row.*column.value);
    for (const SweepFigure& figure : kFigures) json[figure.name] = IntervalJson(row.*figure.in_row);
    json["ratio"] = IntervalJson(row.ratio);
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace allot
