#pragma once
// The rates of a whole configuration table by goodput (perf/goodput_model.h), for jobs whose
// gradients change often and whose fitted times change seldom: iteration times of all candidates of
// a batch are kept, and new statistics cost a few operations a candidate.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "perf/configuration.h"
#include "perf/goodput_model.h"

namespace allot {

// Which batches the configurations of a table may be trained with. Depends on the table's layout
// only: one for all jobs of a table.
struct GoodputCandidates {
  struct Candidate {
    double passes = 0;       // without synchronisation
    double shrink = 1;       // M0 / total batch
    std::int32_t batch = 0;  // of one GPU: index into `batches`
  };
  struct OfConfiguration {
    std::size_t end = 0;  // of its candidates, which begin where those of the one before end
    GpuTypeIndex type = 0;
    GpuCount gpus = 0;
    bool several_nodes = false;
  };
  std::vector<OfConfiguration> configurations;
  std::vector<Candidate> candidates;
  std::vector<double> batches;  // each once
};

// `limits`: by GPU type of the table, null: it does not train there. `fixed_batch`: total, 0:
// chosen.
std::shared_ptr<const GoodputCandidates> MakeGoodputCandidates(
    const ConfigurationTable& table, const std::function<const BatchLimits*(GpuTypeIndex)>& limits,
    double fixed_batch);

class GoodputRates {
 public:
  explicit GoodputRates(std::shared_ptr<const GoodputCandidates> candidates);

  // `timing`: by GPU type, null: not known. O(configurations).
  void SetTimings(const std::function<const StepTiming*(GpuTypeIndex)>& timing);
  // By configuration, iterations at M0 per second; 0 where the times are not known, and for more
  // than `most` GPUs. O(candidates); with new timings one power a candidate that is asked for.
  void RatesAt(const GradientStatistics& statistics, std::vector<double>* rates,
               GpuCount most = kMaxGpusPerJob);

 private:
  struct OfType {
    bool known = false;
    StepTiming timing;
    std::vector<double> powers;  // of a pass' seconds, to gamma, by batch; below 0: not yet
  };
  void FindSpeeds(std::size_t configuration, std::size_t begin);

  std::shared_ptr<const GoodputCandidates> candidates_;
  std::vector<OfType> types_;
  std::vector<double> speed_;  // iterations per second, by candidate
  std::vector<char> found_;    // by configuration, whether its speeds are those of the timings
};

// The batches that a job may train with at one place, timed: what its goodput is best with follows
// from its gradients alone.
class TimedBatches {
 public:
  TimedBatches() = default;
  TimedBatches(const StepTiming& timing, const BatchLimits& limits, bool several_nodes,
               GpuCount gpus);

  // As ChooseBatch, with one point. O(candidates).
  BatchChoice Best(const GradientStatistics& statistics) const;

 private:
  struct Timed {
    BatchChoice choice;
    double scale = 1;  // of the total batch over M0
    Seconds iteration = 0;
  };
  std::vector<Timed> batches_;
};

}  // namespace allot
