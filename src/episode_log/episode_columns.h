#pragma once
// Writes and reads the columns of an episode log beside Minari's groups
// (docs/formats/episode_log.md): the workload, the decisions and the rules of the run. Used by
// EpisodeLog and ObservationLog.

#include <string>
#include <vector>

#include "record/data_array.h"
#include "record/minari_reader.h"
#include "sched/recorded_policy.h"
#include "sim/scenario.h"
#include "workload/workload.h"

namespace allot {

std::string SimJson(const SimOptions& options);
SimOptions SimFromJson(const std::string& text, const std::string& where);

// StableHash (core/rng.h) of each job's id, because texts have no checksum in the file.
inline constexpr const char* kJobIdHash = "workload/job_id_hash";

void WorkloadColumns(const Workload& workload, ArrayMap* columns);
Workload WorkloadFromColumns(const MinariReader& reader, std::int64_t episode,
                             const std::string& name, const std::string& origin);

void DecisionColumns(const DecisionLog& log, ArrayMap* columns);
DecisionLog DecisionsFromColumns(const MinariReader& reader, std::int64_t episode);

// DataError unless these are the `items` + 1 ascending offsets of a ragged column of `total`.
void RequireOffsets(const std::vector<std::int64_t>& offsets, std::size_t items, std::size_t total,
                    const std::string& where);

}  // namespace allot
