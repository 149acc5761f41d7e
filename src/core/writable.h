#pragma once
// Whether results can be written, asked before hours of work.

#include <filesystem>

namespace allot {

// RunError naming the path and the folder that forbids it, where a file or folder of this name
// cannot be made: a folder above it is a file, or may not be written to. Changes nothing. The disk
// may still be full, and rights may change.
void RequireWritable(const std::filesystem::path& path);

}  // namespace allot
