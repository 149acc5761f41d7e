#pragma once
// Time shares if two jobs may run on the same GPUs (Gavel, OSDI'20, section 3.1, "space sharing").
// A pair of jobs of equal GPUs has, on each type, a rate for either; it takes the GPUs once and the
// time of both. There are as many pairs as jobs squared: they are found by column generation
// (Gilmore, Gomory, Operations Research 9, 1961), over classes of equal jobs, in the general linear
// program (general_lp.h).
//
// Objectives and errors are those of share_problem.h; an even division is one of jobs alone.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "solve/share_problem.h"

namespace allot {

struct PackedProblem {
  ShareProblem alone;
  std::vector<std::int32_t> kind;  // by job; jobs of a kind have equal rates and GPUs
  std::size_t kinds = 0;
  // [kind][kind][type]: the rate of a job of the first beside one of the second; 0: they do not run
  // together there. Kinds of different GPUs never do.
  std::vector<double> beside;

  double rate_beside(std::int32_t a, std::int32_t b, std::size_t type) const {
    const auto at = [](std::int32_t k) { return static_cast<std::size_t>(k); };
    return beside[(at(a) * kinds + at(b)) * alone.types() + type];
  }
};

struct PairShare {
  std::int32_t first = 0;  // jobs, first < second
  std::int32_t second = 0;
  std::size_t type = 0;
  double share = 0;
};

struct PackedShares {
  bool feasible = true;
  std::vector<double> of;        // [job][type], alone
  std::vector<PairShare> pairs;  // each (first, second, type) once, ascending
  double objective = 0;
};

// theta_i: what a job gets alone and beside others.
std::vector<double> RatesOf(const PackedProblem& problem, const PackedShares& shares);

PackedShares MaxMinPacked(const PackedProblem& problem);
// `levels`, if given: of each job.
PackedShares WaterFillingPacked(const PackedProblem& problem,
                                std::vector<double>* levels = nullptr);
// The largest sum over jobs of worth_i theta_i such that theta_i >= need_i (empty: none). With
// `price` by type, what is got on a type counts divided by its price.
PackedShares MaxSumPacked(const PackedProblem& problem, std::span<const double> worth,
                          std::span<const double> need = {}, std::span<const double> price = {});
PackedShares MakespanPacked(const PackedProblem& problem, std::span<const double> work);
// `scaled_work` takes the place of the work in the numerators (the peer multiplies by weights
// there); empty: the work.
PackedShares FinishTimePacked(const PackedProblem& problem, std::span<const double> work,
                              std::span<const double> elapsed, std::span<const double> alone,
                              std::span<const double> scaled_work = {});

// First come, first served, on the fastest type left; then each job in turn that found no GPUs
// joins the one alone on its GPUs with which the sum of both rates, each relative to the job alone
// there, is largest, if above `least`; the first that finds none ends it (Gavel's fifo_packed).
PackedShares FirstComePacked(const PackedProblem& problem, double least = 1.5);

// Pairs as they are given (each job in at most one, jobs of equal GPUs), the others alone: each of
// these gets an equal part of every type, as a job does in EvenShares (Gavel's gandiva, after Xiao
// et al., OSDI'18). Types on which it has no rate included. Objective: 0.
PackedShares EvenPacked(const PackedProblem& problem,
                        std::span<const std::pair<std::int32_t, std::int32_t>> pairs);

}  // namespace allot
