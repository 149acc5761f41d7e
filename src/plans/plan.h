#pragma once
// A plan: how one training step of a transformer is split over GPUs. A value.

#include <string>

#include "core/types.h"

namespace allot {

// What the backward pass computes again instead of keeping it.
enum class Recompute { kNone, kSelective, kHalf, kFull };  // nothing, attention, half or all layers

struct Plan {
  int data = 1;        // replicas that each train a part of the batch
  int tensor = 1;      // GPUs over which each matrix is split, within a node
  int pipeline = 1;    // stages of consecutive layers
  int interleave = 1;  // pieces of a stage that take turns (virtual stages)
  int context = 1;     // GPUs over which a sequence is split
  int expert = 1;      // GPUs over which experts are spread, among data x context x tensor
  int zero = 1;        // ZeRO stage: 0 nothing, 1 optimizer, 2 and gradients, 3 and weights sharded
  int micro_batch = 1;  // sequences of one pass
  Recompute recompute = Recompute::kNone;

  GpuCount gpus() const { return data * tensor * pipeline * context; }
  friend bool operator==(const Plan&, const Plan&) = default;
};

const char* NameOf(Recompute recompute);  // "none", "selective", "half", "full"
// DataError for what is none of these; `where` ends its message.
Recompute ParseRecompute(std::string_view text, std::string_view where);

// "dp=8 tp=4 pp=2 vp=5 cp=1 ep=1 zero=1 micro_batch=1 recompute=none"
std::string TextOf(const Plan& plan);

}  // namespace allot
