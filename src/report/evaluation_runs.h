#pragma once
// The runs of an evaluation, read for figures: jobs, timelines and who held what, by workload and
// policy. Figures share one reading.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cluster/cluster_spec.h"
#include "metrics/comparison.h"
#include "metrics/evaluation.h"
#include "report/figure.h"

namespace allot {

// How a policy is drawn everywhere on the page: a colour, and a dash once all are given out. Styles
// belong to ids; the reference of the first evaluation has the first one.
struct PolicyStyle {
  int colour = 0;
  int dash = 0;
};
class Palette {
 public:
  void Add(const Evaluation& evaluation);
  PolicyStyle Of(const std::string& id) const;  // `id` of an evaluation that was added

 private:
  std::vector<std::string> ids_;
};

// By job, in the order of jobs.csv; kUnknown where a field is empty. Columns that the file lacks
// are empty.
struct RunJobs {
  std::vector<std::string> id;  // only of runs that are drawn over time
  std::vector<double> submit;
  std::vector<double> start;
  std::vector<double> finish;
  std::vector<double> jct;
  std::vector<double> gpus;   // that it asks for
  std::vector<double> run_s;  // at these
  std::vector<std::string> tenant;
  std::vector<std::string> user;
};

struct RunTimeline {
  std::vector<double> time;
  std::vector<double> waiting;
  std::vector<double> gpus_used;
  std::vector<double> nodes;  // empty: not noted
};

struct RunFigures {
  RunJobs jobs;
  RunTimeline timeline;  // of drawn workloads
  std::filesystem::path directory;
  double begin = 0;        // first decision or submission
  double last_submit = 0;  // of the workload
  double end = 0;          // last change

  // GPU use from `begin` until then, 0 to 1.
  double UseUntil(double until, double gpus) const;
};

struct EvaluationRuns {
  Evaluation evaluation;
  std::vector<PolicyRow> rows;      // as figures show them: the reference, then fastest first
  std::vector<PolicyStyle> styles;  // by row
  GpuCount gpus = 0;
  // With its topology; none where the text does not tell it, because it was a file.
  std::optional<ClusterSpec> cluster;
  std::size_t drawn = 0;                      // workloads with timelines
  std::vector<std::vector<RunFigures>> runs;  // by workload, by row

  // Name and style of a row, no points.
  FigureSeries Series(std::size_t row) const;
  // For figures of one workload: its choice.
  void Choose(std::size_t workload, Figure* figure) const;
  // The time in which policies differ: until the last submission, or to the end if all jobs come at
  // once.
  double ArrivalsEnd(std::size_t workload) const;
  // GPU use until then, mean over the drawn workloads.
  double ArrivalsUse(std::size_t row) const;
};

// Workloads whose timelines fit in the page; the first ones are taken.
std::size_t DrawnWorkloads(const Evaluation& evaluation);

// DataError naming the file where a run of it is missing or malformed.
EvaluationRuns ReadEvaluationRuns(const std::filesystem::path& directory, const Palette& palette);

}  // namespace allot
