#pragma once
// Elements of arrays between memory and HDF5 files: their types, and how they are laid out. Used by
// record/hdf5 alone.

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "record/data_array.h"
#include "record/hdf5_handle.h"

namespace allot {

inline constexpr std::size_t kMaxElements = std::size_t{1} << 33;  // a guard against absurd files

// Text of a fixed length, padded with NUL. HDF5 keeps text of variable length in a heap without a
// checksum, and its version 1.10 crashes when it reads a damaged one.
Hdf5Handle TextType(std::size_t bytes);

// Values as HDF5 wants them: its type, and a contiguous buffer that lives as long as this.
struct EncodedValues {
  Hdf5Handle type;
  const void* data = nullptr;
  std::size_t element_bytes = 0;
  std::vector<std::int8_t> truths;
  std::vector<char> texts;
};

EncodedValues EncodeValues(const ArrayValues& values);

// Reads `count` values of a data set. False when HDF5 cannot.
using ValueReader = bool (*)(hid_t dataset, std::size_t count, ArrayValues* values);

// The reader for the type a data set has in the file; null when we have no such type.
ValueReader FindReader(hid_t type);

}  // namespace allot
