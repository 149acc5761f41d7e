#pragma once
// What a sequence network sees before each increment: a row of numbers for every job in the window
// and one vector for the moment. Environment-independent, used by serving and by training alike.
//
// Two sets. `dl2`: what DL2 feeds its network (Peng et al., TPDS'21, section 4.1), per job the type
// as one of L, slots in the system, remaining share of the work, dominant share, units of each kind
// so far; nothing of speeds. `speed`: the index network's features of the job (features/encoder.h)
// and what its configuration table says from where it stands: speed, one-step gains, the best gain
// per cost over all larger configurations. Bump kSequenceFeatureVersion with any change.

#include <string>
#include <vector>

#include "features/encoder.h"
#include "features/sequence_action.h"

namespace allot {

// A new version of the index features is one of these, too.
inline constexpr int kSequenceFeatureVersion = 100 * kFeatureVersion + 1;

enum class SequenceFeatures { kDl2, kSpeed };

inline constexpr int kDl2JobFeatures = 5;      // besides one a type
inline constexpr int kDl2ContextFeatures = 3;  // free GPUs, free CPUs, jobs
inline constexpr int kStandingFeatures = 11;   // of `speed`: where the job stands
inline constexpr int kMomentFeatures = 2;      // of `speed`: free GPUs, free CPUs
inline constexpr int kSpeedJobFeatures = kJobFeatures + kStandingFeatures;
inline constexpr int kSpeedContextFeatures = kClusterFeatures + kMomentFeatures;

class SequenceEncoder {
 public:
  // `types`: names of configuration tables, for set `dl2`; a job of another name has none.
  // `scaled`: counts and times divided to be about 1 (set `dl2` only, whose paper does not).
  SequenceEncoder(SequenceFeatures set, std::vector<std::string> types, bool scaled,
                  LengthModel lengths);

  int job_features() const;
  int context_features() const;

  void OnEpisodeStart() { encoder_.OnEpisodeStart(); }
  void Observe(const Observation& observation) { encoder_.Observe(observation); }

  // A new decision; once per observation, in their order.
  void Begin(const Observation& observation);
  // All rows of the window, `slots` of them (empty ones 0), and the context.
  void EncodeWindow(const SequenceAction& state, int slots);
  // After an increment of the job in this slot.
  void Update(const SequenceAction& state, int slot);

  const std::vector<float>& jobs() const { return jobs_; }
  const std::vector<float>& context() const { return context_; }

 private:
  void EncodeJob(const SequenceAction& state, int slot);
  void EncodeDl2(const SequenceAction& state, std::int32_t row, float* x) const;
  void EncodeStanding(const SequenceAction& state, std::int32_t row, float* x) const;
  void EncodeContext(const SequenceAction& state);

  SequenceFeatures set_;
  std::vector<std::string> types_;
  bool scaled_;
  FeatureEncoder encoder_;
  FeatureBatch batch_;
  const Observation* observation_ = nullptr;
  std::vector<float> jobs_;
  std::vector<float> context_;
};

}  // namespace allot
