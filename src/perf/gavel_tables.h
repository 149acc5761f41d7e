#pragma once
// Throughput tables as Gavel's users have them (Narayanan et al., OSDI'20), as a catalogue: job
// types are its profiles.

#include <string>
#include <string_view>

namespace allot {

// Whether a text starts like a table of rates alone (GavelCatalogueCsv).
bool IsGavelTable(std::string_view text);

// What of `consolidated` counts: over how many nodes GPUs lay, or nothing, the rates of one node
// holding on any (as in Gavel's own simulator).
enum class GavelNodes { kCounted, kIgnored };

// The text of a catalogue of kind `measured`.
//   alone:  job_type,scale_factor,gpu_type,steps_per_s and perhaps model,batch_size,consolidated
//           (0: over several nodes, 1: on one; the column absent: wherever the GPUs are)
//   beside: gpu_type,scale_factor,job_type_a,job_type_b,steps_per_s_a,steps_per_s_b, each pair
//           once; "": no pairs
// Rate 0: it does not run so. DataError with file and line for a row that is none, that stands
// twice, or a pair of a job type that has no row alone. Paths are for messages.
std::string GavelCatalogueCsv(std::string_view alone, const std::string& alone_path,
                              std::string_view beside, const std::string& beside_path,
                              GavelNodes nodes = GavelNodes::kCounted);

}  // namespace allot
