#pragma once
// The sources of a world, a log or a checkpoint, stored with it as JSON: an array of windows of
// traces {"workload", "from", "to"}, or of {"unknown": WHY}. Checkpoints inherit the sources of the
// logs, histories and checkpoints that they come from, so that none of these can count as unseen
// (experiment/training/training_overlap.h).

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiment/world.h"

namespace allot {

nlohmann::json SourcesOf(World& world);
// The sources of data sets written with --log; unknown for live clusters and other programs.
nlohmann::json SourcesOfLogs(const std::vector<std::string>& logs);
nlohmann::json SourcesOfHistory(const std::string& history);  // TRACE or TRACE@WHEN
// The sources of the checkpoint with this config; older ones record only where they were trained.
nlohmann::json SourcesOfCheckpoint(const nlohmann::json& config);

// Appends the missing ones.
void AddSources(const nlohmann::json& more, nlohmann::json* sources);

}  // namespace allot
