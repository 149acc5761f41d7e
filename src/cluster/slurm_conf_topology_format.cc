// Slurm's topology.conf, of the plugins topology/tree and topology/block:
//
//   SwitchName=leaf1 Nodes=n[1-16]
//   SwitchName=top Switches=leaf[1-4]
//
//   BlockName=b1 Nodes=n[1-18]
//   BlockSizes=18,36

#include <algorithm>

#include "cluster/slurm_switches.h"
#include "cluster/topology_format.h"
#include "core/error.h"
#include "core/strings.h"

namespace allot {
namespace {

struct Keys {
  std::string switch_name, switches, nodes, block_name, block_sizes;
};

Keys KeysOf(std::string_view line, const std::string& place) {
  Keys keys;
  for (std::string_view word : Split(line, ' ')) {
    word = Trim(word);
    if (word.empty()) continue;
    const std::size_t equals = word.find('=');
    const std::string key = ToLower(word.substr(0, equals));
    const std::string value(equals == std::string_view::npos ? std::string_view{}
                                                             : word.substr(equals + 1));
    if (value.empty()) {
      throw DataError("topology: a line has words KEY=VALUE, got '{}' ({})", word, place);
    }
    if (key == "switchname") {
      keys.switch_name = value;
    } else if (key == "switches") {
      keys.switches = value;
    } else if (key == "nodes") {
      keys.nodes = value;
    } else if (key == "blockname") {
      keys.block_name = value;
    } else if (key == "blocksizes") {
      keys.block_sizes = value;
    } else if (key != "linkspeed") {
      throw DataError(
          "topology: a line has SwitchName, Switches, Nodes, BlockName, BlockSizes or LinkSpeed, "
          "got '{}' ({})",
          word, place);
    }
  }
  return keys;
}

std::vector<std::int64_t> Sizes(std::string_view text, const std::string& place) {
  std::vector<std::int64_t> sizes;
  for (const std::string_view part : Split(text, ',')) {
    const auto size = ParseInteger(Trim(part));
    if (!size) {
      throw DataError("topology: block sizes are whole numbers, got '{}' ({})", part, place);
    }
    sizes.push_back(*size);
  }
  return sizes;
}

TopologyFile ReadSlurmConf(std::string_view text, const std::string& path) {
  SlurmSwitches switches(path);
  int number = 0;
  int begin = 0;
  std::string joined;  // lines that end in a backslash go on
  for (std::string_view line : Split(text, '\n')) {
    ++number;
    line = Trim(line.substr(0, line.find('#')));
    if (joined.empty()) begin = number;
    const bool goes_on = line.ends_with('\\');
    joined += std::string(goes_on ? line.substr(0, line.size() - 1) : line) + " ";
    if (goes_on) continue;
    const std::string whole = std::exchange(joined, "");
    if (Trim(whole).empty()) continue;
    const std::string place = fmt::format("{}:{}", path, begin);
    const Keys keys = KeysOf(whole, place);
    if (!keys.block_sizes.empty()) {
      switches.SetBlockSizes(Sizes(keys.block_sizes, place), begin);
    } else if (!keys.block_name.empty()) {
      switches.AddBlock(keys.block_name, keys.nodes, begin);
    } else {
      switches.AddSwitch(keys.switch_name, keys.switches, keys.nodes, begin);
    }
  }
  return switches.Finish();
}

int DetectSlurmConf(std::string_view text) {
  for (const std::string_view line : Split(text, '\n')) {
    const std::string word = ToLower(Trim(line));
    if (word.starts_with("switchname=") || word.starts_with("blockname=") ||
        word.starts_with("blocksizes=")) {
      return 90;
    }
  }
  return 0;
}

ALLOT_REGISTER(TopologyFormat,
               (TopologyFormat{"slurm-conf", "Slurm's topology.conf, of switches or blocks",
                               DetectSlurmConf, ReadSlurmConf}));

}  // namespace
}  // namespace allot
