#pragma once
// Writes episodes as a Minari data set (docs/formats/episode_log.md): what `compare --log` and
// training leave behind, what imitation learning and Minari itself read. Knows arrays and spaces,
// not jobs.
//
// <root>/<dataset_id>/data/main_data.hdf5.part grows by one flushed episode at a time; Close()
// renames it and writes metadata.json last, so that under the final names there is a whole data set
// or none. A writer destroyed before Close() keeps the .part if at least one episode is complete in
// it, saying so in the log, and otherwise leaves nothing. One thread at a time. All failures are
// RunErrors.

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/data_array.h"
#include "record/hdf5.h"

namespace allot {

// The schema of the file, attribute `schema` = "allot-episode-log/2". docs/formats/episode_log.md
// says what changed.
inline constexpr std::string_view kEpisodeLogSchema = "allot-episode-log/2";

struct MinariSpec {
  nlohmann::json observation_space;  // record/spaces.h
  nlohmann::json action_space;
  nlohmann::json env_spec;  // a Gymnasium EnvSpec; null: not a registered environment
  std::string algorithm_name;
  std::vector<std::string> author;
  std::string code_permalink;
  std::string description;
  std::vector<std::string> requirements;  // as for pip
  AttributeMap attributes;                // of the file: creator, config, seed, ...
};

// One episode of T steps. Where the space is a Dict, observations and actions hold one array per
// key; otherwise one array under the empty key.
struct EpisodeData {
  std::optional<std::int64_t> seed;
  AttributeMap options;     // of reset(); nested keys joined by '/'
  AttributeMap attributes;  // results of the episode ("avg_jct_s")
  ArrayMap observations;    // T + 1 rows: the last is what the last step led to
  ArrayMap actions;         // T rows
  std::vector<double> rewards;
  std::vector<bool> terminations;
  std::vector<bool> truncations;
  ArrayMap infos;  // T + 1 rows: the first is that of reset()
  // What Minari does not know, beside its groups: arrays of any length and attributes of their
  // groups
  // ("allocation/job", "workload/submit").
  ArrayMap extras;
  std::map<std::string, AttributeMap> extra_attributes;
};

class MinariWriter {
 public:
  // `dataset_id` is "namespace/name-v0"; UsageError when Minari would refuse it. A data set of that
  // name is replaced by Close(), not before.
  MinariWriter(const std::filesystem::path& datasets_root, std::string dataset_id, MinariSpec spec);
  ~MinariWriter();
  MinariWriter(const MinariWriter&) = delete;
  MinariWriter& operator=(const MinariWriter&) = delete;

  // Checks lengths and spaces first, then writes and flushes. Returns the episode's id: 0, 1, ...
  std::int64_t WriteEpisode(const EpisodeData& episode);
  void Close();

  const std::filesystem::path& directory() const { return directory_; }  // <root>/<dataset_id>
  std::int64_t episodes() const { return episodes_; }

 private:
  void WriteMetadata(std::ostream& out) const;
  void Discard() noexcept;

  std::filesystem::path directory_;
  std::filesystem::path final_path_;
  std::filesystem::path part_path_;
  std::string dataset_id_;
  MinariSpec spec_;
  std::optional<Hdf5File> file_;
  std::int64_t episodes_ = 0;
  std::int64_t steps_ = 0;
  bool closed_ = false;
};

}  // namespace allot
