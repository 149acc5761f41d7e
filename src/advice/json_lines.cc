#include "advice/json_lines.h"

#include <fcntl.h>

#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/file.h"
#include "core/json_text.h"
#include "core/user_json.h"

namespace allot {

JsonLines::JsonLines(std::filesystem::path path, const std::string& what, const Read& read)
    : path_(std::move(path)) {
  std::error_code error;
  if (!std::filesystem::exists(path_, error) && !error) return;
  const std::string text = OwnedFile(path_, O_RDONLY | O_NOFOLLOW).ReadAll();
  int line = 0;
  for (std::size_t end = 0; (end = text.find('\n', whole_)) != std::string::npos;) {
    const std::string_view record = std::string_view(text).substr(whole_, end - whole_);
    ++line;
    whole_ = end + 1;
    JsonFault fault;
    const auto json = ParseUserJson<nlohmann::ordered_json>(record, &fault);
    std::string rule;
    try {
      rule = json.is_discarded() ? fault.rule
             : !json.is_object() ? "must be a JSON object"
                                 : read(json);
    } catch (const nlohmann::json::exception& missing) {
      rule = fmt::format("must have its fields ({})", missing.what());
    }
    if (rule.empty()) continue;
    throw DataError("{} {}, got '{}' ({}:{})", what, rule, record, path_.string(), line);
  }
}

void JsonLines::Append(const std::vector<nlohmann::ordered_json>& records) {
  if (records.empty()) return;
  if (!file_) {
    const bool is_new = !std::filesystem::exists(path_);
    file_.emplace(path_, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW);
    if (is_new) SyncToDisk(path_.parent_path(), path_);
  }
  std::string lines;
  for (const nlohmann::ordered_json& record : records) lines += JsonText(record, -1) + "\n";
  file_->Cut(whole_);  // what a killed process wrote a part of
  file_->Write(lines);
  file_->Sync();
  whole_ += lines.size();
}

}  // namespace allot
