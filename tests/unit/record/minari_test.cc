// Writer and reader together: what one leaves, the other finds.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cmath>
#include <csignal>
#include <cstdio>
#include <fstream>

#include "core/rng.h"
#include "record/minari_reader.h"
#include "record/minari_writer.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/core/temp_folder.h"
#include "tests/unit/record/example_episode.h"

namespace allot {
namespace {

using testing_support::TempFolder;

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kId = "cluster/philly-fifo-v0";

fs::path WriteExample(const TempFolder& root, std::size_t episodes = 3) {
  MinariWriter writer(root.path(), kId, ExampleSpec());
  for (std::size_t i = 0; i < episodes; ++i) writer.WriteEpisode(ExampleEpisode(i));
  writer.Close();
  return writer.directory();
}

void ExpectSame(const MinariReader& reader, std::int64_t episode, const std::string& group,
                const ArrayMap& arrays) {
  for (const auto& [name, array] : arrays) {
    const std::string path = name.empty() ? group : (fs::path(group) / name).string();
    const DataArray read = reader.Read(episode, path);
    EXPECT_EQ(read.shape, array.shape) << path;
    EXPECT_EQ(read.units, array.units) << path;
    EXPECT_TRUE(read.values == array.values) << path;
  }
}

TEST(Minari, KeepsEveryArrayOfEveryEpisode) {
  const TempFolder root;
  const MinariReader reader(WriteExample(root));
  ASSERT_EQ(reader.episodes(), 3);
  for (std::int64_t i = 0; i < 3; ++i) {
    const EpisodeData data = ExampleEpisode(static_cast<std::size_t>(i));
    ExpectSame(reader, i, "observations", data.observations);
    ExpectSame(reader, i, "actions", data.actions);
    ExpectSame(reader, i, "infos", data.infos);
    ExpectSame(reader, i, "", data.extras);
    EXPECT_EQ(reader.ReadAs<double>(i, "rewards"), data.rewards);
    EXPECT_EQ(reader.ReadAs<bool>(i, "terminations"), data.terminations);
    EXPECT_EQ(reader.ReadAs<bool>(i, "truncations"), data.truncations);
  }
}

TEST(Minari, KeepsAttributesOfEpisodesGroupsAndFile) {
  const TempFolder root;
  const MinariReader reader(WriteExample(root));
  const EpisodeInfo info = reader.Episode(1);
  EXPECT_EQ(info.id, 1);
  EXPECT_EQ(info.steps, 5);
  EXPECT_EQ(info.seed, 101);
  EXPECT_EQ(info.attributes.at("avg_jct_s"), AttributeValue(1234.5));
  EXPECT_EQ(info.attributes.at("options/cluster/nodes"), AttributeValue(std::int64_t{16}));
  EXPECT_EQ(reader.Attributes(1, "workload").at("source"), AttributeValue("traces/example.csv"));
  EXPECT_EQ(reader.attributes().at("schema"), AttributeValue(std::string(kEpisodeLogSchema)));
  EXPECT_EQ(reader.attributes().at("config"), AttributeValue("{\"seed\": 7}"));
}

TEST(Minari, RecordsRewardStatistics) {
  const TempFolder root;
  const AttributeMap attributes = MinariReader(WriteExample(root)).Episode(0).attributes;
  EXPECT_EQ(attributes.at("rewards_sum"), AttributeValue(-6.0));  // 0 -1 -2 -3
  EXPECT_EQ(attributes.at("rewards_mean"), AttributeValue(-1.5));
  EXPECT_EQ(attributes.at("rewards_std"), AttributeValue(std::sqrt(1.25)));
  EXPECT_EQ(attributes.at("rewards_min"), AttributeValue(-3.0));
  EXPECT_EQ(attributes.at("rewards_max"), AttributeValue(0.0));
}

TEST(Minari, WritesTheMetadataThatMinariNeeds) {
  const TempFolder root;
  const json metadata = MinariReader(WriteExample(root)).metadata();
  EXPECT_EQ(metadata["dataset_id"], kId);
  EXPECT_EQ(metadata["total_episodes"], 3);
  EXPECT_EQ(metadata["total_steps"], 4 + 5 + 6);
  EXPECT_EQ(metadata["data_format"], "hdf5");
  EXPECT_EQ(metadata["minari_version"], "0.5.0");
  EXPECT_TRUE(metadata["dataset_size"].is_number());
  EXPECT_EQ(json::parse(metadata["action_space"].get<std::string>()), DiscreteSpace(4));
  EXPECT_FALSE(metadata.contains("env_spec"));
}

TEST(Minari, ReadsTheFileAloneToo) {
  const TempFolder root;
  const fs::path directory = WriteExample(root);
  EXPECT_EQ(MinariReader(directory / "data").episodes(), 3);
  const MinariReader reader(directory / "data" / "main_data.hdf5");
  EXPECT_EQ(reader.episodes(), 3);
  EXPECT_TRUE(reader.metadata().is_null());
}

TEST(Minari, ListsAndFindsArrays) {
  const TempFolder root;
  const MinariReader reader(WriteExample(root));
  EXPECT_EQ(reader.List(0, "observations"),
            (std::vector<std::string>{"action_mask", "cluster", "jobs"}));
  EXPECT_TRUE(reader.Has(0, "allocation/node"));
  EXPECT_FALSE(reader.Has(0, "allocation/gpu"));
  ArrayShape shape;
  reader.ReadAs<float>(2, "observations/jobs", &shape);
  EXPECT_EQ(shape, (ArrayShape{7, 3, 2}));
  ExpectError(ExitCode::kBadData, {"main_data.hdf5", "episode_0/rewards", "float32", "float64"},
              [&] { reader.ReadAs<float>(0, "rewards"); });
}

TEST(Minari, KeepsActionsOfADictSpace) {
  const TempFolder root;
  MinariSpec spec = ExampleSpec();
  spec.action_space = DictSpace({{"kind", DiscreteSpace(4)}});
  EpisodeData data = ExampleEpisode(0);
  data.actions["kind"] = data.actions.extract("").mapped();
  MinariWriter writer(root.path(), kId, spec);
  writer.WriteEpisode(data);
  writer.Close();
  ExpectSame(MinariReader(writer.directory()), 0, "actions", data.actions);
}

TEST(MinariWriter, AppearsWholeOrNotAtAll) {
  const TempFolder root;
  const fs::path data = root / kId / "data";
  MinariWriter writer(root.path(), kId, ExampleSpec());
  writer.WriteEpisode(ExampleEpisode(0));
  EXPECT_TRUE(fs::exists(data / "main_data.hdf5.part"));
  EXPECT_FALSE(fs::exists(data / "main_data.hdf5"));
  EXPECT_FALSE(fs::exists(data / "metadata.json"));
  writer.Close();
  EXPECT_FALSE(fs::exists(data / "main_data.hdf5.part"));
  EXPECT_TRUE(fs::exists(data / "main_data.hdf5"));
  EXPECT_TRUE(fs::exists(data / "metadata.json"));
}

TEST(MinariWriter, ReplacesADataSetOnlyWhenItCloses) {
  const TempFolder root;
  const fs::path directory = WriteExample(root, 3);
  MinariWriter writer(root.path(), kId, ExampleSpec());
  writer.WriteEpisode(ExampleEpisode(0));
  EXPECT_EQ(MinariReader(directory).episodes(), 3);
  writer.Close();
  EXPECT_EQ(MinariReader(directory).episodes(), 1);
}

TEST(MinariWriter, LeavesNothingWithoutAnEpisode) {
  const TempFolder root;
  {
    MinariWriter writer(root.path(), kId, ExampleSpec());
    ExpectError(ExitCode::kRunFailed, {"no episode"}, [&] { writer.Close(); });
  }
  EXPECT_TRUE(fs::is_empty(root.path()));
}

TEST(MinariWriter, KeepsCompleteEpisodesWhenAbandoned) {
  const TempFolder root;
  {
    MinariWriter writer(root.path(), kId, ExampleSpec());
    writer.WriteEpisode(ExampleEpisode(0));
    writer.WriteEpisode(ExampleEpisode(1));
  }
  const fs::path directory = root / kId;
  EXPECT_EQ(MinariReader(directory / "data" / "main_data.hdf5.part").episodes(), 2);
  ExpectError(ExitCode::kBadData, {"main_data.hdf5", ".part"}, [&] { MinariReader{directory}; });
}

TEST(MinariWriter, RefusesIdsThatMinariRefuses) {
  const TempFolder root;
  for (const char* id :
       {"a/b-v0", "cluster/fifo", "cluster/fi fo-v0", "../up-v0", "", "cluster//x-v0"}) {
    ExpectError(ExitCode::kUsage, {"namespace/name-v0", fmt::format("'{}'", id)},
                [&] { MinariWriter(root.path(), id, ExampleSpec()); });
  }
  EXPECT_TRUE(fs::is_empty(root.path()));
}

TEST(MinariWriter, RefusesEpisodesThatBreakTheLayout) {
  const TempFolder root;
  MinariWriter writer(root.path(), kId, ExampleSpec());
  const auto expect = [&](const std::vector<std::string>& named, auto&& spoil) {
    EpisodeData data = ExampleEpisode(0);
    spoil(data);
    ExpectError(ExitCode::kRunFailed, named, [&] { writer.WriteEpisode(data); });
  };
  expect({"terminations", "4", "3"}, [](EpisodeData& data) { data.terminations.pop_back(); });
  expect({"infos/now", "5", "1"},
         [](EpisodeData& data) { data.infos["now"] = MakeColumn(std::vector<double>{1}); });
  expect({"observations", "'jobs' is missing"},
         [](EpisodeData& data) { data.observations.erase("jobs"); });
  expect({"observations", "'more'"},
         [](EpisodeData& data) { data.observations["more"] = MakeColumn(std::vector<double>{1}); });
  expect({"actions", "Discrete"},
         [](EpisodeData& data) { data.actions["x"] = data.actions.extract("").mapped(); });
  expect({"actions", "[0, 3]", "9"}, [](EpisodeData& data) {
    data.actions[""] = MakeColumn<std::int64_t>({0, 1, 2, 9});
  });
  expect({"at least 1 step"}, [](EpisodeData& data) { data.rewards.clear(); });
  EXPECT_EQ(writer.WriteEpisode(ExampleEpisode(0)), 0) << "a refused episode leaves no trace";
}

// As a command would: logs until the disk (a limit on file sizes) is full. Returns the exit code.
int LogOnFullDisk(const fs::path& root, rlim_t limit) {
  std::fflush(nullptr);  // lest the child, too, prints what is buffered
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit files{limit, limit};
    ::setrlimit(RLIMIT_FSIZE, &files);
    int code = 0;
    try {
      MinariWriter writer(root, kId, ExampleSpec());
      for (std::size_t i = 0; i < 100; ++i) writer.WriteEpisode(ExampleEpisode(i));
      writer.Close();
    } catch (const Error& error) {
      code = static_cast<int>(error.code());
    }
    std::exit(code);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

TEST(MinariWriter, FullDiskBeforeTheFirstEpisodeLeavesNothing) {
  for (const rlim_t limit : {0, 300, 3'000}) {
    const TempFolder root;
    EXPECT_EQ(LogOnFullDisk(root.path(), limit), 1) << "at " << limit << " bytes";
    EXPECT_TRUE(fs::is_empty(root.path())) << "at " << limit << " bytes";
  }
}

TEST(MinariWriter, FullDiskLaterLeavesNothingUnderAFinalName) {
  const TempFolder root;
  EXPECT_EQ(LogOnFullDisk(root.path(), 200'000), 1);
  const fs::path data = root / kId / "data";
  EXPECT_TRUE(fs::exists(data / "main_data.hdf5.part"));
  EXPECT_FALSE(fs::exists(data / "main_data.hdf5"));
  EXPECT_FALSE(fs::exists(data / "metadata.json"));
}

TEST(MinariReader, RefusesADataSetWithoutMetadata) {
  const TempFolder root;
  const fs::path directory = WriteExample(root);
  fs::remove(directory / "data" / "metadata.json");
  ExpectError(ExitCode::kBadData, {"metadata.json", "not finished"},
              [&] { MinariReader{directory}; });
}

TEST(MinariReader, RefusesMetadataOfAnotherFile) {
  const TempFolder root;
  const fs::path directory = WriteExample(root);
  std::ofstream(directory / "data" / "metadata.json") << R"({"total_episodes": 9})";
  ExpectError(ExitCode::kBadData, {"metadata.json", "total_episodes", "3", "9"},
              [&] { MinariReader{directory}; });
  std::ofstream(directory / "data" / "metadata.json") << "{";
  ExpectError(ExitCode::kBadData, {"metadata.json", "JSON"}, [&] { MinariReader{directory}; });
}

TEST(MinariReader, RefusesTruncatedData) {
  const TempFolder root;
  const fs::path file = WriteExample(root) / "data" / "main_data.hdf5";
  fs::resize_file(file, fs::file_size(file) - 100);
  ExpectError(ExitCode::kBadData, {"main_data.hdf5"}, [&] { MinariReader{file}; });
}

// Everything in a log of one episode, by path.
std::map<std::string, DataArray> ReadAll(const fs::path& file) {
  const MinariReader reader(file);
  std::map<std::string, DataArray> arrays;
  const auto keep = [&](const std::string& path) { arrays[path] = reader.Read(0, path); };
  const auto keep_text = [&](const std::string& path, const AttributeMap& attributes) {
    for (const auto& [name, value] : attributes) {
      if (const auto* text = std::get_if<std::string>(&value)) {
        arrays[fmt::format("{}@{}", path, name)] = MakeColumn(std::vector{*text});
      }
    }
  };
  for (const char* group : {"observations", "infos", "allocation", "workload"}) {
    for (const std::string& name : reader.List(0, group)) {
      if (name != "long_texts") keep(fmt::format("{}/{}", group, name));
    }
  }
  for (const char* path : {"actions", "rewards", "terminations", "truncations"}) keep(path);
  keep_text("/", reader.attributes());
  keep_text("episode", reader.Episode(0).attributes);
  keep_text("workload", reader.Attributes(0, "workload"));
  return arrays;
}

TEST(MinariReader, DamageIsADataErrorOrHarmless) {
  const TempFolder root;
  EpisodeData episode = ExampleEpisode(0);
  episode.extra_attributes["workload"]["profiles"] = std::string(40'000, 'p');
  MinariWriter writer(root.path(), kId, ExampleSpec());
  writer.WriteEpisode(episode);
  writer.Close();
  const fs::path file = writer.directory() / "data" / "main_data.hdf5";
  const std::string whole = testing_support::Bytes(file);
  const auto arrays = ReadAll(file);
  EXPECT_EQ(arrays.at("workload@profiles").values,
            ArrayValues(std::vector{std::string(40'000, 'p')}));
  constexpr int kFlips = 1000;
  int refused = 0;
  Rng rng(1, "flips");
  for (std::size_t i = 0; i < kFlips; ++i) {
    const std::size_t at = i * whole.size() / kFlips + rng.Below(whole.size() / kFlips);
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ static_cast<char>(1 + rng.Below(255)));
    std::ofstream(file, std::ios::binary) << damaged;
    try {
      for (const auto& [path, array] : ReadAll(file)) {
        ASSERT_TRUE(arrays.at(path).values == array.values) << path << ", byte " << at;
      }
    } catch (const Error& error) {
      ASSERT_EQ(static_cast<int>(error.code()), static_cast<int>(ExitCode::kBadData))
          << error.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, kFlips / 4);
}

}  // namespace
}  // namespace allot
