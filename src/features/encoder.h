#pragma once
// Observation -> numbers for a network. The environment, training and the live daemon all call this
// one encoder, so that training and serving see the same bytes.
//
// Per job kJobFeatures numbers, and one context vector for the decision: mean and standard
// deviation of the job features over all jobs, then kClusterFeatures about the cluster. Everything
// is a logarithm or a ratio (times in decision intervals), clipped to +-kFeatureBound, so that
// inputs stay in range for any number of jobs and any time scale. What each feature means:
// features/feature_table.h; source: the index network of docs/learning.md. Bump kFeatureVersion
// with any change: checkpoints of another version are refused.

#include <array>
#include <utility>
#include <vector>

#include "cluster/observation.h"
#include "core/ranks.h"
#include "length_model/hesrpt_weight.h"
#include "length_model/length_model.h"

namespace allot {

inline constexpr int kFeatureVersion = 4;
inline constexpr int kJobFeatures = 21;
inline constexpr int kClusterFeatures = 8;
inline constexpr int kContextFeatures = 2 * kJobFeatures + kClusterFeatures;
inline constexpr float kFeatureBound = 20.0F;

// Places in a job's features; JobFeatureTable() says it in words.
enum JobFeature : int {
  kRemainingSmallest,  // remaining time in the smallest configuration
  kRemainingFastest,
  kRemainingCost,  // GPU-intervals at the best efficiency
  kRemainingShare,
  kAge,
  kIsNew,
  kSpeedup,  // fastest / smallest
  kWidth,    // largest useful / smallest cost
  kSmallestCost,
  kRequestedCost,
  kIsRunning,
  kRunningCost,  // present / smallest cost
  kAttained,     // service so far / expected total cost
  kRankRemaining,
  kRankCost,
  kHasEstimate,
  kHesrptWeight,  // length_model/hesrpt_weight.h, by kRemainingSmallest
  kForecastRank,
  kForecastMedian,
  kForecastHigh,
  kHesrptForecastWeight,  // likewise, by kForecastRank
};

struct FeatureBatch {
  std::vector<float> jobs;     // rows x kJobFeatures, row-major, rows as in the observation
  std::vector<float> context;  // kContextFeatures; all 0 when there is no job
};

class FeatureEncoder {
 public:
  // `lengths`: what is known of run times before the first episode.
  explicit FeatureEncoder(LengthModel lengths = {}) : lengths_(std::move(lengths)) {}

  void OnEpisodeStart() { lengths_.OnEpisodeStart(); }

  // Either to be called at every decision, in their order: the forecasts of remaining time learn
  // from jobs that ended since the last one. Encode observes itself.
  void Observe(const Observation& observation) { lengths_.Observe(observation); }
  // O(rows); no allocation in steady state.
  void Encode(const Observation& observation, FeatureBatch* batch);

 private:
  // Features that come from a job's table alone, worked out once a decision for most tables.
  struct OfTable {
    const ConfigurationTable* table = nullptr;
    std::int32_t requested = -1;
    float speedup = 0;
    float width = 0;
    float smallest_cost = 0;
    float requested_cost = 0;
  };
  const OfTable& TableFeatures(const ConfigurationTable& table, std::int32_t requested);
  void EncodeLogs(FeatureBatch* batch);
  void EncodeRanks(const Observation& observation, FeatureBatch* batch);
  void RankBy(const Observation& observation, JobFeature value, JobFeature rank, Ranks* ranks,
              FeatureBatch* batch);
  void ShareBy(const Observation& observation, JobFeature value, JobFeature share,
               HesrptWeight* longer, FeatureBatch* batch);
  void TakeColumn(const FeatureBatch& batch, JobFeature feature);

  LengthModel lengths_;
  std::array<OfTable, 64> of_tables_;  // by a hash of the table's address; of this decision
  std::vector<float> logs_;            // what logarithms are taken of, by row
  std::vector<double> wide_logs_;
  Ranks remaining_ranks_;
  Ranks cost_ranks_;
  HesrptWeight longer_;
  HesrptWeight longer_remaining_;
  std::vector<float> column_;
};

}  // namespace allot
