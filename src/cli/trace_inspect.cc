// allot trace inspect: the contents of a trace, with dropped rows and reasons; or the contents of a
// throughput table, and the jobs that fit it.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/catalogue_text.h"
#include "cli/command.h"
#include "core/json_text.h"
#include "core/shell_text.h"
#include "experiment/world.h"
#include "perf/gavel_tables.h"
#include "table/column_guess.h"
#include "workload/formats/suggested_columns.h"
#include "workload/name_map.h"
#include "workload/trace_stats_text.h"

namespace allot {
namespace {

// True for a file that begins like a throughput table, or the first of two like Gavel's.
bool IsCatalogue(const std::string& name) {
  if (Registry<CatalogueInfo>::Global().Find(name) != nullptr) return name != kEmbeddedWorkload;
  std::error_code ignored;
  const bool one = std::filesystem::is_regular_file(name, ignored);
  const std::string path = one ? name : name.substr(0, name.find(','));
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  std::ifstream file(path);
  std::string header;
  std::getline(file, header);
  return header.starts_with("profile,") || IsGavelTable(header);
}

void Explain(const Catalogue& catalogue, const std::string& name, const Workload* workload,
             const GlobalOptions& globals) {
  if (globals.json) {
    std::printf("%s\n", JsonText(CatalogueJson(catalogue, name, workload)).c_str());
  } else {
    std::printf("%s", CatalogueText(catalogue, name, workload).c_str());
  }
}

std::string WhatIfLine(const std::string& trace, const std::string& format,
                       const std::string& columns, const std::string& model_map,
                       const std::string& type_map, GpuCount gpus) {
  std::string line = "allot whatif --workload " + ShellWord(trace);
  if (format != "auto") line += " --format " + ShellWord(format);
  if (!columns.empty()) line += " --columns " + ShellWord(columns);
  if (!model_map.empty()) line += " --model-map " + ShellWord(model_map);
  if (!type_map.empty()) line += " --type-map " + ShellWord(type_map);
  // A cluster with the GPUs of the record: whole nodes of 8, or one smaller node.
  constexpr GpuCount kNode = 8;
  return line + (gpus <= kNode
                     ? fmt::format(" --cluster 1x{}", gpus)
                     : fmt::format(" --cluster {}x{}", (gpus + kNode - 1) / kNode, kNode));
}

int Suggest(const SuggestedColumns& guess, const GlobalOptions& globals) {
  std::printf("%s", globals.json ? (JsonText(guess.json) + "\n").c_str() : guess.text.c_str());
  return guess.complete ? 0 : static_cast<int>(ExitCode::kBadData);
}

ALLOT_REGISTER(
    CommandInfo,
    (CommandInfo{
        "trace inspect",
        "jobs, span, demand and run times of a trace, and what was dropped; or a throughput table",
        [](CommandLine& line, const GlobalOptions& globals) {
          struct Options {
            std::string path = "embedded";
            std::string format = "auto";
            ReadOptions read;
            std::string model_map;
            std::string type_map;
            std::string catalogue;
          };
          auto o = std::make_shared<Options>();
          line.Option("trace,-w,--workload", o->path,
                      "trace file, or 'embedded'; a throughput "
                      "table (docs/formats/catalogue.md) is explained instead")
              .ShowDefault();
          line.Option("--format", o->format, "trace format, see 'allot list formats'")
              .ShowDefault();
          line.Option("--columns", o->read.columns,
                      "of any table: which column means what, submit=COLUMN,gpus=COLUMN,...; "
                      "without it, a table that no format fits gets a suggestion");
          line.Option("--model-map", o->model_map,
                      "names of models: theirs=ours,..., or a CSV file theirs,ours");
          line.Option("--type-map", o->type_map,
                      "names of GPU types: theirs=ours,..., or a CSV file theirs,ours");
          line.Flag("--lenient", o->read.lenient,
                    "drop and count malformed rows instead of stopping");
          line.Option("--catalogue", o->catalogue,
                      "throughput table whose types the jobs of the trace are fitted to: CSV, or a "
                      "name of 'allot list catalogues'");
          return [o, &globals] {
            if (o->catalogue.empty() && IsCatalogue(o->path)) {
              Explain(Catalogue::FromName(o->path), o->path, nullptr, globals);
              return 0;
            }
            if (o->read.columns.empty() && o->format == "auto") {
              if (const auto guess = SuggestColumns(o->path)) return Suggest(*guess, globals);
            }
            ReadReport report;
            Workload workload = ReadTrace(o->path, o->format, o->read, &report);
            if (!o->model_map.empty()) {
              NameMap::Parse("model-map", o->model_map).RenameModels(&workload);
            }
            if (!o->type_map.empty()) {
              NameMap::Parse("type-map", o->type_map).RenameGpuTypes(&workload);
            }
            const TraceStats stats = ComputeTraceStats(workload);
            if (!o->catalogue.empty()) {
              Explain(Catalogue::FromName(o->catalogue), o->catalogue, &workload, globals);
              return 0;
            }
            if (globals.json) {
              nlohmann::json json = stats;
              json["read"] = report;
              std::printf("%s\n", JsonText(json).c_str());
            } else {
              std::printf("%s", FormatTraceStats(stats, report).c_str());
              if (o->path != kEmbeddedWorkload) {
                std::printf(
                    "\nWhat would change on your cluster (this size is what the record shows; give "
                    "your nodes x GPUs, or a node list):\n  %s\n",
                    WhatIfLine(o->path, o->format, o->read.columns, o->model_map, o->type_map,
                               std::max(stats.most_at_once, stats.max_gpus))
                        .c_str());
              }
            }
            return 0;
          };
        }}));

}  // namespace
}  // namespace allot
