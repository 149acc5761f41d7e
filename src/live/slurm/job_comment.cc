#include "live/slurm/job_comment.h"

#include <algorithm>
#include <map>
#include <vector>

#include "core/error.h"
#include "core/strings.h"

namespace allot {
namespace {

constexpr long long kMostGpus = 1 << 16;

const std::vector<std::string>& Keys() {
  static const std::vector<std::string> keys = {"gpus",  "max",    "min", "model",
                                                "types", "resize", "work"};
  return keys;
}

GpuCount Gpus(const std::map<std::string, std::string>& given, const std::string& key,
              GpuCount otherwise) {
  const auto found = given.find(key);
  if (found == given.end()) return otherwise;
  const auto value = ParseInteger(found->second);
  if (!value || *value < 1 || *value > kMostGpus) {
    throw DataError("comment: '{}' must be a whole number of GPUs from 1 to {}, got '{}'", key,
                    kMostGpus, found->second);
  }
  return static_cast<GpuCount>(*value);
}

bool IsName(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  });
}

}  // namespace

std::optional<JobComment> ParseJobComment(std::string_view comment) {
  std::vector<std::string_view> words;
  for (const std::string_view word : Split(comment, ' ')) {
    if (!word.empty()) words.push_back(word);
  }
  if (words.empty() || words.front() != "allot") return std::nullopt;

  std::map<std::string, std::string> given;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    if (equals == std::string_view::npos) {
      throw DataError("comment: words behind 'allot' must be key=value, got '{}'", words[i]);
    }
    const std::string key(words[i].substr(0, equals));
    if (std::find(Keys().begin(), Keys().end(), key) == Keys().end()) {
      throw DataError("comment: unknown key '{}'{}", key, DidYouMean(key, Keys()));
    }
    if (!given.emplace(key, words[i].substr(equals + 1)).second) {
      throw DataError("comment: '{}' must be given once, got it twice ('{}' and '{}')", key,
                      given[key], words[i].substr(equals + 1));
    }
  }

  JobComment parsed;
  parsed.min_gpus = Gpus(given, "min", 1);
  parsed.max_gpus = Gpus(given, "max", std::max(parsed.min_gpus, Gpus(given, "gpus", 1)));
  parsed.requested = Gpus(given, "gpus", parsed.min_gpus);
  if (parsed.min_gpus > parsed.max_gpus) {
    throw DataError("comment: 'min' must be at most 'max', got {} and {}", parsed.min_gpus,
                    parsed.max_gpus);
  }
  if (parsed.requested < parsed.min_gpus || parsed.requested > parsed.max_gpus) {
    throw DataError("comment: 'gpus' must be between 'min' {} and 'max' {}, got {}",
                    parsed.min_gpus, parsed.max_gpus, parsed.requested);
  }
  if (const auto types = given.find("types"); types != given.end()) {
    parsed.gpu_types = GpuTypesFrom(types->second, "comment: 'types'");
  }
  if (const auto model = given.find("model"); model != given.end()) {
    if (!IsName(model->second)) {
      throw DataError("comment: 'model' must be 1 to 64 letters, digits, '_', '-' or '.', got '{}'",
                      model->second);
    }
    parsed.model = model->second;
  }
  if (const auto resize = given.find("resize"); resize != given.end()) {
    if (resize->second != "hot" && resize->second != "restart") {
      throw DataError("comment: 'resize' must be hot or restart, got '{}'", resize->second);
    }
    parsed.mode = resize->second == "hot" ? ResizeMode::kHot : ResizeMode::kRestart;
  }
  if (const auto work = given.find("work"); work != given.end()) {
    const auto value = ParseNumber(work->second);
    if (!value || *value <= 0) {
      throw DataError("comment: 'work' must be a number > 0, got '{}'", work->second);
    }
    parsed.total_work = *value;
  }
  return parsed;
}

}  // namespace allot
