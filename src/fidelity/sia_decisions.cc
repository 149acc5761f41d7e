#include "fidelity/sia_decisions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "core/cpu_time.h"
#include "core/error.h"
#include "core/file.h"
#include "core/index.h"
#include "solve/sia_problem.h"

namespace allot {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double kGap = 1e-4;  // of its solver, relative

struct Configurations {
  std::vector<std::string> types;
  std::vector<std::int32_t> capacity;
  std::vector<SiaProblem::Option> options;  // without values
};

std::int32_t TypeOf(const Configurations& of, const std::string& name) {
  const auto found = std::find(of.types.begin(), of.types.end(), name);
  if (found == of.types.end()) {
    throw DataError("a configuration names a type of 'gpus_per_type', got '{}'", name);
  }
  return static_cast<std::int32_t>(found - of.types.begin());
}

Configurations ReadConfigurations(const json& file) {
  Configurations read;
  for (const auto& [type, gpus] : file.at("gpus_per_type").items()) {
    read.types.push_back(type);
    read.capacity.push_back(gpus);
  }
  for (const json& c : file.at("configs")) {
    read.options.push_back({TypeOf(read, c.at(0)), c.at(2), 0});
  }
  return read;
}

// The adaptive jobs of a decision, or the rigid ones, whose columns are types.
void AddJobs(const json& decision, const char* names, const char* values, const char* factors,
             const char* current, const json& pinned, const Configurations& of, bool rigid,
             SiaProblem* problem) {
  for (std::size_t j = 0; j < decision.at(names).size(); ++j) {
    const std::string name = decision.at(names).at(j);
    SiaProblem::Job job;
    const json& row = decision.at(values).at(j);
    if (!rigid) {
      job.options = of.options;
    } else {
      // In the order in which configurations name the types.
      for (const SiaProblem::Option& option : of.options) {
        const bool listed =
            std::any_of(job.options.begin(), job.options.end(),
                        [&](const SiaProblem::Option& known) { return known.type == option.type; });
        if (listed) continue;
        job.options.push_back({option.type, decision.at("rigid_gpus").at(j), 0});
      }
    }
    if (row.size() != job.options.size()) {
      throw DataError("'{}' of job '{}' has {} numbers, there are {} configurations", values, name,
                      row.size(), job.options.size());
    }
    for (std::size_t c = 0; c < row.size(); ++c) job.options[c].value = row.at(c);
    job.factor = decision.at(factors).at(j);
    const json& held = decision.at(current);
    if (held.contains(name) && !held.at(name).is_null()) job.current = held.at(name);
    job.pinned = std::find(pinned.begin(), pinned.end(), json(name)) != pinned.end();
    problem->jobs.push_back(std::move(job));
  }
}

SiaProblem ReadDecision(const json& file, const json& decision, const Configurations& of) {
  SiaProblem problem;
  problem.capacity = of.capacity;
  problem.power = file.at("p");
  problem.unserved = file.at("lambda_n");
  const json& pinned = decision.at("pinned");
  AddJobs(decision, "adaptive_jobs", "goodput", "realloc", "prev_config", pinned.at("adaptive"), of,
          false, &problem);
  AddJobs(decision, "rigid_jobs", "rigid_goodput", "rigid_realloc", "prev_rigid",
          pinned.at("rigid"), of, true, &problem);
  return problem;
}

FidelityResult Run(const std::string& path, const std::string& name) {
  FidelityResult result;
  result.name = name;
  result.our_cpu_s = 0;
  try {
    const json file = json::parse(ReadTextFile(path));
    const Configurations of = ReadConfigurations(file);
    for (const json& decision : file.at("decisions")) {
      const SiaProblem problem = ReadDecision(file, decision, of);
      const double begin = ThreadCpuSeconds();
      const SiaAnswer ours = SolveSia(problem, kGap);
      result.our_cpu_s += ThreadCpuSeconds() - begin;
      ++result.jobs;
      const double theirs = decision.at("objective");
      const bool same = ours.proved &&
                        std::abs(ours.objective - theirs) <= kGap * std::max(std::abs(theirs), 1.0);
      if (same || result.verdict == FidelityResult::Verdict::kDifferent) continue;
      result.verdict = FidelityResult::Verdict::kDifferent;
      result.first_difference =
          fmt::format("objective {} against {} ({} jobs, at {} s)", ours.objective, theirs,
                      problem.jobs.size(), decision.at("time").get<double>());
    }
  } catch (const json::exception& error) {
    throw DataError("{}: decisions of Sia, {}", path, error.what());
  } catch (const Error& error) {
    throw DataError("{}: {}", path, error.what());
  }
  return result;
}

}  // namespace

std::vector<FidelityCase> SiaDecisions(const fs::path& folder) {
  std::vector<FidelityCase> cases;
  if (!fs::is_directory(folder / "unit")) return cases;
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder / "unit")) {
    if (entry.path().filename().string().starts_with("sia_decisions-")) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    const std::string name = file.stem().string();
    cases.push_back(
        {name, [file, name] { return Run(file.string(), name); }, [] { return kUnknown; }});
  }
  return cases;
}

}  // namespace allot
