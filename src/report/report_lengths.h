#pragma once
// How well the length model's quantiles hold, in the report: lengths.csv of a folder, as 'allot
// forecast --check --out' writes it (docs/formats/results.md). A table, and the covered share
// against the nominal one, for all jobs and by number of GPUs.

#include <filesystem>
#include <string>
#include <vector>

namespace allot {

struct LengthCurve {
  std::string gpus;  // "all", or a size class
  std::int64_t questions = 0;
  std::vector<double> nominal;  // ascending
  std::vector<double> covered;
};
struct LengthCurves {
  std::string asked;  // when: "new", "under way"
  std::vector<LengthCurve> by_size;
};

bool HoldsLengths(const std::filesystem::path& directory);

// In the order of the file. DataError naming the line, for shares beyond [0, 1] too.
std::vector<LengthCurves> ReadLengths(const std::filesystem::path& directory);

// HTML of the shares.
std::string LengthTable(const LengthCurves& curves);

}  // namespace allot
