#include "record/minari_writer.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <numeric>
#include <regex>
#include <utility>

#include "core/error.h"
#include "core/file.h"
#include "core/json_text.h"
#include "record/spaces.h"

namespace allot {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// The oldest version that every Minari 0.5 accepts; newer stamps shut out older readers.
constexpr const char* kMinariVersion = "0.5.0";

// A path inside a group; the group itself for an array without a name.
std::string Inside(const std::string& group, const std::string& path) {
  return path.empty() ? group : fmt::format("{}/{}", group, path);
}

void CheckRows(std::size_t has, std::size_t needs, const std::string& what) {
  if (has != needs) throw RunError("{}: must have {} rows, has {}", what, needs, has);
}

void CheckArrays(const json& space, const ArrayMap& arrays, std::size_t rows,
                 const std::string& what) {
  if (space["type"] != "Dict") {
    const auto only = arrays.find("");
    if (only == arrays.end() || arrays.size() != 1) {
      throw RunError("{}: the space is a {}, so the only array must have no name; got {} arrays",
                     what, space["type"].get<std::string>(), arrays.size());
    }
    CheckInSpace(space, only->second, rows, what);
    return;
  }
  const json& subspaces = space["subspaces"];
  for (const auto& [name, array] : arrays) {
    if (!subspaces.contains(name)) throw RunError("{}: '{}' is not in the space", what, name);
    CheckInSpace(subspaces[name], array, rows, Inside(what, name));
  }
  for (const auto& item : subspaces.items()) {
    if (!arrays.contains(item.key())) throw RunError("{}: '{}' is missing", what, item.key());
  }
}

// Names and values as Minari computes them itself when it records.
AttributeMap RewardStatistics(const std::vector<double>& rewards) {
  const auto count = static_cast<double>(rewards.size());
  const double sum = std::accumulate(rewards.begin(), rewards.end(), 0.0);
  const double mean = sum / count;
  double squares = 0;
  for (const double reward : rewards) squares += (reward - mean) * (reward - mean);
  const auto [min, max] = std::minmax_element(rewards.begin(), rewards.end());
  return {{"rewards_sum", sum},
          {"rewards_mean", mean},
          {"rewards_std", std::sqrt(squares / count)},
          {"rewards_min", *min},
          {"rewards_max", *max}};
}

void WriteArrays(Hdf5File& file, const std::string& group, const ArrayMap& arrays) {
  for (const auto& [name, array] : arrays) {
    file.Write(Inside(group, name), array);
  }
}

}  // namespace

MinariWriter::MinariWriter(const fs::path& datasets_root, std::string dataset_id, MinariSpec spec)
    : directory_(datasets_root / dataset_id),
      final_path_(directory_ / "data" / "main_data.hdf5"),
      part_path_(directory_ / "data" / "main_data.hdf5.part"),
      dataset_id_(std::move(dataset_id)),
      spec_(std::move(spec)) {
  static const std::regex pattern("([A-Za-z0-9_-]{2,}/)*[A-Za-z0-9_-]+-v[0-9]+");
  if (!std::regex_match(dataset_id_, pattern)) {
    throw UsageError(
        "data set id must be 'namespace/name-v0' of letters, digits, '_' and '-', with namespaces "
        "of "
        "at least 2 characters; got '{}'",
        dataset_id_);
  }
  std::error_code error;
  fs::create_directories(part_path_.parent_path(), error);
  if (error) throw RunError("{}: cannot create: {}", directory_.string(), error.message());
  try {
    file_ = Hdf5File::Create(part_path_);
    AttributeMap attributes = spec_.attributes;
    attributes["schema"] = std::string(kEpisodeLogSchema);
    file_->SetAttributes("/", attributes);
  } catch (...) {
    Discard();
    throw;
  }
}

MinariWriter::~MinariWriter() {
  if (closed_) return;
  Discard();
}

// Without a complete episode nothing is worth keeping, the folders made for it included.
void MinariWriter::Discard() noexcept {
  try {
    if (file_) file_->Close();
    if (episodes_ > 0) {
      spdlog::warn("{}: unfinished episode log kept, {} complete episodes", part_path_.string(),
                   episodes_);
      return;
    }
  } catch (const Error&) {
    if (episodes_ > 0) {
      spdlog::warn(
          "{}: what reached the disk of {} complete episodes is kept; `h5clear -s` opens it",
          part_path_.string(), episodes_);
      return;
    }
  }
  std::error_code ignored;
  fs::remove(part_path_, ignored);
  fs::path folder = part_path_.parent_path();
  const auto levels = 2 + std::count(dataset_id_.begin(), dataset_id_.end(), '/');
  for (auto level = levels; level > 0 && fs::remove(folder, ignored); --level) {
    folder = folder.parent_path();  // fs::remove spares folders that hold something
  }
}

std::int64_t MinariWriter::WriteEpisode(const EpisodeData& episode) {
  const std::string group = fmt::format("episode_{}", episodes_);
  const std::size_t steps = episode.rewards.size();
  if (steps == 0) throw RunError("{}: an episode must have at least 1 step, has 0", group);
  CheckRows(episode.terminations.size(), steps, group + "/terminations");
  CheckRows(episode.truncations.size(), steps, group + "/truncations");
  CheckArrays(spec_.observation_space, episode.observations, steps + 1, group + "/observations");
  CheckArrays(spec_.action_space, episode.actions, steps, group + "/actions");
  for (const auto& [name, array] : episode.infos) {
    CheckRows(array.shape.at(0), steps + 1, Inside(group + "/infos", name));
  }

  WriteArrays(*file_, group + "/observations", episode.observations);
  WriteArrays(*file_, group + "/actions", episode.actions);
  file_->Write(group + "/rewards", MakeColumn(episode.rewards));
  file_->Write(group + "/terminations", MakeColumn(episode.terminations));
  file_->Write(group + "/truncations", MakeColumn(episode.truncations));
  file_->MakeGroup(group + "/infos");
  WriteArrays(*file_, group + "/infos", episode.infos);
  WriteArrays(*file_, group, episode.extras);
  for (const auto& [path, attributes] : episode.extra_attributes) {
    file_->MakeGroup(Inside(group, path));
    file_->SetAttributes(Inside(group, path), attributes);
  }

  AttributeMap attributes = RewardStatistics(episode.rewards);
  attributes.insert(episode.attributes.begin(), episode.attributes.end());
  for (const auto& [name, value] : episode.options) attributes["options/" + name] = value;
  attributes["id"] = episodes_;
  attributes["total_steps"] = static_cast<std::int64_t>(steps);
  if (episode.seed) attributes["seed"] = *episode.seed;
  file_->SetAttributes(group, attributes);
  file_->Flush();

  steps_ += static_cast<std::int64_t>(steps);
  return episodes_++;
}

void MinariWriter::WriteMetadata(std::ostream& out) const {
  json metadata = {
      {"dataset_id", dataset_id_},
      {"total_episodes", episodes_},
      {"total_steps", steps_},
      {"data_format", "hdf5"},
      {"minari_version", kMinariVersion},
      {"observation_space", spec_.observation_space.dump()},
      {"action_space", spec_.action_space.dump()},
      {"jpeg_encoding", false},
      // In megabytes with one decimal, as Minari gives it; its listing fails without the key.
      {"dataset_size", std::round(static_cast<double>(fs::file_size(part_path_)) / 1e5) / 10},
  };
  if (!spec_.env_spec.is_null()) metadata["env_spec"] = spec_.env_spec.dump();
  const auto add = [&metadata](const char* key, const auto& value) {
    if (!value.empty()) metadata[key] = value;
  };
  add("algorithm_name", spec_.algorithm_name);
  add("author", spec_.author);
  add("code_permalink", spec_.code_permalink);
  add("description", spec_.description);
  add("requirements", spec_.requirements);
  out << JsonText(metadata, 1) << '\n';
}

void MinariWriter::Close() {
  if (episodes_ == 0) throw RunError("{}: no episode was recorded", directory_.string());
  file_->Close();
  // Data before name: a crash after the rename must not leave a short file under the final name.
  SyncToDisk(part_path_, final_path_);

  const fs::path metadata_path = directory_ / "data" / "metadata.json";
  AtomicFile metadata(metadata_path);
  WriteMetadata(metadata.stream());
  if (!metadata.stream().flush()) {
    throw RunError("{}: cannot write: {}", metadata_path.string(), std::strerror(errno));
  }
  // A replaced data set loses its metadata first: without them no reader takes the folder for one.
  std::error_code error;
  fs::remove(metadata_path, error);
  fs::rename(part_path_, final_path_, error);
  if (error) {
    throw RunError("{}: cannot rename to {}: {}", part_path_.string(), final_path_.string(),
                   error.message());
  }
  try {
    metadata.Commit();
  } catch (...) {
    fs::rename(final_path_, part_path_, error);
    throw;
  }
  closed_ = true;
}

}  // namespace allot
