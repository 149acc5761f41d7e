#pragma once
// What a world, a log or a checkpoint was made from, as JSON that travels with it: an array of
// windows of traces {"workload", "from", "to"}, or of {"unknown": WHY}. Checkpoints inherit the
// sources of the logs, histories and checkpoints that they come from, so that 'unseen' can be said
// of none of them (experiment/training/training_overlap.h).

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiment/world.h"

namespace allot {

nlohmann::json SourcesOf(World& world);
// Of data sets written with --log; those of live clusters and of other programs are unknown.
nlohmann::json SourcesOfLogs(const std::vector<std::string>& logs);
nlohmann::json SourcesOfHistory(const std::string& history);  // TRACE or TRACE@WHEN
// Of the checkpoint with this config; older ones say where they were trained only.
nlohmann::json SourcesOfCheckpoint(const nlohmann::json& config);

// Appends those that are not there yet.
void AddSources(const nlohmann::json& more, nlohmann::json* sources);

}  // namespace allot
