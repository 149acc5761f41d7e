#pragma once
// A small episode that uses every part of the log; steps, seed and values vary with the number.

#include <string>
#include <utility>
#include <vector>

#include "record/minari_writer.h"
#include "record/spaces.h"

namespace allot {

inline MinariSpec ExampleSpec() {
  MinariSpec spec;
  spec.observation_space = DictSpace({{"cluster", BoxSpace({2}, 0, 1)},
                                      {"jobs", BoxSpace({3, 2}, -20, 20)},
                                      {"action_mask", BoxSpace({4}, 0, 1, "int8")}});
  spec.action_space = DiscreteSpace(4);
  spec.algorithm_name = "fifo";
  spec.author = {"allot"};
  spec.description = "Example of the tests";
  spec.attributes = {{"creator", "allot test"}, {"config", "{\"seed\": 7}"}, {"seed", 7}};
  return spec;
}

inline EpisodeData ExampleEpisode(std::size_t number) {
  const std::size_t steps = 4 + number;
  const auto count = [](std::size_t size, float scale) {
    std::vector<float> values(size);
    for (std::size_t i = 0; i < size; ++i) values[i] = static_cast<float>(i % 7) * scale;
    return values;
  };
  EpisodeData data;
  data.seed = static_cast<std::int64_t>(100 + number);
  data.options = {{"load", 0.8}, {"cluster/nodes", std::int64_t{16}}, {"trace", "philly"}};
  data.attributes = {{"avg_jct_s", 1234.5}};
  data.observations["cluster"] = MakeArray({steps + 1, 2}, count((steps + 1) * 2, 0.1F), "1");
  data.observations["jobs"] = MakeArray({steps + 1, 3, 2}, count((steps + 1) * 6, -1.5F));
  data.observations["action_mask"] =
      MakeArray({steps + 1, 4}, std::vector<std::int8_t>((steps + 1) * 4, 1));
  std::vector<std::int64_t> actions(steps);
  for (std::size_t i = 0; i < steps; ++i) actions[i] = static_cast<std::int64_t>((i + number) % 4);
  data.actions[""] = MakeColumn(std::move(actions));
  for (std::size_t i = 0; i < steps; ++i) data.rewards.push_back(-static_cast<double>(i));
  data.terminations.assign(steps, false);
  data.terminations.back() = true;
  data.truncations.assign(steps, false);
  data.infos["now"] = MakeColumn(std::vector<double>(steps + 1, 60.0), "s");
  data.extras["allocation/job"] = MakeColumn(std::vector<std::int32_t>{0, 1, 1}, "1");
  data.extras["allocation/node"] = MakeColumn(std::vector<std::int32_t>{});
  data.extras["workload/job_id"] =
      MakeColumn(std::vector<std::string>{"application_1", "größe", ""});
  data.extra_attributes["workload"] = {{"source", "traces/example.csv"}};
  return data;
}

}  // namespace allot
