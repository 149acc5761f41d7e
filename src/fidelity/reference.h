#pragma once
// What the readers of reference folders share: checked values of their JSON files, and the roll
// call of the jobs of a run. A folder that lost a part must not be found equal by what is left.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "table/csv.h"
#include "workload/workload.h"

namespace allot {

// One JSON object of single values. Every fault is a DataError that names file, key, rule and
// value.
class ReferenceFacts {
 public:
  explicit ReferenceFacts(const std::string& path);
  const std::string& path() const { return path_; }

  // Ranges are inclusive, and checked before the number is narrowed. A whole number is one that is
  // written so: neither 4.0 nor true.
  std::int64_t Integer(const char* key, std::int64_t low, std::int64_t high) const;
  double Number(const char* key, double low, double high) const;
  const std::string& Text(const char* key) const;
  // The value must be this one.
  void Expect(const char* key, const nlohmann::json& value, std::string_view why) const;

 private:
  const nlohmann::json& Member(const char* key) const;

  std::string path_;
  nlohmann::json json_;
};

// Limits on the clusters of reference folders: those of ClusterSpec::Parse.
inline constexpr std::int64_t kMostReferenceNodes = 1'000'000;
inline constexpr std::int64_t kMostReferenceCpus = 2'000;  // a node
inline constexpr double kLongestRound = 1e6;               // seconds

// The rows of one run: each job of the workload must have one, in any order.
class RollCall {
 public:
  // `run` and `path` name the rows in messages.
  RollCall(const Workload& workload, std::string run, std::string path);

  // The position of the row's job in the workload. DataError when it has none.
  std::size_t Take(const CsvReader& csv);
  // After the last row. DataError with job and counts: a job without a row, or with several.
  void Finish() const;

 private:
  const Workload& workload_;
  std::string run_;
  std::string path_;
  std::unordered_map<std::string_view, std::size_t> position_;
  std::vector<int> line_;  // by job, of its first row; 0: none yet
  std::size_t rows_ = 0;
  std::string doubled_;  // the first row that is one too many
};

}  // namespace allot
