#pragma once
// Where a sweep keeps its cells, so that a killed one continues and several processes can share it:
//   sweep.json       the definition, which is also a definition file
//   done/*.jsonl     finished cells, appended one whole line at a time, one file a writer
// and, when all cells are there, cells.csv, timings.csv, table.csv and results.json.

#include <filesystem>
#include <map>
#include <mutex>
#include <string>

#include "core/inputs.h"
#include "metrics/sweep_results.h"
#include "sweep/definition.h"

namespace allot {

// The I-th of N equal parts of a sweep's cells.
struct Shard {
  int index = 1;  // 1..count
  int count = 1;

  static Shard Parse(const std::string& text);  // "2/8"; UsageError otherwise
  bool holds(std::size_t cell) const {
    return cell % static_cast<std::size_t>(count) == static_cast<std::size_t>(index - 1);
  }
};

class SweepFolder {
 public:
  // Makes the folder, or takes up the sweep in it. UsageError naming key and both values when the
  // folder holds a sweep that would give other cells; DataError naming the file when it was made
  // from other `inputs`. `made_by` names the program.
  SweepFolder(std::filesystem::path path, const SweepDefinition& definition, const Inputs& inputs,
              const std::string& made_by);
  ~SweepFolder();
  SweepFolder(const SweepFolder&) = delete;
  SweepFolder& operator=(const SweepFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  const std::string& made_by() const { return made_by_; }  // of the folder, on first use

  // Finished cells of all writers. A line that a killed writer left half is not one.
  std::map<CellValues, SweepCell> Finished() const;

  // Becomes the writer of a shard's file. RunError when another process is it.
  void OpenShard(const Shard& shard);
  void Append(const SweepCell& cell);  // thread-safe; on return the line is with the system

  // The files of a complete sweep, each whole or not at all.
  void WriteResults(const SweepResults& results) const;

 private:
  std::filesystem::path path_;
  std::vector<std::string> factors_;
  std::string made_by_;
  std::string shard_file_;
  std::mutex mutex_;
  int descriptor_ = -1;
};

}  // namespace allot
