#pragma once
// The seam for trace formats: one file per format in this folder registers a TraceFormat.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/registry.h"
#include "table/text_encoding.h"
#include "workload/workload.h"

namespace allot {

// Rows that a reader left out, by reason, with one example place; nothing is dropped silently.
struct DropCount {
  std::string reason;  // "no attempt ever got GPUs"
  std::int64_t rows = 0;
  std::string example;   // "cluster_job_log:17"
  double gpu_hours = 0;  // that these rows held, as far as they tell
};

// Jobs that were left out because they accept no GPU type of the cluster.
struct LackingType {
  std::string name;  // of one type, or of several joined by '|'
  std::int64_t jobs = 0;
  double gpu_hours = 0;
};

struct ReadReport {
  std::string format;            // id of the format that was read
  std::int64_t rows = 0;         // data rows or records seen
  std::vector<DropCount> drops;  // in order of first occurrence
  // Rows that became jobs, but not exactly as they stand in the trace ("a share of a GPU counted as
  // 1"); a row may be counted under several reasons.
  std::vector<DropCount> adjusted;
  // What a person should know of the file as a whole ("no column Start: waits are not known").
  std::vector<std::string> notes;
  std::vector<DropCount> clipped{};  // jobs made to fit the cluster (experiment/oversized.h)
  std::vector<LackingType> lacking_types{};  // likewise; in order of first occurrence
  // Of a table that --columns describes: the map, and columns that it does not name.
  std::string columns{};
  std::vector<std::string> ignored_columns{};
  std::string encoding{};
  // By job: the GPUs that it needs on one node, because a pod has its GPUs on one. Others need one.
  std::map<std::string, GpuCount, std::less<>> gpus_on_one_node{};
  void Drop(std::string_view reason, std::string_view place, double gpu_seconds = 0);
  void Adjust(std::string_view reason, std::string_view place);
  void Clip(std::string_view reason, std::string_view place);
  void LackType(std::string_view name, double gpu_hours);
  std::int64_t dropped() const;
  // The drops, those of most GPU time first.
  std::vector<DropCount> LargestDrops() const;
};

// "'p40' (12 jobs), 'k80' (1 job)", those of most GPU time first; "" for none.
std::string LackingTypesInWords(std::vector<LackingType> types);

struct ReadOptions {
  std::string columns{};  // what the columns of a table mean (table/column_map.h); "": not said
  bool lenient = false;   // malformed rows are dropped and counted instead of stopping the read
  // A second file that belongs to the first (TraceFormat::companion); no path: there is none.
  std::string_view companion_text = {};
  std::string companion_path = {};
};

// Reads the whole (decompressed) text of one trace file. `path` is for messages only ("file:line").
// Throws DataError on malformed input, naming rule, value and place.
using ReadFunction = std::function<Workload(std::string_view text, const std::string& path,
                                            const ReadOptions&, ReadReport*)>;
// 0 = certainly not this format .. 100 = certainly; sees at most the first 64 KiB.
using DetectFunction = std::function<int(std::string_view head)>;

struct TraceFormat {
  std::string id;       // "philly-joined"
  std::string summary;  // one line for `allot list formats`
  DetectFunction detect;
  ReadFunction read;
  // For formats of two files: returns the path of the second one for that of the first, or "" if it
  // is unknown. ReadTrace reads it if it is there.
  std::function<std::string(const std::string& path)> companion = {};
  bool any_table = false;  // reads any table of jobs, where it is asked to; never detected
  // The format whose files it reads too, otherwise, where it is asked for; "": none.
  std::string variant_of{};
  // Its deadlines are objectives that jobs can meet; where one cannot, the trace is in error. Else
  // they may be what nobody can keep, as where who is admitted is to be decided.
  bool objectives = false;
};

// The path that means the Philly excerpt that ships with allot.
inline constexpr std::string_view kEmbeddedWorkload = "embedded";

inline constexpr std::string_view kTableFormat = "table";  // that --columns is for

// The files that ReadTrace reads for this path; none of what ships with allot, or of stdin.
std::vector<std::string> FilesOfTrace(const std::string& path);

// The text of a trace file ("-": stdin), decompressed.
DecodedText TraceText(const std::string& path);
// The format that a trace begins like; null: none.
const TraceFormat* DetectTraceFormat(std::string_view text);

// Reads a trace file, decompressing gzip on the fly. format "" or "auto" detects, or is the table
// where the options say what columns mean; an empty result is a DataError.
Workload ReadTrace(const std::string& path, const std::string& format = "auto",
                   const ReadOptions& options = {}, ReadReport* report = nullptr);

}  // namespace allot
