#include "plans/plan.h"

#include <fmt/format.h>

#include <array>

#include "core/error.h"

namespace allot {
namespace {

constexpr std::array<const char*, 4> kRecomputeNames = {"none", "selective", "half", "full"};

}  // namespace

const char* NameOf(Recompute recompute) {
  return kRecomputeNames[static_cast<std::size_t>(recompute)];
}

Recompute ParseRecompute(std::string_view text, std::string_view where) {
  for (std::size_t i = 0; i < kRecomputeNames.size(); ++i) {
    if (text == kRecomputeNames[i]) return static_cast<Recompute>(i);
  }
  throw DataError("'recompute' must be none, selective, half or full, got '{}' ({})", text, where);
}

std::string TextOf(const Plan& plan) {
  return fmt::format("dp={} tp={} pp={} vp={} cp={} ep={} zero={} micro_batch={} recompute={}",
                     plan.data, plan.tensor, plan.pipeline, plan.interleave, plan.context,
                     plan.expert, plan.zero, plan.micro_batch, NameOf(plan.recompute));
}

}  // namespace allot
