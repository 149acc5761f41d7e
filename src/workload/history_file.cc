#include "workload/history_file.h"

#include <map>
#include <mutex>

#include "core/check.h"
#include "core/file.h"
#include "workload/calendar.h"
#include "workload/quotas.h"
#include "workload/trace_reader.h"

namespace allot {

std::shared_ptr<const History> ReadHistory(const std::string& history) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const History>> read;
  const std::lock_guard lock(mutex);
  const auto known = read.find(history);
  if (known != read.end()) return known->second;
  const std::size_t at = history.rfind('@');
  History loaded{.trace = ReadTrace(history.substr(0, at)), .until = kNever};
  if (at != std::string::npos) loaded.until = ParseWhen(loaded.trace, history.substr(at + 1));
  auto shared = std::make_shared<const History>(std::move(loaded));
  return read.emplace(history, std::move(shared)).first->second;
}

const ParamLoader& FileLoader() {
  static const ParamLoader loader = [](std::string_view kind, const std::string& value) {
    if (kind == "text") return std::any(ReadTextFile(value));
    if (kind == "quotas") return std::any(ReadQuotas(value));
    ALLOT_CHECK(kind == "history");
    return std::any(ReadHistory(value));
  };
  return loader;
}

}  // namespace allot
