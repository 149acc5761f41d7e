#include "metrics/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "metrics/evaluation_notes.h"
#include "metrics/humanise.h"

namespace allot {
namespace {

void Add(const StartFigures& run, std::optional<StartFigures>* sums) {
  if (!*sums) sums->emplace();
  for (const auto& [name, figure] : kStartFigures) (**sums).*figure += run.*figure;
}

const EvaluatedPolicy& ReferenceOf(const Evaluation& evaluation) {
  return *std::find_if(evaluation.policies.begin(), evaluation.policies.end(),
                       [&](const EvaluatedPolicy& p) { return p.id == evaluation.reference; });
}

double MeanOf(const std::vector<RunSummary>& runs, double RunSummary::*figure) {
  double sum = 0;
  for (const RunSummary& run : runs) sum += run.*figure;
  return sum / static_cast<double>(runs.size());
}

std::vector<double> AverageJcts(const std::vector<RunSummary>& runs) {
  std::vector<double> values;
  values.reserve(runs.size());
  for (const RunSummary& run : runs) values.push_back(run.avg_jct_s);
  return values;
}

// Of the workloads that both finished.
PairedRatio RatioOfFinished(const std::vector<RunSummary>& reference,
                            const std::vector<RunSummary>& own,
                            const std::vector<std::int32_t>& windows) {
  std::vector<double> a;
  std::vector<double> b;
  std::vector<std::int32_t> windows_of;
  for (std::size_t w = 0; w < own.size(); ++w) {
    if (reference[w].did_not_finish || own[w].did_not_finish) continue;
    a.push_back(reference[w].avg_jct_s);
    b.push_back(own[w].avg_jct_s);
    windows_of.push_back(windows[w]);
  }
  return ComparePaired(a, b, windows_of);
}

bool FinishedNothing(const PolicyRow& row, const Evaluation& evaluation) {
  return row.stuck.size() == evaluation.workloads.size();
}

// The index, or any ordering that the hull makes elastic.
bool StrongRule(std::string_view id) {
  return id.substr(0, id.find(':')) == "index" || id.find("sizing=hull") != id.npos;
}

}  // namespace

// Beyond this width the table would only grow wider.
bool FitsTitle(std::string_view name) { return DisplayWidth(name) <= 16; }

std::string WorkloadsInWords(const Evaluation& evaluation) {
  const std::size_t n = evaluation.workloads.size();
  const std::string_view noun = n == 1 ? "workload" : "workloads";
  switch (evaluation.training_overlap) {
    case TrainingOverlap::kUnseen:
      return fmt::format("{} unseen {}", n, noun);
    case TrainingOverlap::kSeen:
      return fmt::format("{} {} seen in training", n, noun);
    case TrainingOverlap::kNotKnown:
      return fmt::format("{} {} not known to be unseen", n, noun);
    case TrainingOverlap::kNone:
      break;
  }
  return fmt::format("{} {}", n, noun);
}

std::string DecisionsInWords(const Evaluation& evaluation) {
  return evaluation.decide_on_events ? "at arrivals and completions"
                                     : "every " + HumanDuration(evaluation.interval_s);
}

std::vector<PolicyRow> CompareToReference(const Evaluation& evaluation) {
  const EvaluatedPolicy& compared_with = ReferenceOf(evaluation);
  const std::vector<double> reference = AverageJcts(compared_with.runs);
  const std::vector<std::int32_t> windows = WindowsOf(evaluation.workloads);
  std::vector<PolicyRow> rows;
  for (std::size_t p = 0; p < evaluation.policies.size(); ++p) {
    const EvaluatedPolicy& policy = evaluation.policies[p];
    PolicyRow row;
    row.policy = p;
    row.oracle = policy.oracle;
    row.name = policy.label + (policy.oracle ? " (oracle)" : "");
    row.reference = policy.id == evaluation.reference;
    row.avg_jct_s = MeanOf(policy.runs, &RunSummary::avg_jct_s);
    row.p50_jct_s = MeanOf(policy.runs, &RunSummary::p50_jct_s);
    row.p95_jct_s = MeanOf(policy.runs, &RunSummary::p95_jct_s);
    row.p99_jct_s = MeanOf(policy.runs, &RunSummary::p99_jct_s);
    row.avg_queueing_s = MeanOf(policy.runs, &RunSummary::avg_queueing_s);
    row.gpu_utilisation = MeanOf(policy.runs, &RunSummary::gpu_utilisation);
    row.node_hours = MeanOf(policy.runs, &RunSummary::node_hours);
    row.cost = MeanOf(policy.runs, &RunSummary::cost);
    row.decision_us_p50 = MeanOf(policy.runs, &RunSummary::decision_us_p50);
    row.decision_us_p99 = MeanOf(policy.runs, &RunSummary::decision_us_p99);
    double restarts = 0;
    double evictions = 0;
    double lost = 0;
    double held = 0;
    for (std::size_t w = 0; w < policy.runs.size(); ++w) {
      const RunSummary& run = policy.runs[w];
      if (run.did_not_finish) row.stuck.push_back(w);
      if (run.lost) {
        lost += run.lost->redone + run.lost->restarts + run.lost->checkpoints;
        held += run.gpu_seconds;
      }
      if (run.starts) Add(*run.starts, &row.starts);
      row.jobs += run.jobs;
      row.unfinished += run.unfinished;
      restarts += static_cast<double>(run.restarts);
      evictions += static_cast<double>(run.evictions);
    }
    if (held > 0) row.lost_share = lost / held;
    if (row.jobs > 0) row.restarts_per_job = restarts / static_cast<double>(row.jobs);
    const bool lends = policy.runs.front().lending.has_value() || evictions > 0;
    if (lends && row.jobs > 0) row.evictions_per_job = evictions / static_cast<double>(row.jobs);
    const std::vector<double> own = AverageJcts(policy.runs);
    for (std::size_t w = 0; w < own.size(); ++w) row.ratios.push_back(reference[w] / own[w]);
    row.ratio = RatioOfFinished(compared_with.runs, policy.runs, windows);
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(), Faster);
  return rows;
}

bool Faster(const PolicyRow& a, const PolicyRow& b) {
  if (std::isnan(b.avg_jct_s)) return !std::isnan(a.avg_jct_s);
  return a.avg_jct_s < b.avg_jct_s;
}

std::vector<std::string> StuckInWords(const Evaluation& evaluation,
                                      const std::vector<PolicyRow>& rows) {
  std::vector<std::string> sentences;
  const std::size_t n = evaluation.workloads.size();
  for (const PolicyRow& row : rows) {
    if (row.stuck.empty()) continue;
    const std::size_t first = row.stuck.front();
    std::string sentence = fmt::format("{} did not finish", row.name);
    if (n > 1) {
      sentence += fmt::format(" on {} of {} workloads; on {}", row.stuck.size(), n,
                              evaluation.workloads[first].name);
    }
    sentence += fmt::format(": {}.", *evaluation.policies[row.policy].runs[first].did_not_finish);
    if (FinishedNothing(row, evaluation)) {
      sentence += row.reference ? " So no policy has a ratio to it." : "";
    } else if (row.reference) {
      sentence += fmt::format(" Ratios are over the {} that it finished.", n - row.stuck.size());
    } else {
      sentence += fmt::format(" Its ratio is over the {} that it finished.", n - row.stuck.size());
    }
    sentences.push_back(std::move(sentence));
  }
  return sentences;
}

namespace {

constexpr double kInTimes = 3;  // larger ratios are printed as factors, others in per cent

// "1.9 % shorter", "4.0 times as long": of an average JCT against another one.
std::string Change(double ratio) {
  if (ratio >= kInTimes) return fmt::format("{:.1f} times as long", ratio);
  return fmt::format("{:.1f} % {}", 100 * std::abs(ratio - 1), ratio < 1 ? "shorter" : "longer");
}

// "0.7 % to 3.0 % shorter", "1.0 % shorter to 1.8 % longer".
std::string ChangeInterval(const PairedRatio& ratio) {
  if (!ratio.has_interval() || !std::isfinite(ratio.low)) return "";
  std::string nearer = Change(ratio.low);
  std::string farther = Change(ratio.high);
  if (ratio.high < 1) std::swap(nearer, farther);
  if (ratio.high < 1 || (ratio.low > 1 && ratio.high < kInTimes)) {
    nearer.erase(nearer.rfind(' '));  // both have the same direction
  }
  return fmt::format(" (95 % interval: {} to {})", nearer, farther);
}

PairedRatio Inverse(const PairedRatio& ratio) {
  return {.mean = 1 / ratio.mean, .low = 1 / ratio.high, .high = 1 / ratio.low, .n = ratio.n};
}

std::string FindingText(const std::string& name, const PairedRatio& ratio,
                        const std::string& other) {
  const std::string change = Change(ratio.mean);
  const std::string interval = ChangeInterval(ratio);
  if (change.starts_with("0.0 %")) {
    return fmt::format("{} has the same average JCT as {}{}", name, other, interval);
  }
  if (change.ends_with("as long")) {
    return fmt::format("The average JCT of {} is {} as that of {}{}", name, change, other,
                       interval);
  }
  return fmt::format("{} has a {} average JCT than {}{}", name, change, other, interval);
}

// "others", or which of them are meant where oracles are among the rows.
std::string OthersInWords(bool oracles) {
  return oracles ? "others that do not know true lengths" : "others";
}

// What the 95 % intervals say of the reference and each of its rivals; `others` names these.
std::string VerdictText(const std::string& name, const std::vector<const PolicyRow*>& rivals,
                        const std::string& others) {
  std::vector<std::string> faster;
  std::vector<std::string> slower;
  std::vector<std::string> open;
  for (const PolicyRow* row : rivals) {
    switch (row->ratio.side()) {
      case PairedRatio::Side::kBelow:
        faster.push_back(row->name);
        break;
      case PairedRatio::Side::kAbove:
        slower.push_back(row->name);
        break;
      case PairedRatio::Side::kOpen:
        open.push_back(row->name);
    }
  }
  if (rivals.size() == 1) {
    return open.empty() ? "" : "This does not show which of the two is faster.";
  }
  const auto listed = [&](const std::vector<std::string>& names) {
    if (names.size() == rivals.size())
      return fmt::format("each of the {} {}", names.size(), others);
    return names.size() <= 2 ? Enumerate(names)
                             : fmt::format("{} of the {} {}", names.size(), rivals.size(), others);
  };
  std::vector<std::string> parts;
  if (!faster.empty()) parts.push_back("faster than " + listed(faster));
  if (!slower.empty()) parts.push_back("slower than " + listed(slower));
  if (!open.empty()) parts.push_back("not distinguished from " + listed(open));
  return fmt::format("By the 95 % intervals, {} is {}.", name, Enumerate(parts));
}

}  // namespace

Headline MakeHeadline(const Evaluation& evaluation, const std::vector<PolicyRow>& rows) {
  std::vector<const PolicyRow*> rivals;  // the hardest to beat first; oracles are no rivals
  std::vector<const PolicyRow*> oracles;
  for (const PolicyRow& row : rows) {
    if (row.reference || FinishedNothing(row, evaluation)) continue;
    (row.oracle ? oracles : rivals).push_back(&row);
  }
  std::stable_sort(rivals.begin(), rivals.end(), [](const PolicyRow* a, const PolicyRow* b) {
    if (std::isnan(b->ratio.mean)) return !std::isnan(a->ratio.mean);
    return a->ratio.mean > b->ratio.mean;
  });

  Headline headline;
  const bool trained = evaluation.training_overlap != TrainingOverlap::kNone;
  if (trained &&
      std::none_of(evaluation.policies.begin(), evaluation.policies.end(),
                   [](const EvaluatedPolicy& policy) { return StrongRule(policy.named_spec()); })) {
    headline.missing =
        "The strongest rules that are not learned are missing here: index and srtf:sizing=hull.";
  }
  const std::string where = ", on " + WorkloadsInWords(evaluation) + ".";
  const std::string& name = ReferenceOf(evaluation).label;
  const PolicyRow& reference = *std::ranges::find(rows, true, &PolicyRow::reference);
  if (FinishedNothing(reference, evaluation)) {
    headline.finding = fmt::format("{} did not finish on {}.", name, WorkloadsInWords(evaluation));
    return headline;
  }
  const auto& others = rivals.empty() ? oracles : rivals;
  if (others.empty() || std::isnan(others.front()->ratio.mean)) {
    headline.finding = fmt::format("The average JCT of {} is {}{}", name,
                                   HumanDuration(reference.avg_jct_s), where);
    return headline;
  }
  const PolicyRow& strongest = *others.front();
  if (!trained && strongest.ratio.mean > 1) {  // the reference is where one comes from
    headline.finding = FindingText(strongest.name, Inverse(strongest.ratio), name) + where;
  } else {
    const std::string place = rivals.size() > 1
                                  ? fmt::format(", the strongest of {} {}", rivals.size(),
                                                OthersInWords(!oracles.empty()))
                                  : "";
    headline.finding = FindingText(name, strongest.ratio, strongest.name + place) + where;
  }
  if (rivals.empty()) return headline;
  headline.verdict = evaluation.workloads.size() < 2
                         ? "One workload gives no interval: run several to know whether this holds."
                         : VerdictText(name, rivals, OthersInWords(!oracles.empty()));
  return headline;
}

namespace {

// A last row with what no policy can beat, where all workloads have it.
void AddBoundRow(const Evaluation& evaluation, std::size_t columns, TextTable* table) {
  std::vector<double> bounds;
  for (const EvaluatedWorkload& workload : evaluation.workloads) {
    bounds.push_back(workload.jct_bound_s);
  }
  double sum = 0;
  for (const double bound : bounds) sum += bound;
  if (!std::isfinite(sum)) return;
  const PairedRatio ratio = ComparePaired(AverageJcts(ReferenceOf(evaluation).runs), bounds,
                                          WindowsOf(evaluation.workloads));
  std::vector<std::string> cells(columns, "-");
  cells[0] = "lower bound";
  cells[1] = HumanDuration(sum / static_cast<double>(bounds.size()));
  cells[2] = HumanRatio(ratio);
  table->AddRow(std::move(cells));
  table->AddNote("lower bound: no policy can have a smaller average JCT; none need reach it.");
}

// Per workload; of found nodes, the mean.
void AddStarts(const StartFigures& sums, double workloads, std::vector<std::string>* cells) {
  const auto ratio = [](std::int64_t sum, double of) {
    return of > 0 ? HumanFixed(static_cast<double>(sum) / of, 1) : std::string("-");
  };
  cells->push_back(ratio(sums.failed, workloads));
  cells->push_back(ratio(sums.until_found, static_cast<double>(sums.found)));
  cells->push_back(ratio(sums.good_given_up, workloads));
  cells->push_back(ratio(sums.false_alarms, workloads));
}

}  // namespace

TextTable ComparisonTable(const Evaluation& evaluation, const std::vector<PolicyRow>& rows) {
  const std::string& label = ReferenceOf(evaluation).label;
  const std::string reference = FitsTitle(label) ? label : ">";
  std::vector<TextTable::Column> columns = {{"policy", TextTable::Align::kLeft},
                                            {"avg JCT"},
                                            {reference + " / policy"},
                                            {"p50 JCT"},
                                            {"p95 JCT"},
                                            {"p99 JCT"},
                                            {"GPU use"},
                                            {"restarts/job"},
                                            {"decision p50"},
                                            {"p99"}};
  const bool priced = std::any_of(rows.begin(), rows.end(),
                                  [](const PolicyRow& row) { return std::isfinite(row.cost); });
  const bool loses = std::any_of(
      rows.begin(), rows.end(), [](const PolicyRow& row) { return std::isfinite(row.lost_share); });
  if (loses) columns.push_back({"lost"});
  const bool evicts = std::any_of(rows.begin(), rows.end(), [](const PolicyRow& row) {
    return std::isfinite(row.evictions_per_job);
  });
  if (evicts) columns.push_back({"evictions/job"});
  const bool starts =
      std::ranges::any_of(rows, [](const PolicyRow& row) { return row.starts.has_value(); });
  if (starts) {
    for (const char* title : {"failed starts", "until found", "good given up", "false alarms"}) {
      columns.push_back({title});
    }
  }
  if (priced) {
    columns.push_back({"node hours"});
    columns.push_back({"cost"});
  }
  const std::size_t width = columns.size();
  TextTable table(std::move(columns));
  bool oracle = false;
  for (const PolicyRow& row : rows) {
    oracle = oracle || row.oracle;
    std::vector<std::string> cells = {
        row.name,
        row.stuck.empty() ? HumanDuration(row.avg_jct_s) : "did not finish",
        row.reference ? "1" : HumanRatio(row.ratio),
        HumanDuration(row.p50_jct_s),
        HumanDuration(row.p95_jct_s),
        HumanDuration(row.p99_jct_s),
        HumanShare(row.gpu_utilisation),
        HumanFixed(row.restarts_per_job, 2),
        HumanMicroseconds(row.decision_us_p50),
        HumanMicroseconds(row.decision_us_p99)};
    if (loses) cells.push_back(HumanShare(row.lost_share));
    if (evicts) cells.push_back(HumanFixed(row.evictions_per_job, 3));
    if (starts) {
      AddStarts(row.starts.value_or(StartFigures{}),
                static_cast<double>(evaluation.workloads.size()), &cells);
    }
    if (priced) {
      cells.push_back(HumanFixed(row.node_hours, 1));
      cells.push_back(HumanFixed(row.cost, 2));
    }
    table.AddRow(std::move(cells), row.reference ? '>' : ' ');
  }
  AddBoundRow(evaluation, width, &table);
  const std::size_t n = evaluation.workloads.size();
  table.AddNote(
      n == 1 ? "1 workload."
             : fmt::format("Means over {} workloads; ratio: geometric mean of the per-workload "
                           "ratios of average JCT [95 % interval, {}].",
                           n, IntervalInWords(WindowsOf(evaluation.workloads))));
  for (const std::string& note : EvaluationNotes(evaluation)) table.AddNote(note);
  for (const PolicyRow& row : rows) {
    const EvaluatedPolicy& policy = evaluation.policies[row.policy];
    if (policy.label == policy.named_spec()) continue;
    table.AddNote(fmt::format("{}: {}", policy.label, policy.named_spec()));
  }
  if (oracle) table.AddNote("(oracle): uses true job lengths, which no real scheduler knows.");
  for (const std::string& sentence : StuckInWords(evaluation, rows)) table.AddNote(sentence);
  for (const PolicyRow& row : rows) {
    if (row.unfinished > 0 && row.stuck.empty()) {
      table.AddNote(fmt::format("{}: {} of {} jobs unfinished; JCT is over the finished ones only.",
                                row.name, HumanCount(row.unfinished), HumanCount(row.jobs)));
    }
  }
  return table;
}

}  // namespace allot
