#pragma once
// The first line of what sacct and squeue print with a separator between fields: which columns the
// file has, by sacct's names. For sacct_format.cc.

#include <string>
#include <string_view>
#include <vector>

#include "workload/trace_reader.h"

namespace allot {

struct SacctHeader {
  char separator = '|';
  bool of_squeue = false;
  std::vector<std::string> columns;  // those of squeue under sacct's names where it has the same
};

SacctHeader ReadSacctHeader(std::string_view text);
bool HasColumn(const SacctHeader& header, std::string_view column);

// DataError for a file that lacks a column without which there are no jobs.
void CheckSacctHeader(const SacctHeader& header, std::string_view text, const std::string& path);
void NoteMissingColumns(const SacctHeader& header, ReadReport* report);

// What makes a complete file of the same program.
std::string_view ExportCommand(const SacctHeader& header);

}  // namespace allot
