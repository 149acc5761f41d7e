#include "workload/trace_reader.h"

#include <algorithm>
#include <filesystem>

#include "core/error.h"
#include "core/file.h"
#include "core/strings.h"
#include "table/row_error.h"
#include "table/table_file.h"
#include "workload/embedded_files.h"
#include "workload/foreign_files.h"

namespace allot {
namespace {

constexpr std::size_t kHeadBytes = 64 * 1024;
constexpr int kLeastScore = 50;  // below it the file is more likely something else

const TraceFormat& Detect(std::string_view text, const std::string& path) {
  if (const TraceFormat* const format = DetectTraceFormat(text)) return *format;
  const auto foreign = RecogniseForeignFile(text, path);
  if (foreign && !foreign->is_table) {
    throw DataError("'{}' is {}, which is not read as it is ({}:1); {}", path, foreign->what, path,
                    foreign->advice);
  }
  if (TableFile::LooksLike(text)) {
    throw DataError(
        "a trace must be in one of allot's formats or have its columns named: 'allot trace inspect "
        "{}' suggests --columns for this table, got columns {} ({}:1)",
        path, Join(TableFile({std::string(text)}, path).header(), ", "), path);
  }
  if (text.starts_with("PK\x03\x04")) {
    throw DataError("a trace must be text: save the workbook as CSV, got Excel's own format ({}:1)",
                    path);
  }
  throw DataError("a trace must be in one of the formats {}, got a file that begins {} ({}:1)",
                  Join(Registry<TraceFormat>::Global().ids(), ", "),
                  Quoted(text.substr(0, text.find('\n'))), path);
}

// The format that was asked for, or that the text is in.
const TraceFormat& Choose(std::string_view text, const std::string& path, const std::string& format,
                          const ReadOptions& options) {
  const bool detect = format.empty() || format == "auto";
  if (options.columns.empty()) {
    return detect ? Detect(text, path)
                  : Registry<TraceFormat>::Global().Get("trace format", format);
  }
  if (!detect && format != kTableFormat) {
    throw UsageError("--columns is for tables that have no format of their own, got --format {}",
                     format);
  }
  return Registry<TraceFormat>::Global().Get("trace format", kTableFormat);
}

// "traces/philly-2017-4weeks.csv.gz" -> "philly-2017-4weeks"
std::string NameOf(const std::string& path) {
  if (const EmbeddedTrace* const embedded = FindEmbeddedTrace(path)) {
    return std::string(embedded->name);
  }
  std::filesystem::path name = std::filesystem::path(path).filename();
  for (const char* extension : {".gz", ".csv", ".tsv", ".json", ".swf", ".trace"}) {
    if (name.extension() == extension) name = name.stem();
  }
  return name.string();
}

void Count(std::string_view reason, std::string_view place, std::vector<DropCount>* counts,
           double gpu_seconds = 0) {
  const double gpu_hours = gpu_seconds / 3600;
  for (DropCount& count : *counts) {
    if (count.reason == reason) {
      ++count.rows;
      count.gpu_hours += gpu_hours;
      return;
    }
  }
  counts->push_back({std::string(reason), 1, std::string(place), gpu_hours});
}

}  // namespace

void ReadReport::Drop(std::string_view reason, std::string_view place, double gpu_seconds) {
  Count(reason, place, &drops, gpu_seconds);
}

void ReadReport::Adjust(std::string_view reason, std::string_view place) {
  Count(reason, place, &adjusted);
}

void ReadReport::Clip(std::string_view reason, std::string_view place) {
  Count(reason, place, &clipped);
}

void ReadReport::LackType(std::string_view name, double gpu_hours) {
  auto type = std::find_if(lacking_types.begin(), lacking_types.end(),
                           [name](const LackingType& each) { return each.name == name; });
  if (type == lacking_types.end()) {
    type = lacking_types.insert(type, LackingType{.name = std::string(name)});
  }
  ++type->jobs;
  type->gpu_hours += gpu_hours;
}

std::string LackingTypesInWords(std::vector<LackingType> types) {
  constexpr std::size_t kMostTypes = 8;
  std::stable_sort(types.begin(), types.end(), [](const LackingType& a, const LackingType& b) {
    return a.gpu_hours > b.gpu_hours;
  });
  std::vector<std::string> words;
  for (const LackingType& type : types) {
    if (words.size() == kMostTypes) {
      words.push_back(fmt::format("and {} more", types.size() - kMostTypes));
      break;
    }
    words.push_back(
        fmt::format("'{}' ({} job{})", type.name, type.jobs, type.jobs == 1 ? "" : "s"));
  }
  return Join(words, ", ");
}

std::int64_t ReadReport::dropped() const {
  std::int64_t sum = 0;
  for (const DropCount& drop : drops) sum += drop.rows;
  return sum;
}

std::vector<DropCount> ReadReport::LargestDrops() const {
  std::vector<DropCount> largest = drops;
  std::stable_sort(largest.begin(), largest.end(), [](const DropCount& a, const DropCount& b) {
    return a.gpu_hours > b.gpu_hours;
  });
  return largest;
}

DecodedText TraceText(const std::string& path) {
  if (const EmbeddedTrace* const embedded = FindEmbeddedTrace(path)) {
    return {DecompressText(embedded->gzip, path)};
  }
  if (path == "-") return DecodeText(ReadTextFile("/dev/stdin"), path);
  if (!std::filesystem::exists(path)) {
    std::vector<std::string> built_in;
    for (const EmbeddedTrace& trace : EmbeddedTraces()) {
      built_in.push_back(fmt::format("'{}' ({})", trace.workload, trace.name));
    }
    throw DataError("there is no trace file '{}'; built in are {}", path, Join(built_in, " and "));
  }
  return DecodeText(ReadTextFile(path), path);
}

std::vector<std::string> FilesOfTrace(const std::string& path) {
  if (FindEmbeddedTrace(path) != nullptr || path == "-") return {};
  std::vector<std::string> files = {path};
  for (const TraceFormat& format : Registry<TraceFormat>::Global().entries()) {
    if (!format.companion) continue;
    const std::string companion = format.companion(path);
    if (!companion.empty() && std::filesystem::exists(companion)) files.push_back(companion);
  }
  return files;
}

const TraceFormat* DetectTraceFormat(std::string_view text) {
  const TraceFormat* best = nullptr;
  int best_score = kLeastScore - 1;
  for (const TraceFormat& format : Registry<TraceFormat>::Global().entries()) {
    const int score = format.detect(text.substr(0, kHeadBytes));
    if (score > best_score) {
      best = &format;
      best_score = score;
    }
  }
  return best;
}

Workload ReadTrace(const std::string& path, const std::string& format, const ReadOptions& options,
                   ReadReport* report) {
  ReadReport unwanted;
  if (report == nullptr) report = &unwanted;
  *report = {};
  const DecodedText decoded = TraceText(path);
  const std::string& text = decoded.text;
  if (text.empty()) throw DataError("a trace must not be empty, got 0 bytes ({}:1)", path);
  const TraceFormat& chosen = Choose(text, path, format, options);
  report->format = chosen.id;
  if (chosen.any_table || decoded.encoding != "UTF-8") report->encoding = decoded.encoding;
  ReadOptions extended = options;
  std::string companion;
  if (chosen.companion) extended.companion_path = chosen.companion(path);
  if (!extended.companion_path.empty() && std::filesystem::exists(extended.companion_path)) {
    companion = DecodeText(ReadTextFile(extended.companion_path), extended.companion_path).text;
    extended.companion_text = companion;
  } else {
    extended.companion_path.clear();
  }
  Workload workload = chosen.read(text, path, extended, report);
  workload.name = NameOf(path);
  workload.source = path;
  if (workload.jobs.empty() && report->rows == 0) {
    throw DataError(
        "a trace must hold at least 1 usable job, got 0 of 0 records: the file has no rows ({}:1)",
        path);
  }
  if (workload.jobs.empty()) {
    std::vector<std::string> reasons;
    for (const DropCount& drop : report->drops) {
      reasons.push_back(fmt::format("; {} dropped: {} ({})", drop.rows, drop.reason, drop.example));
    }
    throw DataError("a trace must hold at least 1 usable job, got 0 of {} records{} ({}:1)",
                    report->rows, Join(reasons, ""), path);
  }
  return workload;
}

}  // namespace allot
