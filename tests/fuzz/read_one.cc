// What every input to a reader of traces or node lists must lead to.
//
// The input is "FORMAT\nTEXT", or "cluster:FORMAT\nTEXT" of a node list; the text of a second file,
// of formats that have one, follows behind kCompanionMark. Without the name of a format, all
// formats read the whole of it, as no file may break any of them. Strictly and leniently, reading
// ends with an Error for bad data or with jobs that obey their rules, that account for every
// record, and that come back unchanged from allot's own CSV. Anything else ends the program.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "cluster/cluster_format.h"
#include "core/error.h"
#include "core/file.h"
#include "table/text_encoding.h"
#include "tests/fuzz/fuzz_target.h"
#include "workload/trace_reader.h"
#include "workload/write_csv.h"

namespace allot {
namespace {

[[noreturn]] void Stop(const std::string& format, const std::string& what) {
  std::fprintf(stderr, "format %s: %s\n", format.c_str(), what.c_str());
  std::abort();
}

void Expect(bool holds, const std::string& format, const char* what) {
  if (!holds) Stop(format, what);
}

bool SameJob(const Workload& a, const Job& x, const Workload& b, const Job& y) {
  return x.id == y.id && x.submit == y.submit && x.gpus == y.gpus && x.duration == y.duration &&
         x.lowest() == y.lowest() && x.highest() == y.highest() && x.work == y.work &&
         x.priority == y.priority && x.deadline == y.deadline &&
         x.user_estimate == y.user_estimate && x.recorded_wait == y.recorded_wait &&
         x.outcome == y.outcome && a.models[x.model] == b.models[y.model] &&
         a.tenants[x.tenant] == b.tenants[y.tenant] && a.users[x.user] == b.users[y.user] &&
         a.groups[x.group] == b.groups[y.group];
}

void CheckRoundTrip(const std::string& format, const Workload& workload) {
  std::ostringstream csv;
  WriteAllotCsv(workload, csv);
  ReadReport report;
  const Workload again = Registry<TraceFormat>::Global()
                             .Get("trace format", "allot")
                             .read(csv.str(), "again.csv", {}, &report);
  Expect(again.jobs.size() == workload.jobs.size(), format, "allot's CSV has other jobs");
  for (std::size_t i = 0; i < again.jobs.size(); ++i) {
    Expect(SameJob(workload, workload.jobs[i], again, again.jobs[i]), format,
           "a job is another one in allot's CSV");
  }
}

void ReadAs(const TraceFormat& format, std::string_view input, bool lenient) {
  ReadOptions options{.lenient = lenient};
  const std::size_t mark = input.find(kCompanionMark);
  if (format.companion && mark != std::string_view::npos) {
    options.companion_text = input.substr(mark + 1);
    options.companion_path = "companion";
    input = input.substr(0, mark);
  }
  ReadReport report;
  Workload workload;
  try {
    workload = format.read(input, "input", options, &report);
  } catch (const Error& error) {
    if (error.code() != ExitCode::kBadData) Stop(format.id, error.what());
    const std::string what = error.what();
    Expect(what.find(':') != std::string::npos, format.id,
           ("an error names no place: " + what).c_str());
    return;
  }
  Expect(report.rows == static_cast<std::int64_t>(workload.jobs.size()) + report.dropped(),
         format.id, "a record is neither a job nor counted as dropped");
  try {
    workload.Finish();
    CheckRoundTrip(format.id, workload);
  } catch (const Error& error) {
    Stop(format.id, error.what());
  }
}

// A node list: an Error for bad data, or a cluster that its text gives again.
void ReadNodes(const ClusterFormat& format, std::string_view text) {
  const std::string name = "cluster:" + format.id;
  try {
    ReadReport report;
    const ClusterSpec spec = format.read(text, "input", &report);
    if (spec.total().gpus == 0) return;  // refused by ClusterSpec::Parse
    const std::string shown = spec.ToString();
    Expect(ClusterSpec::Parse(shown).ToString() == shown, name, "its text is another cluster");
  } catch (const Error& error) {
    if (error.code() != ExitCode::kBadData) Stop(name, error.what());
  }
}

// Every file is decoded before a reader sees it.
std::string Decoded(std::string_view bytes) {
  try {
    return DecodeText(std::string(bytes), "input").text;
  } catch (const Error& error) {
    if (error.code() != ExitCode::kBadData) Stop("decoding", error.what());
    return std::string(bytes);
  }
}

void ReadBothWays(const TraceFormat& format, std::string_view text) {
  for (const bool lenient : {false, true}) ReadAs(format, text, lenient);
}

}  // namespace

std::vector<std::string> SampleInputs(const std::string& folder) {
  std::vector<std::string> paths, inputs;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    const std::string text = ReadTextFile(path);
    const TraceFormat* best = nullptr;
    for (const TraceFormat& format : Registry<TraceFormat>::Global().entries()) {
      if (best == nullptr || format.detect(text) > best->detect(text)) best = &format;
    }
    for (const TraceFormat& format : Registry<TraceFormat>::Global().entries()) {
      if (format.any_table && path.ends_with(".csv")) inputs.push_back(format.id + "\n" + text);
    }
    if (best->detect(text) < 50) continue;  // a second file, which goes with its first one
    std::string input = best->id + "\n" + text;
    const std::string companion = best->companion ? best->companion(path) : "";
    if (std::filesystem::exists(companion)) input += kCompanionMark + ReadTextFile(companion);
    inputs.push_back(std::move(input));
  }
  return inputs;
}

}  // namespace allot

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t end = input.find('\n');
  for (const auto& format : allot::Registry<allot::ClusterFormat>::Global().entries()) {
    format.detect(input);
    if (end == std::string_view::npos || "cluster:" + format.id != input.substr(0, end)) continue;
    allot::ReadNodes(format, allot::Decoded(input.substr(end + 1)));
    return 0;
  }
  const auto& formats = allot::Registry<allot::TraceFormat>::Global().entries();
  for (const allot::TraceFormat& format : formats) {
    const int score = format.detect(input);
    allot::Expect(score >= 0 && score <= 100, format.id, "detection is not in percent");
    if (end != std::string_view::npos && format.id == input.substr(0, end)) {
      allot::ReadBothWays(format, input.substr(end + 1));
      return 0;
    }
  }
  for (const allot::TraceFormat& format : formats) allot::ReadBothWays(format, input);
  return 0;
}
