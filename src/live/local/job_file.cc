#include "live/local/job_file.h"

#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "core/error.h"
#include "core/file.h"
#include "core/strings.h"
#include "live/job_options.h"
#include "perf/size_rule.h"

namespace allot {
namespace {

const std::vector<std::string> kKeys = {
    "name",     "command",  "gpus",  "min",       "max",   "types",   "resize",   "model", "work",
    "priority", "deadline", "after", "directory", "sizes", "account", "cooldown", "grace"};

class Reader {
 public:
  Reader(const toml::table& table, std::string where) : table_(table), where_(std::move(where)) {
    for (const auto& [key, value] : table_) {
      const std::string name(key.str());
      if (std::find(kKeys.begin(), kKeys.end(), name) == kKeys.end()) {
        throw DataError("{}: unknown key '{}'{}", where_, name, DidYouMean(name, kKeys));
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
                      value ? fmt::format("{}", *value) : std::string("something else"));
    }
    return *value;
  }

  GpuCount Gpus(const char* key, GpuCount otherwise) const {
    const double value = Number(key, otherwise, 1, kMaxGpusPerJob);
    if (value != std::floor(value)) {
      throw DataError("{}: '{}' must be a whole number, got {}", where_, key, value);
    }
    return static_cast<GpuCount>(value);
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
    job.asked.requested = read.Gpus("gpus", 1);
    job.asked.min_gpus = read.Gpus("min", job.asked.requested);
    job.asked.max_gpus = read.Gpus("max", job.asked.requested);
    if (job.asked.min_gpus > job.asked.requested || job.asked.requested > job.asked.max_gpus) {
      throw DataError("{}: min <= gpus <= max, got {}, {} and {}", where, job.asked.min_gpus,
                      job.asked.requested, job.asked.max_gpus);
    }
    if (table->contains("types")) {
      job.asked.gpu_types = GpuTypesFrom(read.Text("types", ""), fmt::format("{}: 'types'", where));
    }
    if (table->contains("sizes")) {
      job.asked.sizes =
          SizeRule::Parse(read.Text("sizes", ""), fmt::format("{}: 'sizes'", where)).ToString();
    }
    job.asked.account = read.Text("account", "");
    job.asked.grace = read.Number("grace", 0, 0, kLongestOwnGrace);
    job.asked.cooldown = read.Number("cooldown", 0, 0, kLongestOwnCooldown);
    const std::string resize = read.Text("resize", "hot");
    if (resize != "hot" && resize != "restart") {
      throw DataError("{}: 'resize' must be \"hot\" or \"restart\", got \"{}\"", where, resize);
    }
    job.asked.mode = resize == "hot" ? ResizeMode::kHot : ResizeMode::kRestart;
    job.asked.model = read.Text("model", "");
    job.asked.total_work = read.Number("work", kUnknown, 0, 1e18);
    job.asked.priority = read.Number("priority", 0, -1e9, 1e9);
    job.asked.deadline = read.Number("deadline", kNever, 0, 1e12);
    job.after = read.Number("after", 0, 0, 1e9);
    const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
    job.directory = (folder / read.Text("directory", "")).lexically_normal();
    if (!job.directory.has_filename()) job.directory = job.directory.parent_path();
    jobs.push_back(std::move(job));
  }
  return jobs;
}

nlohmann::ordered_json ToJson(const LocalJob& job) {
  const auto known = [](double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
  };
  const RuntimeJob& asked = job.asked;
  return {{"id", asked.id},
          {"name", asked.name},
          {"user", asked.user},
          {"submit", asked.submit},
          {"gpus", asked.requested},
          {"min", asked.min_gpus},
          {"max", asked.max_gpus},
          {"types", asked.gpu_types},
          {"sizes", asked.sizes},
          {"account", asked.account},
          {"cooldown", asked.cooldown},
          {"grace", asked.grace},
          {"resize", asked.mode == ResizeMode::kHot ? "hot" : "restart"},
          {"model", asked.model},
          {"work", known(asked.total_work)},
          {"priority", asked.priority},
          {"deadline", known(asked.deadline)},
          {"command", job.command},
          {"directory", job.directory.string()}};
}

LocalJob LocalJobFromJson(const nlohmann::ordered_json& json) {
  const auto number = [&json](const char* key, double otherwise) {
    return json.at(key).is_null() ? otherwise : json.at(key).get<double>();
  };
  LocalJob job;
  job.asked.id = json.at("id");
  job.asked.name = json.at("name");
  job.asked.user = json.at("user");
  job.asked.submit = json.at("submit");
  job.asked.requested = json.at("gpus");
  job.asked.min_gpus = json.at("min");
  job.asked.max_gpus = json.at("max");
  job.asked.gpu_types = json.value("types", std::string());
  job.asked.sizes = json.value("sizes", std::string());
  job.asked.account = json.value("account", std::string());
  job.asked.cooldown = json.value("cooldown", 0.0);
  job.asked.grace = json.value("grace", 0.0);
  job.asked.mode = json.at("resize") == "hot" ? ResizeMode::kHot : ResizeMode::kRestart;
  job.asked.model = json.at("model");
  job.asked.total_work = number("work", kUnknown);
  job.asked.priority = json.at("priority");
  job.asked.deadline = number("deadline", kNever);
  job.command = json.at("command").get<std::vector<std::string>>();
  job.directory = json.at("directory").get<std::string>();
  return job;
}

}  // namespace allot
