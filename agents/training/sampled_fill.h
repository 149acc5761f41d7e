#pragma once
// The hull fill with its order drawn at random (Plackett-Luce): each open step is taken next with
// probability proportional to exp(key / tau). What policy-gradient training explores with; at tau
// -> 0 it is the deterministic HullFill.
//
// Drawn as an exponential race, so that a decision costs O((rows + steps) log rows) instead of a
// softmax per step; the gradient of the log-probability needs only, per job, the number of times
// its steps were taken minus the number expected, and those times the steps' derivatives by beta
// and kappa.

#include <cstdint>
#include <span>
#include <vector>

#include "core/rng.h"
#include "stages/fill/hull_fill.h"

namespace allot {

class SampledFill {
 public:
  explicit SampledFill(double tau) : tau_(tau) {}

  // Appends grants as HullFill does. gradient[row] = d log P(this fill) / d scores[row]. Takes one
  // number from `rng`; where that is the same, so is the noise of each step of each job, whatever
  // other jobs there are. The
  // gradient is 0 where all jobs get all they can use.
  void Fill(const Observation& observation, std::span<const Score> scores, Rng* rng,
            std::vector<Grant>* grants, std::vector<Score>* gradient);

  // The steps of the last fill in the order they were drawn, those that did not fit included: what
  // its probability is of.
  struct Draw {
    std::int32_t row;
    std::int32_t to;  // configuration
    bool operator==(const Draw&) const = default;
  };
  const std::vector<Draw>& draws() const { return draws_; }

 private:
  struct Item {
    HullCursor cursor;
    std::int32_t row;
    GpuTypeIndex type;
    double weight;
    double opened_at;  // value of expected_ when its present step opened
    bool open;
  };
  struct Race {
    double time;
    std::int32_t item;
    std::int32_t position;  // stale when the item has moved on
  };

  void Open(std::int32_t item, const Observation& o, std::span<const Score> scores, double now);
  void Close(std::int32_t item, bool taken, std::vector<Score>* gradient);
  double Total();

  double tau_;
  std::uint64_t draw_ = 0;
  double offset_ = 0;    // largest first key: weights are relative to it
  double expected_ = 0;  // sum over draws of 1 / total weight
  double total_ = 0;
  double total_peak_ = 0;
  TypeCapacity capacity_;
  std::vector<Item> items_;
  std::vector<std::int32_t> first_item_;  // of each row; items of a row are consecutive
  std::vector<Race> heap_;
  std::vector<std::int32_t> chosen_;
  std::vector<std::int32_t> rows_;
  std::vector<std::int32_t> served_;   // rows in order of their first step
  std::vector<std::int32_t> blocked_;  // rows whose next step did not fit
  std::vector<Draw> draws_;
};

}  // namespace allot
