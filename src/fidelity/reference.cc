#include "fidelity/reference.h"

#include <utility>

#include "core/error.h"
#include "core/file.h"

namespace allot {
namespace {

// Lists and objects by their kind only: they may be nested deeper than dump() can follow.
std::string Shown(const nlohmann::json& value) {
  return value.is_structured() ? fmt::format("an {}", value.type_name()) : value.dump();
}

}  // namespace

ReferenceFacts::ReferenceFacts(const std::string& path) : path_(path) {
  try {
    json_ = nlohmann::json::parse(ReadTextFile(path));
  } catch (const nlohmann::json::exception& error) {
    throw DataError("{}: must be JSON: {}", path, error.what());
  }
  if (!json_.is_object()) {
    throw DataError("{}: must be a JSON object, got {}", path, json_.type_name());
  }
}

const nlohmann::json& ReferenceFacts::Member(const char* key) const {
  const auto found = json_.find(key);
  if (found == json_.end()) {
    throw DataError("{}: '{}' is required, got {} other keys", path_, key, json_.size());
  }
  return *found;
}

std::int64_t ReferenceFacts::Integer(const char* key, std::int64_t low, std::int64_t high) const {
  const nlohmann::json& value = Member(key);
  const bool above = value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX;
  if (value.is_number_integer() && !above) {
    const auto number = value.get<std::int64_t>();
    if (number >= low && number <= high) return number;
  }
  throw DataError("{}: '{}' must be a whole number from {} to {}, got {}", path_, key, low, high,
                  Shown(value));
}

double ReferenceFacts::Number(const char* key, double low, double high) const {
  const nlohmann::json& value = Member(key);
  if (value.is_number()) {
    const auto number = value.get<double>();
    if (number >= low && number <= high) return number;
  }
  throw DataError("{}: '{}' must be a number from {} to {}, got {}", path_, key, low, high,
                  Shown(value));
}

const std::string& ReferenceFacts::Text(const char* key) const {
  const nlohmann::json& value = Member(key);
  if (!value.is_string())
    throw DataError("{}: '{}' must be a text, got {}", path_, key, Shown(value));
  return value.get_ref<const std::string&>();
}

void ReferenceFacts::Expect(const char* key, const nlohmann::json& value,
                            std::string_view why) const {
  const nlohmann::json& got = Member(key);
  if (got == value && got.is_boolean() == value.is_boolean()) return;
  throw DataError("{}: '{}' must be {} ({}), got {}", path_, key, Shown(value), why, Shown(got));
}

RollCall::RollCall(const Workload& workload, std::string run, std::string path)
    : workload_(workload),
      run_(std::move(run)),
      path_(std::move(path)),
      line_(workload.jobs.size(), 0) {
  for (std::size_t j = 0; j < workload.jobs.size(); ++j) position_[workload.jobs[j].id] = j;
}

std::size_t RollCall::Take(const CsvReader& csv) {
  const std::string_view id = csv.Text("job_id");
  const auto known = position_.find(id);
  if (known == position_.end()) {
    throw DataError("{}: job '{}' is none of the {} of its workload", csv.place(), id,
                    workload_.jobs.size());
  }
  ++rows_;
  int& line = line_[known->second];
  if (line == 0) {
    line = csv.line();
  } else if (doubled_.empty()) {
    doubled_ = fmt::format("{}: a job of {} must have 1 row, job '{}' has one in line {} already",
                           csv.place(), run_, id, line);
  }
  return known->second;
}

void RollCall::Finish() const {
  const std::size_t jobs = workload_.jobs.size();
  if (!doubled_.empty()) throw DataError("{}; got {} rows for {} jobs", doubled_, rows_, jobs);
  for (std::size_t j = 0; j < jobs; ++j) {
    if (line_[j] > 0) continue;
    throw DataError("{}: a job of {} must have 1 row, job '{}' has none; got {} rows for {} jobs",
                    path_, run_, workload_.jobs[j].id, rows_, jobs);
  }
}

}  // namespace allot
