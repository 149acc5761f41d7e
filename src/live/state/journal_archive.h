#pragma once
// What a journal held before it was made anew: one gzip file beside it, to which a member is added
// each time. For people, and for those who read the journal as a workload.

#include <cstdint>
#include <filesystem>

namespace allot {

std::uintmax_t ArchiveSize(const std::filesystem::path& archive);  // 0: there is none

// Adds what a file holds behind the first `valid` bytes and returns the size then, on disk. What
// lies behind these was being added when a daemon was cut off or failed, and is replaced.
// `in_place`: the journal says how far the archive goes, so that a later daemon can cut it; else it
// is replaced by a longer file at once. RunError when it cannot be written: then it is what it was.
// In constant memory.
std::uintmax_t AddToArchive(const std::filesystem::path& archive, std::uintmax_t valid,
                            bool in_place, const std::filesystem::path& from);

// Drops what was being added when a daemon was cut off. Nothing where there is no archive.
void CutArchive(const std::filesystem::path& archive, std::uintmax_t valid);

}  // namespace allot
