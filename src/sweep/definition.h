#pragma once
// What a sweep is: factors whose cross product is run, the world that all cells share, what is
// measured, and what the results are compared with. A value that goes to JSON and back; written by
// people as TOML or JSON (docs/sweeps.md), as command line options, or both.

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace allot {

struct SweepFactor {
  std::string name;  // an option of the world ("cluster", "rate", "seed", ...), or a part of the
                     // policy's spec: "policy", "admission", "placement"
  std::vector<std::string> values;
};

// In the cells whose factors have these values, these options of the world.
struct SweepException {
  std::map<std::string, std::string> when;
  std::map<std::string, std::string> options;
};

struct SweepDefinition {
  std::string title;
  std::map<std::string, std::string> world;  // options of the world, for all cells
  std::vector<SweepFactor> factors;          // the last one changes fastest; policy and seed always
  std::vector<SweepException> where;
  std::map<std::string, std::string> window;     // "window-jobs", "window-time" or "warm-up"
  std::map<std::string, std::string> limits;     // as in sweep/limits.h
  std::map<std::string, std::string> reference;  // factor -> value that ratios are taken of
};

// The options that a world has, by long name, without those that sweeps have as factors.
using WorldOptions = std::vector<std::string>;

// `where` stands for the file in messages. UsageError naming key and both values: unknown keys, a
// value given twice, a factor without values, a reference that is none of the values.
SweepDefinition SweepFromJson(const nlohmann::ordered_json& json, const WorldOptions& world,
                              std::string_view where);

// Reads back as an equal definition.
nlohmann::ordered_json ToJson(const SweepDefinition& definition);

// The keys of `above` win; an option of the world given as a value replaces one that varied and the
// other way round.
nlohmann::ordered_json Overlaid(nlohmann::ordered_json below, const nlohmann::ordered_json& above);

// ---- its cells ----

using CellValues = std::vector<std::string>;  // one per factor

std::vector<std::string> FactorNames(const SweepDefinition& definition);
std::vector<CellValues> CellsOf(const SweepDefinition& definition);

// The options of the world in a cell, and the spec of its policy with the stages that the cell
// exchanges: "las:admission=load/factor=1.2".
std::map<std::string, std::string> WorldOptionsOf(const SweepDefinition& definition,
                                                  const CellValues& cell);
std::string PolicySpecOf(const SweepDefinition& definition, const CellValues& cell);

// "rate 6, seed 0, policy fifo".
std::string CellText(const SweepDefinition& definition, const CellValues& cell);

}  // namespace allot
