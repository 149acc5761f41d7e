#pragma once
// What a journal held before it was made anew: one gzip file beside it, to which a member is added
// each time. For people, and for those who read the journal as a workload.

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace allot {

// Adds the text behind the first `valid` bytes and returns the size then, on disk. What lies behind
// these was being added when a daemon was cut off, and is replaced. `valid` 0: it is not known how
// far the archive goes; then a file that is there is whole, and is replaced by a longer one at
// once. RunError when it cannot be written.
std::uintmax_t AddToArchive(const std::filesystem::path& archive, std::uintmax_t valid,
                            std::string_view text);

// Drops what was being added when a daemon was cut off. Nothing where there is no archive.
void CutArchive(const std::filesystem::path& archive, std::uintmax_t valid);

}  // namespace allot
