#pragma once
// Values as Slurm's programs and its JSON write them: times, lengths, tasks of arrays, lists of
// hosts. Used by the readers of jobs and nodes here, of traces (src/workload) and of node lists
// (src/cluster).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/types.h"

namespace allot {

// Whether Slurm says that there is no value: "", "Unknown", "None", "N/A", "(null)", ...
bool IsSlurmUnset(std::string_view text);

// "2026-11-01T10:00:00", the same with a space -> seconds since 1970, without a zone; or seconds
// since 1970 (SLURM_TIME_FORMAT=%s), from 1989 on: 20261101 is none. nullopt for anything else.
std::optional<std::int64_t> ParseSlurmTime(std::string_view text);

// "[D-]HH:MM:SS[.micro]", "MM:SS[.micro]" -> seconds; nullopt for anything else.
std::optional<Seconds> ParseSlurmSpan(std::string_view text);

// "[5-9%2]", "1,3-7:2" -> the numbers of an array's tasks, at most the first `at_most`; those after
// "..." are not known. nullopt for anything else, and for more tasks than an array of Slurm can
// have.
std::optional<std::vector<std::int64_t>> ParseArrayTasks(std::string_view text,
                                                         std::optional<std::size_t> at_most = {});

// "n[1-2,08-10],m3" -> n1 n2 n08 n09 n10 m3. DataError where brackets are not closed, a range is
// none, or there are more than a million hosts.
std::vector<std::string> ExpandHosts(std::string_view list);

}  // namespace allot
