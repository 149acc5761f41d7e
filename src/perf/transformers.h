#pragma once
// The language models that come with allot, traces/transformers.csv: the catalogue 'transformers'.

#include <span>
#include <string>

#include "perf/catalogue.h"
#include "plans/plan.h"

namespace allot {

const Catalogue& TransformersCatalogue();

// A profile that trains by one plan: more GPUs are more replicas of it, and nothing else changes.
struct FixedPlan {
  std::string profile;  // of the catalogue
  std::string name;     // of the new profile
  Plan plan;
};
// Profiles of fixed plans, each on all GPU types. DataError for an unknown profile.
Catalogue CatalogueOfFixedPlans(std::span<const FixedPlan> plans);

}  // namespace allot
