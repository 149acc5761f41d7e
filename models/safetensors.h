#pragma once
// The safetensors format (https://huggingface.co/docs/safetensors), float32 only: a length, a JSON
// header, raw little-endian data. Readable from Python, NumPy and Rust without a line of ours.
//
// Both directions work on bytes in memory; the owner of the file (models/checkpoint) reads and
// writes it and checks its integrity. The decoder checks everything: a broken format is a DataError
// that begins with `origin` and names the rule and both values.

#include <map>
#include <string>
#include <string_view>

#include "models/tensor.h"

namespace allot {

// Equal tensors and metadata give equal bytes.
std::string EncodeSafetensors(const TensorMap& tensors,
                              const std::map<std::string, std::string>& metadata = {});

TensorMap DecodeSafetensors(std::string_view bytes, const std::string& origin);

}  // namespace allot
