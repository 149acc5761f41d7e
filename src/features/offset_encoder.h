#pragma once
// What a network sees that adds offsets to a fixed index in any world: the index network's features
// of each job (features/encoder.h), then what worlds differ in. Of the job: what the index gives
// it, what a restart costs, how far its rates are trusted and how often they were measured, how
// well it scales, what GPU types mean for it. Of the moment: the types, how evenly they are used,
// the interval, the size of the cluster. As there all are logarithms or ratios, within
// +-kFeatureBound. OwnNames() and WorldNames() say them in words. Bump the last digits of
// kOffsetFeatureVersion with any change: checkpoints of another version are refused.

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "features/encoder.h"
#include "stages/fill/hull_fill.h"

namespace allot {

// A new version of the index features is one of these, too.
inline constexpr int kOffsetFeatureVersion = 100 * kFeatureVersion + 52;

// Places in a job's features after the kJobFeatures of the encoder.
enum OffsetFeature : int {
  kRuleU,  // of the index, less its mean over the jobs
  kRestart,
  kRestartShare,
  kChanges,
  kWait,
  kTrusted,   // up to how many units rates are more than guesses
  kMeasured,  // how often the rates were renewed
  kScaling,   // efficiency at four times the smallest configuration
  kWidest,    // efficiency where the hull ends
  kTypeRange,
  kTypeMean,
  kTypeNow,
  kTypesMissing,
  kService,    // GPU time attained
  kTrend,      // of kWidest: as gradient noise grows, more GPUs pay off
  kWanted,     // how scarce its best GPU type is: what a price would say
  kSpared,     // how much less scarce the least wanted of its types is
  kOffsetOwn,  // their number
};
inline constexpr int kOffsetWorld = 6;
inline constexpr int kOffsetJobFeatures = kJobFeatures + kOffsetOwn;
// Means of a job's features, features of the cluster, features of the world.
inline constexpr int kOffsetContext = kOffsetJobFeatures + kClusterFeatures + kOffsetWorld;

class OffsetEncoder {
 public:
  explicit OffsetEncoder(LengthModel lengths = {}) : encoder_(std::move(lengths)) {}

  void OnEpisodeStart();
  void Observe(const Observation& observation) { encoder_.Observe(observation); }

  // `scores`: what the index gives each row. jobs: rows x kOffsetJobFeatures; context:
  // kOffsetContext, 0 where there is no job. O(rows x types); no allocation in steady state. To be
  // called once a decision: trends are since the calls before.
  void Encode(const Observation& observation, std::span<const Score> scores, FeatureBatch* batch);

  // Of the own features only, in their order.
  static std::span<const std::string_view> OwnNames();
  static std::span<const std::string_view> WorldNames();

 private:
  // What comes from a job's table alone, worked out once a decision for most tables.
  struct OfTable {
    const ConfigurationTable* table = nullptr;
    std::int32_t smallest = -1;  // configuration
    double best = 0;             // rate of `smallest` over the GPU types; 0: of one type
    float trusted = 0;
    float measured = 0;
    float scaling = 0;
    float widest = 0;
    float types_missing = 0;
    float type_range = 0;
    float type_mean = 0;
  };
  static OfTable Measure(const ConfigurationTable& table, std::size_t types);
  const OfTable& TableFeatures(const ConfigurationTable& table, std::size_t types);
  void EncodeTable(const ConfigurationTable& table, std::int32_t running, std::size_t types,
                   float* x);
  void EncodeLogs(FeatureBatch* batch);
  void EncodeWanted(const Observation& observation, FeatureBatch* batch);
  void EncodeMeans(FeatureBatch* batch);
  void EncodeWorld(const Observation& observation, float* x);
  float Trend(JobIndex job, float now);

  FeatureEncoder encoder_;
  FeatureBatch base_;
  std::array<OfTable, 64> of_tables_;  // by a hash of the table's address; of this decision
  std::vector<float> logs_;            // arguments, then logarithms, of the features that have one
  std::vector<double> used_;           // GPUs, by type
  std::vector<double> wanted_;         // ln (1 + GPUs asked for / GPUs), by type
  std::vector<float> slow_;            // by job: slow mean of kWidest; NaN: not seen
};

}  // namespace allot
