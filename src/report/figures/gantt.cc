// Job by time: when jobs wait, run, and on how many GPUs, a picture for each policy, of the first
// workload. Of many jobs those with most GPU time.

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "metrics/humanise.h"
#include "report/held_gpus.h"

namespace allot {
namespace {

constexpr std::size_t kGanttRows = 40;
constexpr std::size_t kGanttBoxes = 1200;
constexpr std::size_t kGanttPolicies = kFigureColours;
constexpr int kWaitColour = 5;

// The jobs that are drawn, by submission: those with most GPU time until then, as long as their
// boxes are few enough.
std::vector<std::size_t> DrawnJobs(const RunFigures& run,
                                   const std::map<std::size_t, std::vector<HeldGpus>>& by_job,
                                   double until) {
  std::vector<std::pair<double, std::size_t>> most;
  for (const auto& [job, spans] : by_job) {
    double seconds = 0;
    for (const HeldGpus& span : spans) {
      seconds += span.gpus * std::max(0.0, std::min(span.end, until) - span.begin);
    }
    most.emplace_back(-seconds, job);
  }
  std::sort(most.begin(), most.end());
  std::vector<std::size_t> drawn;
  std::size_t boxes = 0;
  for (const auto& [seconds, job] : most) {
    boxes += 2 * by_job.at(job).size();
    if (drawn.size() == kGanttRows || (boxes > kGanttBoxes && !drawn.empty())) break;
    drawn.push_back(job);
  }
  std::sort(drawn.begin(), drawn.end(), [&run](std::size_t a, std::size_t b) {
    const double x = run.jobs.submit[a];
    const double y = run.jobs.submit[b];
    return x != y ? x < y : a < b;
  });
  return drawn;
}

Figure GanttOf(const EvaluationRuns& runs, std::size_t row) {
  const RunFigures& run = runs.runs.front()[row];
  const double until = runs.ArrivalsEnd(0);
  const Topology* const topology = runs.cluster ? runs.cluster->topology() : nullptr;
  Figure figure{.id = "gantt", .title = "Jobs over time"};
  std::map<std::size_t, std::vector<HeldGpus>> by_job;
  for (HeldGpus& held : ReadHeldGpus(run)) {
    if (held.begin < until) by_job[held.job].push_back(std::move(held));
  }
  if (by_job.empty() || !(until > run.begin)) return figure;
  const std::vector<std::size_t> drawn = DrawnJobs(run, by_job, until);
  GpuCount most = 1;
  for (const std::size_t job : drawn) {
    for (const HeldGpus& held : by_job[job]) most = std::max(most, held.gpus);
  }
  FigurePanel panel;
  panel.x = {.key = "time_s",
             .label = "time since the first submission",
             .low = 0,
             .high = until - run.begin,
             .unit = AxisUnit::kSeconds};
  panel.y.key = "job";
  for (const std::size_t job : drawn) {
    const auto y = static_cast<double>(panel.y.rows.size());
    panel.y.rows.push_back(run.jobs.id[job]);
    double before = run.jobs.submit[job];
    const auto wait_until = [&](double time) {
      if (time > before) {
        panel.boxes.push_back({.x0 = before - run.begin,
                               .x1 = time - run.begin,
                               .y0 = y + 0.35,
                               .y1 = y + 0.65,
                               .colour = kWaitColour,
                               .shade = 0.25,
                               .text = "waits"});
      }
    };
    for (const HeldGpus& held : by_job[job]) {
      wait_until(held.begin);
      const double end = std::min(held.end, run.end);
      panel.boxes.push_back(
          {.x0 = held.begin - run.begin,
           .x1 = end - run.begin,
           .y0 = y,
           .y1 = y + 1,
           .colour = runs.styles[row].colour,
           .shade = 0.25 + 0.75 * std::sqrt(static_cast<double>(held.gpus) / most),
           .edge = true,
           .text = HeldInWords(held, topology)});
      before = end;
    }
    if (std::isnan(run.jobs.finish[job])) {
      wait_until(run.end);
    } else {
      wait_until(run.jobs.finish[job]);
    }
  }
  figure.caption = fmt::format(
      "{}: {}A bar is a job on its GPUs, darker where it has more (up to {}), with a gap where "
      "they "
      "change; a thin line waits. Until the last submission{}.",
      runs.rows[row].name,
      drawn.size() < run.jobs.id.size()
          ? fmt::format("the {} of {} jobs with most GPU time, by submission; all are in "
                        "allocations.csv. ",
                        drawn.size(), HumanCount(static_cast<std::int64_t>(run.jobs.id.size())))
          : "",
      most, runs.evaluation.workloads.size() > 1 ? ", of the first workload" : "");
  figure.height = std::max(60.0, static_cast<double>(drawn.size()) * 15);
  figure.panels.push_back(std::move(panel));
  return figure;
}

std::vector<Figure> GanttFigures(const FigureSource& source) {
  std::vector<Figure> figures;
  if (source.evaluation == nullptr) return figures;
  const EvaluationRuns& runs = *source.evaluation;
  for (std::size_t r = 0; r < std::min(runs.rows.size(), kGanttPolicies); ++r) {
    Figure& figure = figures.emplace_back(GanttOf(runs, r));
    figure.wide = figure.zoom = true;
    figure.choice_kind = kPolicyChoice;
    figure.choice = runs.rows[r].name;
  }
  return figures;
}

ALLOT_REGISTER(FigureInfo, (FigureInfo{"gantt", "when jobs wait and run, and on how many GPUs", 85,
                                       GanttFigures}));

}  // namespace
}  // namespace allot
