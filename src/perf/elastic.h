#pragma once
// Turns a rigid trace into an elastic workload, as no public trace records how its jobs scale.
// These speeds are invented: only where a user asks for it, or in the worlds that ship with allot,
// and Workload::drawn says for how many jobs, so that every result can.
//
// Each job draws a profile from those of the catalogue that keep the least parallel efficiency at
// its requested size (counter RNG keyed by seed and the job's id, so a job keeps its profile in
// every sub-sample), may use [1, min(4 x requested, cap)] GPUs but at least the requested, and gets
// work = duration x rate(requested GPUs on the reference type), which TableCache::WorkOf derives.
// What a trace does say stays: a job's own model, its own resize limits.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "perf/catalogue.h"
#include "workload/workload.h"

namespace allot {

struct ElasticityOptions {
  std::uint64_t seed = 0;
  GpuCount growth = 4;  // highest = growth x requested
  GpuCount cap = 64;    // ... but not above this (nor below the requested)
  // Users do not ask for GPUs that their job cannot use: only profiles with at least this parallel
  // efficiency at the requested size are drawn, and all of them where none has it.
  double least_efficiency = 0.4;
  // Jobs of others keep their size; unset: those of all users become elastic.
  std::optional<std::vector<std::string>> users{};
};

// The job runs at the size that it asks for and at no other, also where it names a model: --rigid.
void KeepRequestedSize(Job* job);

// For people: how many of the jobs keep their size because their speed at others is unknown, though
// their trace allows others; "" for none.
std::string FixedSizesInWords(std::int64_t fixed, std::int64_t jobs);

// Whether the options' users are all, or the job's is one of them.
bool MayBecomeElastic(const ElasticityOptions& options, const Workload& workload, const Job& job);

void MakeElastic(const ElasticityOptions& options, const Catalogue& catalogue, Workload* workload);

}  // namespace allot
