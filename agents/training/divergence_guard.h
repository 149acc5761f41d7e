#pragma once
// Stops a training run before it spoils its weights: a decorator that MakeTrainer puts around every
// method. After each iteration it checks the reported figures and the weights. If a number is not
// finite or far too large, Step throws a RunError that says which number and what to try, and
// state() is that of the last good iteration.

#include <memory>

#include "agents/training/trainer.h"

namespace allot {

class DivergenceGuard : public Trainer {
 public:
  // Inputs are within 20 and scores count up to 100: larger weights only saturate.
  static constexpr float kMostWeight = 1e4F;
  // Of a gradient's norm over the median of the last kRemembered ones.
  static constexpr double kMostGrowth = 1e4;
  static constexpr std::size_t kRemembered = 25;

  explicit DivergenceGuard(std::unique_ptr<Trainer> trainer);

  IterationReport Step() override;  // not to be called again once it threw
  const TrainerState& state() const override { return good_; }

 private:
  // "" or what is wrong.
  std::string Diagnose(const IterationReport& report, const TrainerState& state) const;

  std::unique_ptr<Trainer> trainer_;
  TrainerState good_;
  std::vector<double> norms_;  // of the last iterations
};

}  // namespace allot
