#pragma once
// Whose jobs should become elastic first, where not all do at once.

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "report/whatif.h"

namespace allot {

// The mean completion time where the jobs of these users alone are elastic.
using ElasticJct = std::function<Seconds(const std::vector<std::string>& users)>;

// Greedily, until the users have at least this share of the GPU time: at each step the user whose
// jobs save most for a GPU hour, beside those of the users before. Only the kMostTried users of
// most GPU time are tried. O(kMostTried^2) simulations.
inline constexpr std::size_t kMostTried = 8;
std::vector<ElasticUser> FindElasticUsers(const std::vector<WhatIfGroup>& users, double share,
                                          const ElasticJct& jct);

// The first of them who together have at least this share; all where they have less.
std::span<const ElasticUser> FirstElasticUsers(std::span<const ElasticUser> users, double share);

// Of the GPU time of all jobs, that these users have together.
double GpuShareOf(std::span<const ElasticUser> users);

// "10,20,50": per cent of the GPU time, ascending. UsageError.
std::vector<double> ParseElasticShares(const std::string& text);

}  // namespace allot
