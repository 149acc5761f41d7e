#include "live/runtimes/slurm/job_comment.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/strings.h"
#include "live/runtimes/job_options.h"

namespace allot {

bool ReadJobComment(std::string_view comment, RuntimeJob* job) {
  std::vector<std::string_view> words;
  for (const std::string_view word : Split(comment, ' ')) {
    if (!word.empty()) words.push_back(word);
  }
  if (words.empty() || words.front() != "allot") return false;

  std::map<std::string, std::string> given;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    if (equals == std::string_view::npos) {
      throw DataError("comment: words behind 'allot' must be key=value, got '{}'", words[i]);
    }
    const std::string key(words[i].substr(0, equals));
    const std::vector<std::string>& keys = JobOptionKeys();
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      throw DataError("comment: unknown key '{}'{}", key, DidYouMean(key, keys));
    }
    if (!given.emplace(key, words[i].substr(equals + 1)).second) {
      throw DataError("comment: '{}' must be given once, got it twice ('{}' and '{}')", key,
                      given[key], words[i].substr(equals + 1));
    }
  }
  ReadJobOptions(given, "comment", "", job);
  return true;
}

}  // namespace allot
