// Mean JCT by what jobs ask for and who submits them.

#include <algorithm>
#include <cmath>
#include <map>

#include "metrics/humanise.h"
#include "report/evaluation_runs.h"

namespace allot {
namespace {

constexpr std::size_t kClasses = 15;

struct JctClass {
  std::string name;
  std::int64_t jobs = 0;           // submitted, of one policy
  std::vector<double> sum;         // by row
  std::vector<std::int64_t> done;  // by row
};

// "1 GPU", "2 GPUs", "3-4 GPUs", ..., by powers of two; the number sorts.
std::pair<int, std::string> SizeClass(double gpus) {
  if (gpus <= 1) return {0, "1 GPU"};
  const int power = static_cast<int>(std::ceil(std::log2(gpus)));
  const int high = 1 << power;
  const int low = high / 2 + 1;
  return {power, low == high ? fmt::format("{} GPUs", high) : fmt::format("{}-{} GPUs", low, high)};
}

// The classes that `name_of(jobs, i)` gives, ("" none), largest first unless they have an order.
template <typename Key>
std::vector<JctClass> Classes(const EvaluationRuns& runs, const Key& key_of) {
  std::map<std::pair<int, std::string>, JctClass> classes;
  for (std::size_t r = 0; r < runs.rows.size(); ++r) {
    for (const std::vector<RunFigures>& workload : runs.runs) {
      const RunJobs& jobs = workload[r].jobs;
      for (std::size_t i = 0; i < jobs.jct.size(); ++i) {
        const std::pair<int, std::string> key = key_of(jobs, i);
        if (key.second.empty()) continue;
        JctClass& one = classes[key];
        if (one.sum.empty()) {
          one.name = key.second;
          one.sum.assign(runs.rows.size(), 0);
          one.done.assign(runs.rows.size(), 0);
        }
        if (r == 0) ++one.jobs;
        if (std::isnan(jobs.jct[i])) continue;
        one.sum[r] += jobs.jct[i];
        ++one.done[r];
      }
    }
  }
  std::vector<JctClass> list;
  list.reserve(classes.size());
  for (auto& [key, one] : classes) list.push_back(std::move(one));
  return list;
}

Figure JctFigure(const EvaluationRuns& runs, std::vector<JctClass> classes, Figure figure) {
  if (classes.size() < 2) return figure;
  const std::size_t all = classes.size();
  if (all > kClasses) {
    std::stable_sort(classes.begin(), classes.end(),
                     [](const JctClass& a, const JctClass& b) { return a.jobs > b.jobs; });
    classes.resize(kClasses);
    figure.caption += fmt::format(" The {} with most jobs, of {}.", kClasses, all);
  }
  FigurePanel panel;
  std::vector<double> values;
  for (const JctClass& one : classes) {
    panel.y.rows.push_back(fmt::format("{} ({})", one.name, HumanCount(one.jobs)));
  }
  for (std::size_t r = 0; r < runs.rows.size(); ++r) {
    FigureSeries series = runs.Series(r);
    series.mark = FigureSeries::Mark::kDots;
    series.strong = true;
    for (std::size_t c = 0; c < classes.size(); ++c) {
      if (classes[c].done[r] == 0) continue;
      const double mean = classes[c].sum[r] / static_cast<double>(classes[c].done[r]);
      series.points.push_back({mean, static_cast<double>(c) + 0.5});
      values.push_back(mean);
    }
    panel.series.push_back(std::move(series));
  }
  panel.x = {.key = "avg_jct_s", .label = "average JCT", .unit = AxisUnit::kSeconds};
  FitLogAxis(&panel.x, values);
  panel.y.key = "class";
  figure.height = 26.0 * static_cast<double>(classes.size());
  figure.panels.push_back(std::move(panel));
  return figure;
}

std::vector<Figure> JctByFigures(const FigureSource& source) {
  if (source.evaluation == nullptr) return {};
  const EvaluationRuns& runs = *source.evaluation;
  using Class = std::pair<int, std::string>;
  const auto of_size = [](const RunJobs& jobs, std::size_t i) {
    return i < jobs.gpus.size() && !std::isnan(jobs.gpus[i]) ? SizeClass(jobs.gpus[i]) : Class{};
  };
  const auto of_tenant = [](const RunJobs& jobs, std::size_t i) {
    return Class{0, i < jobs.tenant.size() ? jobs.tenant[i] : ""};
  };
  const auto of_user = [](const RunJobs& jobs, std::size_t i) {
    return Class{0, i < jobs.user.size() ? jobs.user[i] : ""};
  };
  const std::string done = " Jobs in brackets; means are over those that ended.";
  return {JctFigure(runs, Classes(runs, of_size),
                    {.id = "jct_by_size",
                     .title = "Average JCT by size",
                     .caption = "By the GPUs that jobs ask for." + done}),
          JctFigure(runs, Classes(runs, of_tenant),
                    {.id = "jct_by_tenant",
                     .title = "Average JCT by tenant",
                     .caption = "Tenants as the trace names them." + done}),
          JctFigure(runs, Classes(runs, of_user),
                    {.id = "jct_by_user",
                     .title = "Average JCT by user",
                     .caption = "Users as the trace names them." + done})};
}

ALLOT_REGISTER(FigureInfo,
               (FigureInfo{"jct_by", "average JCT by size, tenant and user", 40, JctByFigures}));

}  // namespace
}  // namespace allot
