#include "workload/formats/sacct_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "core/error.h"
#include "core/strings.h"
#include "table/row_error.h"

namespace allot {
namespace {

// Has all that is read here; -X leaves out the steps.
constexpr std::string_view kSacctCommand =
    "sacct --allusers --allocations --parsable2 --starttime 2026-10-01 --endtime 2026-11-01 "
    "--format=JobID,JobName,User,Account,QOS,Partition,State,Submit,Eligible,Start,End,ElapsedRaw,"
    "TimelimitRaw,ReqTRES,AllocTRES > sacct.txt";

// TRES_ALLOC is also what waiting jobs ask for.
constexpr std::string_view kSqueueCommand =
    "squeue --all -O \"JobArrayID:40|,UserName:40|,Partition:40|,State:16|,SubmitTime:24|,"
    "StartTime:24|,TimeUsed:20|,TimeLimit:20|,NumNodes:8|,Reason:40|,tres-alloc:400|\" > "
    "squeue.txt";

// Columns of squeue -o and -O that sacct has under other names.
constexpr std::pair<std::string_view, std::string_view> kOfSqueue[] = {
    {"JOBID", "JobID"},
    {"USER", "User"},
    {"ACCOUNT", "Account"},
    {"NICE", "Nice"},
    {"PARTITION", "Partition"},
    {"STATE", "State"},
    {"ST", "State"},
    {"SUBMIT_TIME", "Submit"},
    {"START_TIME", "Start"},
    {"ELIGIBLE_TIME", "Eligible"},
    {"TIME", "Elapsed"},
    {"TIME_LIMIT", "Timelimit"},
    {"NODES", "NNodes"},
    {"TRES_ALLOC", "AllocTRES"},
    {"NAME", "JobName"},
    {"REASON", "Reason"},
    {"NODELIST(REASON)", "Reason"},
    {"GRES", "PerNodeGRES"},
    {"TRES_PER_NODE", "PerNodeGRES"}};

// Printed for people, in columns of fixed width that cut their fields.
bool HasFixedWidths(std::string_view text) {
  const std::size_t second = text.find('\n') + 1;
  return second > 0 && text.substr(second, 3) == "---";
}

}  // namespace

SacctHeader ReadSacctHeader(std::string_view text) {
  const std::string_view line = Trim(text.substr(0, text.find('\n')));
  SacctHeader header;
  const std::size_t other =
      line.find_first_not_of("\"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_");
  const bool bars = line.find('|') != std::string_view::npos;  // squeue -O pads its fields
  if (other != std::string_view::npos && !bars) header.separator = line[other];
  for (std::string_view column : Split(line, header.separator)) {
    column = Trim(column);
    const bool quoted = column.size() > 1 && column.front() == '"' && column.back() == '"';
    header.columns.emplace_back(quoted ? column.substr(1, column.size() - 2) : column);
  }
  // LSF's bjobs has JOBID, too.
  header.of_squeue = HasColumn(header, "JOBID") && header.separator != ',' &&
                     !HasColumn(header, "QUEUE") && !HasColumn(header, "STAT");
  if (!header.of_squeue) return header;
  for (std::string& column : header.columns) {
    for (const auto& [theirs, ours] : kOfSqueue) {
      if (column != theirs) continue;
      column = ours;
      break;
    }
  }
  return header;
}

std::string_view ExportCommand(const SacctHeader& header) {
  return header.of_squeue ? kSqueueCommand : kSacctCommand;
}

bool HasColumn(const SacctHeader& header, std::string_view column) {
  return std::find(header.columns.begin(), header.columns.end(), column) != header.columns.end();
}

void CheckSacctHeader(const SacctHeader& header, std::string_view text, const std::string& path) {
  const auto fail = [&](const std::string& got) {
    const char* const columns =
        header.of_squeue
            ? "squeue has the columns JOBID, SUBMIT_TIME, STATE, START_TIME, TIME and TRES_ALLOC "
              "(or "
              "TRES_PER_NODE with NODES)"
            : "sacct has the columns JobID, Submit, State, ElapsedRaw (or Elapsed, or Start and "
              "End) and ReqTRES or AllocTRES";
    throw DataError("a file of {}, separated by '|', {} ({}:1); make one with: {}", columns, got,
                    path, ExportCommand(header));
  };
  if (HasFixedWidths(text)) fail("got a table of fixed widths, whose fields are cut");
  std::vector<std::string> missing;
  const auto need = [&](std::initializer_list<const char*> any) {
    const bool found = std::any_of(any.begin(), any.end(),
                                   [&](const char* column) { return HasColumn(header, column); });
    if (!found) missing.emplace_back(*any.begin());
  };
  need({"JobID", "JobIDRaw"});
  need({"Submit"});
  need({"State"});
  if (!HasColumn(header, "Start") || !HasColumn(header, "End")) need({"ElapsedRaw", "Elapsed"});
  need({"AllocTRES", "ReqTRES", "AllocGRES", "ReqGRES", "PerNodeGRES"});
  if (HasColumn(header, "PerNodeGRES")) need({"NNodes"});
  if (missing.empty()) return;
  const std::string first = text.empty() ? "" : Join(header.columns, ",").substr(0, 200);
  fail(fmt::format("got none that is {} in {}", Join(missing, ", "), Quoted(first)));
}

void NoteMissingColumns(const SacctHeader& header, ReadReport* report) {
  std::vector<std::string> lost;
  if (!HasColumn(header, "Start")) lost.emplace_back("Start (how long jobs waited)");
  if (!HasColumn(header, "User")) lost.emplace_back("User");
  if (!HasColumn(header, "Partition") && !HasColumn(header, "Account")) {
    lost.emplace_back("Partition");
  }
  if (!HasColumn(header, "Timelimit") && !HasColumn(header, "TimelimitRaw")) {
    lost.emplace_back("TimelimitRaw (what backfill goes by)");
  }
  if (lost.empty()) return;
  report->notes.push_back(fmt::format("the file has no column {}; a complete one comes from: {}",
                                      Join(lost, ", "), ExportCommand(header)));
}

}  // namespace allot
