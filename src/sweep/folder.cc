#include "sweep/folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/check.h"
#include "core/error.h"
#include "core/file.h"
#include "core/json_text.h"
#include "core/strings.h"
#include "metrics/json_field.h"
#include "metrics/sweep_table.h"

namespace allot {
namespace {

namespace fs = std::filesystem;

constexpr int kMostShards = 100'000;

// What decides the cells; the rest may change from one run of a sweep to the next.
Json Deciding(Json definition) {
  for (const char* key : {"title", "reference", "allot"}) definition.erase(key);
  return definition;
}

std::string Shown(const Json& json, const std::string& key) {
  return json.contains(key) ? json[key].dump() : "none";
}

void CheckSame(const fs::path& path, const Json& there, const Json& now) {
  for (const Json* side : {&there, &now}) {
    for (const auto& [key, value] : side->items()) {
      if (Shown(there, key) == Shown(now, key)) continue;
      throw UsageError(
          "'{}' holds a sweep with {} = {}, now {} = {}: cells of two definitions are not mixed, "
          "give another --out",
          path.string(), key, Shown(there, key), key, Shown(now, key));
    }
  }
}

}  // namespace

Shard Shard::Parse(const std::string& text) {
  const std::size_t slash = text.find('/');
  const long long index = ParseInteger(text.substr(0, slash)).value_or(0);
  const long long count =
      slash == std::string::npos ? 0 : ParseInteger(text.substr(slash + 1)).value_or(0);
  if (index < 1 || index > count || count > kMostShards) {
    throw UsageError("a shard must be I/N with 1 <= I <= N <= {}, got '{}'", kMostShards, text);
  }
  return {static_cast<int>(index), static_cast<int>(count)};
}

SweepFolder::SweepFolder(fs::path path, const SweepDefinition& definition, const Inputs& inputs,
                         const std::string& made_by)
    : path_(std::move(path)), factors_(FactorNames(definition)), made_by_(made_by) {
  Json now = ToJson(definition);
  now["allot"] = {{"made-by", made_by}, {"inputs", inputs}};
  const fs::path file = path_ / "sweep.json";
  if (!fs::exists(file)) {
    WriteTextFile(file, JsonText(now) + "\n");
    return;
  }
  const std::string where = file.string();
  const Json there = ParseJson(ReadTextFile(where), where);
  CheckSame(path_, Deciding(there), Deciding(now));
  const Json& about = RequireField(there, "allot", where);
  RequireSameInputs(RequireField(about, "inputs", where).get<Inputs>(), inputs, path_.string());
  made_by_ = RequireText(about, "made-by", where);
}

SweepFolder::~SweepFolder() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::map<CellValues, SweepCell> SweepFolder::Finished() const {
  std::vector<fs::path> files;
  if (fs::exists(path_ / "done")) {
    for (const auto& entry : fs::directory_iterator(path_ / "done")) {
      if (entry.path().extension() == ".jsonl") files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  std::map<CellValues, SweepCell> finished;
  for (const fs::path& file : files) {
    const std::string text = ReadTextFile(file.string());
    int line = 0;
    std::size_t begin = 0;
    for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
      const std::string where = fmt::format("{}:{}", file.string(), ++line);
      SweepCell cell =
          SweepCellFromJson(ParseJson(text.substr(begin, end - begin), where), factors_, where);
      CellValues key = cell.values;
      finished.emplace(std::move(key), std::move(cell));
    }
  }
  return finished;
}

void SweepFolder::OpenShard(const Shard& shard) {
  ALLOT_CHECK_LT(descriptor_, 0);
  const fs::path file = path_ / "done" / fmt::format("{}-of-{}.jsonl", shard.index, shard.count);
  shard_file_ = file.string();
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  descriptor_ = ::open(shard_file_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ < 0) throw RunError("cannot write '{}': {}", shard_file_, SystemMessage());
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    throw RunError("another process is at work on shard {}/{} of '{}'", shard.index, shard.count,
                   path_.string());
  }
  // What a killed writer left of a line goes.
  const std::string text = ReadTextFile(shard_file_);
  const std::size_t newline = text.rfind('\n');
  const std::size_t whole = newline == std::string::npos ? 0 : newline + 1;
  if (whole < text.size() && ::ftruncate(descriptor_, static_cast<off_t>(whole)) != 0) {
    throw RunError("cannot write '{}': {}", shard_file_, SystemMessage());
  }
}

void SweepFolder::Append(const SweepCell& cell) {
  const std::string line = ToJson(cell, factors_).dump() + "\n";
  const std::lock_guard lock(mutex_);
  ALLOT_CHECK_GE(descriptor_, 0);
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw RunError("cannot write '{}': {}", shard_file_, SystemMessage());
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

void SweepFolder::WriteResults(const SweepResults& results) const {
  WriteTextFile(path_ / "cells.csv", SweepCellsCsv(results));
  WriteTextFile(path_ / "timings.csv", SweepTimingsCsv(results));
  WriteTextFile(path_ / "table.csv", SweepTableCsv(results, Aggregate(results)));
  WriteTextFile(path_ / kSweepResultsFile, JsonText(ToJson(results), 1) + "\n");
}

}  // namespace allot
