#pragma once
// Jobs to GPU types, alone or in pairs on the same GPUs, or to waiting, so that the sum of values
// is largest.
//
// With given pairs this is a type assignment (solve/type_assignment.h), exact for jobs of one GPU,
// whose dual prices say what a GPU of each type is worth. With given prices the best pairs are a
// matching of jobs (Gavel packs by a linear program over all pairs instead: OSDI'20, section 3.1).
// The two are solved in turns, prices halfway to the new ones each time, from the pairs that run.
// The matching is found greedily and then improved by exchanges of partners. At last GPUs that are
// free part pairs, and jobs that wait join others. The best answer of all turns is kept, the one
// without pairs included; it may be below the best there is.
//
// O(jobs^2 x types) a turn, of which there are 2 to 8; of more than kMostJobs those of least value
// per GPU run alone or not at all.

#include <cstdint>
#include <span>
#include <vector>

#include "solve/type_assignment.h"

namespace allot {

struct PairAssignmentProblem {
  // Without pairs. Jobs by order are never paired.
  TypeAssignmentProblem alone;
  // By job, for those that run: the type, else kWaits; the job beside it, itself if that has ended,
  // -1 if it is alone; and how many times as much it is worth to go on just so, which
  // alone.values has in it for the type it runs on (1 for those that wait).
  std::span<const std::int32_t> on;
  std::span<const std::int32_t> partner;
  std::span<const double> stay;
  // Two jobs that need equally many GPUs are worth on a type what each is alone there times its
  // beside[kind of it][kind of the other][type]; 0 of either: they cannot share.
  std::span<const std::int32_t> kind;  // by job
  std::size_t kinds = 0;
  std::span<const double> beside;
};

class PairAssigner {
 public:
  // Turns: as many as look at so many pairs, but no fewer and no more than these.
  static constexpr std::size_t kPairs = 80000;
  static constexpr std::size_t kFewestTurns = 2;
  static constexpr std::size_t kMostTurns = 8;
  static constexpr std::size_t kMostJobs = 1024;

  // Equal problems get equal answers.
  void Solve(const PairAssignmentProblem& problem);

  // By job: its type or kWaits, and its partner or -1. Valid, as all below, until the next Solve.
  std::span<const std::int32_t> types() const { return best_.type; }
  std::span<const std::int32_t> partners() const { return best_.partner; }
  double value() const { return best_.value; }  // the sum

 private:
  struct Answer {
    double value = 0;
    std::vector<std::int32_t> type;
    std::vector<std::int32_t> partner;
  };
  std::size_t types_count() const { return problem_.alone.capacity.size(); }
  double Alone(std::size_t job, std::size_t type) const {
    return alone_[job * types_count() + type];
  }
  double Share(std::size_t job, std::size_t beside, std::size_t type) const {
    const std::size_t a = static_cast<std::size_t>(problem_.kind[job]);
    const std::size_t b = static_cast<std::size_t>(problem_.kind[beside]);
    return problem_.beside[(a * problem_.kinds + b) * types_count() + type];
  }
  double Together(std::size_t a, std::size_t b, std::size_t type) const;
  float& Gain(std::size_t a, std::size_t b) { return gain_[a * candidates_.size() + b]; }

  void ReadValues();
  void FindCandidates();
  void DropCandidates();
  void Assign(const std::vector<std::int32_t>& partner);
  void FindSurplus();
  void FindGains();
  void SetGain(std::size_t i, std::size_t j, double gain);
  void Match(std::vector<std::int32_t>* partner);
  void Improve();
  bool ExchangePartners(std::size_t a, std::size_t c);
  void Part();
  void Join();
  void Keep();

  PairAssignmentProblem problem_;
  std::vector<double> alone_;  // [job][type]
  std::vector<double> worth_;  // the same without what staying adds
  TypeAssigner assigner_;
  Answer answer_;
  Answer best_;
  // Of the type assignment with given pairs: who is assigned, by unit.
  std::vector<std::int32_t> unit_gpus_;
  std::vector<double> unit_values_;
  std::vector<std::int32_t> unit_first_;
  std::vector<double> price_;
  std::vector<double> surplus_;           // by job: the best of value less price, alone
  std::vector<std::int32_t> candidates_;  // jobs that may be paired
  std::vector<float> gain_;               // [candidate][candidate]: of the pair over both alone
  std::vector<std::int32_t> mate_;        // by candidate: a candidate, -1
  std::vector<float> most_gain_;          // by candidate
  std::vector<double> own_part_;          // [kind][type]
  std::vector<std::int32_t> in_turn_;     // candidates, by what they may gain
  std::vector<std::int32_t> hosts_;       // jobs that run alone
  std::vector<std::int32_t> position_;    // by job: among the candidates, -1
  std::vector<std::int32_t> room_;
  std::vector<std::int32_t> partner_;
};

}  // namespace allot
