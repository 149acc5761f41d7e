#include "live/runtimes/local/job_file.h"

#include <spdlog/spdlog.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

#include "cluster/toml_duration.h"
#include "core/error.h"
#include "core/file.h"
#include "core/strings.h"
#include "live/runtimes/job_options.h"

namespace allot {
namespace {

// Beside the options of all clusters.
const std::vector<std::string> kOwnKeys = {"name",     "command",  "directory", "account",
                                           "priority", "deadline", "after"};

class Reader {
 public:
  Reader(const toml::table& table, std::string where) : table_(table), where_(std::move(where)) {
    std::vector<std::string> keys = JobOptionKeys();
    keys.insert(keys.end(), kOwnKeys.begin(), kOwnKeys.end());
    for (const auto& [key, value] : table_) {
      const std::string name(key.str());
      if (std::find(keys.begin(), keys.end(), name) == keys.end()) {
        throw DataError("{}: unknown key '{}'{}", where_, name, DidYouMean(name, keys));
      }
    }
  }

  std::string Text(const char* key, const std::string& otherwise) const {
    const auto* node = table_.get(key);
    if (node == nullptr) return otherwise;
    const auto text = node->value<std::string>();
    if (!node->is_string() || !text) throw DataError("{}: '{}' must be text", where_, key);
    return *text;
  }

  double Number(const char* key, double otherwise, double least, double most) const {
    const auto* node = table_.get(key);
    if (node == nullptr) return otherwise;
    const auto value = node->value<double>();
    if (!value || !(*value >= least && *value <= most)) {
      throw DataError("{}: '{}' must be a number from {} to {}, got {}", where_, key, least, most,
                      ShownIn(*node));
    }
    return *value;
  }

  // 3600, or "1h".
  Seconds Duration(const char* key, Seconds otherwise, Seconds most) const {
    const auto* node = table_.get(key);
    if (node == nullptr) return otherwise;
    const auto seconds = DurationIn(*node);
    if (!seconds || !(*seconds >= 0 && *seconds <= most)) {
      throw DataError("{}: '{}' must be {}, from 0 to {} s, got {}", where_, key, kDurationForms,
                      most, ShownIn(*node));
    }
    return *seconds;
  }

  // The options of all clusters, as texts: max = 8, grace = 30, grace = "30s".
  std::map<std::string, std::string> Options() const {
    std::map<std::string, std::string> given;
    for (const std::string& key : JobOptionKeys()) {
      const auto* node = table_.get(key);
      if (node == nullptr) continue;
      if (const auto text = node->value_exact<std::string>()) {
        if (!text->empty()) given[key] = *text;
      } else if (const auto whole = node->value_exact<std::int64_t>()) {
        given[key] = fmt::format("{}", *whole);
      } else if (const auto number = node->value_exact<double>()) {
        given[key] = fmt::format("{}", *number);
      } else {
        throw DataError("{}: '{}' must be a number or text", where_, key);
      }
    }
    return given;
  }

  std::vector<std::string> Words(const char* key) const {
    std::vector<std::string> words;
    const toml::array* array = table_[key].as_array();
    if (array != nullptr) {
      for (const toml::node& word : *array) {
        const auto text = word.value<std::string>();
        if (!word.is_string() || !text) array = nullptr;
        if (array == nullptr) break;
        words.push_back(*text);
      }
    }
    if (array == nullptr || words.empty() || words.front().empty()) {
      throw DataError("{}: '{}' must be a list of words, [\"program\", \"argument\", ...]", where_,
                      key);
    }
    return words;
  }

 private:
  const toml::table& table_;
  std::string where_;
};

bool GoodName(const std::string& name) {
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
  });
}

}  // namespace

std::vector<LocalJob> ReadJobFile(const std::filesystem::path& path) {
  const std::string text = ReadTextFile(path.string());
  toml::table file;
  try {
    file = toml::parse(text, path.string());
  } catch (const toml::parse_error& error) {
    throw DataError("{}:{}: {}", path.string(), error.source().begin.line, error.description());
  }
  const toml::array* list = file["job"].as_array();
  if (list == nullptr || file.size() != 1) {
    throw DataError("{}: a job file has tables [[job]] and nothing else", path.string());
  }
  std::vector<LocalJob> jobs;
  for (const toml::node& node : *list) {
    const std::string where = fmt::format("{}:{}", path.string(), node.source().begin.line);
    const toml::table* table = node.as_table();
    if (table == nullptr) throw DataError("{}: 'job' must be a table", where);
    const Reader read(*table, where);
    LocalJob job;
    job.asked.name = read.Text("name", path.stem().string());
    if (!GoodName(job.asked.name)) {
      throw DataError("{}: 'name' must be 1 to 64 letters, digits, '-' and '_', got '{}'", where,
                      job.asked.name);
    }
    job.asked.id = job.asked.name;
    job.command = read.Words("command");
    std::map<std::string, std::string> given = read.Options();
    given.erase("model");  // a name of the catalogue, in which a file may have any letter
    if (given.contains("gpus")) given.try_emplace("min", given["gpus"]);
    ReadJobOptions(given, where, "", &job.asked);
    job.asked.model = read.Text("model", "");
    if (std::string account = read.Text("account", ""); !account.empty()) {
      job.asked.account = std::move(account);
    }
    job.asked.priority = read.Number("priority", 0, -1e9, 1e9);
    job.asked.deadline = read.Duration("deadline", kNever, 1e12);
    job.after = read.Duration("after", 0, 1e9);
    const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
    job.directory = (folder / read.Text("directory", "")).lexically_normal();
    if (!job.directory.has_filename()) job.directory = job.directory.parent_path();
    jobs.push_back(std::move(job));
  }
  return jobs;
}

void TakeJobFiles(const std::filesystem::path& spool,
                  const std::function<void(const std::filesystem::path&)>& take) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(spool)) {
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& file : files) {
    const char* box = "taken";
    try {
      take(file);
    } catch (const Error& error) {
      spdlog::warn("refused a job file: {}", error.what());
      box = "refused";
    }
    std::filesystem::create_directories(spool / box);
    std::error_code gone;
    std::filesystem::rename(file, spool / box / file.filename(), gone);
  }
}

nlohmann::ordered_json ToJson(const LocalJob& job) {
  const auto known = [](double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
  };
  const RuntimeJob& asked = job.asked;
  nlohmann::ordered_json json = {{"id", asked.id},
                                 {"name", asked.name},
                                 {"user", asked.user},
                                 {"submit", asked.submit},
                                 {"account", asked.account.value_or("")},
                                 {"priority", asked.priority},
                                 {"deadline", known(asked.deadline)},
                                 {"command", job.command},
                                 {"directory", job.directory.string()}};
  for (const JobOption& option : JobOptions()) json[option.key] = option.value(asked);
  return json;
}

LocalJob LocalJobFromJson(const nlohmann::ordered_json& json) {
  LocalJob job;
  job.asked.id = json.at("id");
  job.asked.name = json.at("name");
  job.asked.user = json.at("user");
  job.asked.submit = json.at("submit");
  if (std::string account = json.value("account", ""); !account.empty()) {
    job.asked.account = std::move(account);
  }
  job.asked.priority = json.at("priority");
  if (!json.at("deadline").is_null()) job.asked.deadline = json.at("deadline");
  for (const JobOption& option : JobOptions()) {  // earlier daemons knew fewer
    if (json.contains(option.key)) option.set(json.at(option.key), &job.asked);
  }
  job.command = json.at("command").get<std::vector<std::string>>();
  job.directory = json.at("directory").get<std::string>();
  return job;
}

}  // namespace allot
