#pragma once
// A checkpoint of a training job: the file `checkpoint` in the job's folder (job_folder.h) with the
// step and blocks of plain bytes, whole or absent. Used by ElasticWorker. The format is private to
// the job: a magic word, the step, the sizes, the bytes and their checksum, in this machine's byte
// order.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/owned_folder.h"

namespace allot {

// A piece of training state in the program's own memory: a tensor's data.
struct StateBlock {
  void* data = nullptr;
  std::size_t bytes = 0;
};

std::size_t SizeOf(std::span<const StateBlock> blocks);  // bytes in all

void SaveCheckpoint(const OwnedFolder& folder, std::int64_t step,
                    std::span<const StateBlock> state);

// Fills the blocks and returns the step; without a file returns nullopt and changes nothing.
// DataError if the file is damaged or its blocks have other sizes, RunError if another user owns
// it.
std::optional<std::int64_t> LoadCheckpoint(const OwnedFolder& folder,
                                           std::span<const StateBlock> state);

}  // namespace allot
