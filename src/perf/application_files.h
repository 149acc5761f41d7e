#pragma once
// Applications from files: a folder as docs/goodput.md describes it, or the same folder as one
// text, which is how applications ship with allot and stand in logs.
//
//   parameters.csv                 a row for each application, or for each and GPU type
//   fixed_batches.csv              optional: application, batch_size, max_gpus of programs that
//                                  cannot choose
//   APP/placements.csv             iteration times by placement and batch of one GPU
//   APP/validation.csv             training curves by total batch and epoch
//   APP/scalability.csv            optional: iteration times by nodes and GPUs
//   APP/interp[-TYPE].json         optional: triangulation of (nodes, GPUs, batch of one GPU):
//                                  points, simplices, and perhaps values: default, the rows' means
//   APP/interp_overlaps[-TYPE].csv optional: answers where its simplices overlap

#include <string>
#include <string_view>
#include <vector>

#include "perf/application.h"

namespace allot {

bool IsApplicationPack(std::string_view text);
// The files of a folder as one text. DataError where it has no parameters.csv, or a file that it
// must have is absent.
std::string PackApplications(const std::string& folder);
// `path`: of the folder, for messages. DataError naming file, line and rule.
std::vector<ApplicationPtr> ReadApplications(std::string_view pack, const std::string& path);

}  // namespace allot
