#include "record/minari_reader.h"

#include "core/check.h"
#include "core/file.h"

namespace allot {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kDataFile = "main_data.hdf5";
constexpr const char* kMetadataFile = "metadata.json";

fs::path FindDataFile(const fs::path& where) {
  if (!fs::is_directory(where)) return where;
  const fs::path folder = fs::is_directory(where / "data") ? where / "data" : where;
  if (!fs::exists(folder / kDataFile)) {
    throw DataError("{}: an episode log must hold {}{}", folder.string(), kDataFile,
                    fs::exists(folder / "main_data.hdf5.part")
                        ? "; there is an unfinished main_data.hdf5.part"
                        : "");
  }
  return folder / kDataFile;
}

json ReadMetadata(const fs::path& path) {
  if (!fs::exists(path)) {
    throw DataError("{}: missing, the data set was not finished", path.string());
  }
  try {
    return json::parse(ReadTextFile(path.string()));
  } catch (const json::parse_error& error) {
    throw DataError("{}: must be JSON: {}", path.string(), error.what());
  }
}

// An attribute that every episode has; `file` and `object` for the message.
std::int64_t Whole(const AttributeMap& attributes, const std::string& key, const fs::path& file,
                   const std::string& object) {
  const auto found = attributes.find(key);
  if (found == attributes.end() || !std::holds_alternative<std::int64_t>(found->second)) {
    throw DataError("{}: '{}' must have a whole number as attribute '{}'", file.string(), object,
                    key);
  }
  return std::get<std::int64_t>(found->second);
}

}  // namespace

MinariReader::MinariReader(const fs::path& where) : file_(Hdf5File::Open(FindDataFile(where))) {
  for (const std::string& name : file_.List("/")) {
    if (name.starts_with("episode_")) ++episodes_;
  }
  for (std::int64_t id = 0; id < episodes_; ++id) {
    if (const std::string name = fmt::format("episode_{}", id); !file_.Has(name)) {
      throw DataError("{}: episodes must be numbered 0 to {}, '{}' is missing",
                      file_.path().string(), episodes_ - 1, name);
    }
  }
  if (!fs::is_directory(where)) return;
  const fs::path metadata_path = file_.path().parent_path() / kMetadataFile;
  metadata_ = ReadMetadata(metadata_path);
  const json total = metadata_.is_object() ? metadata_.value("total_episodes", json()) : json();
  if (total != episodes_) {
    throw DataError("{}: 'total_episodes' must be the {} episodes of {}, is {}",
                    metadata_path.string(), episodes_, kDataFile, total.dump());
  }
}

std::string MinariReader::InFile(std::int64_t episode, const std::string& path) const {
  ALLOT_CHECK_GE(episode, 0);
  ALLOT_CHECK_LT(episode, episodes_);
  return path.empty() ? fmt::format("episode_{}", episode)
                      : fmt::format("episode_{}/{}", episode, path);
}

EpisodeInfo MinariReader::Episode(std::int64_t episode) const {
  const std::string object = InFile(episode, "");
  EpisodeInfo info;
  info.attributes = file_.Attributes(object);
  info.id = Whole(info.attributes, "id", file_.path(), object);
  info.steps = Whole(info.attributes, "total_steps", file_.path(), object);
  if (info.attributes.contains("seed")) {
    info.seed = Whole(info.attributes, "seed", file_.path(), object);
  }
  return info;
}

bool MinariReader::Has(std::int64_t episode, const std::string& path) const {
  return file_.Has(InFile(episode, path));
}

std::vector<std::string> MinariReader::List(std::int64_t episode, const std::string& group) const {
  return file_.List(InFile(episode, group));
}

AttributeMap MinariReader::Attributes(std::int64_t episode, const std::string& path) const {
  return file_.Attributes(InFile(episode, path));
}

DataArray MinariReader::Read(std::int64_t episode, const std::string& path) const {
  return file_.Read(InFile(episode, path));
}

}  // namespace allot
