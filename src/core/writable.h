#pragma once
// Whether results can be written, asked before hours of work.

#include <filesystem>

namespace allot {

// UsageError for an empty path. RunError naming the path and the folder that forbids it, where a
// file or folder of this name cannot be made: a folder above it is a file, or may not be written
// to. Changes nothing. The disk may still be full, and rights may change.
void RequireWritable(const std::filesystem::path& path);

// UsageError where a file is to be written and the path is that of a folder.
void RequireFilePath(const std::filesystem::path& path);

}  // namespace allot
