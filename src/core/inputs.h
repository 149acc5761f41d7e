#pragma once
// What results were made from: files and folders by content. Evaluations, sweeps and training runs
// keep it beside what they write, so that results of other contents are never taken for results of
// these. Which paths count is said where options and parameters are declared (ParamSpec::files,
// WorldOption::files); nothing here knows one by name.

#include <map>
#include <string>
#include <vector>

namespace allot {

// Path as it was given -> fingerprint of the decompressed content; of a folder: of all its files.
using Inputs = std::map<std::string, std::string>;

// Adds the paths that are there; devices and pipes can be read only once and are left out.
// DataError where one cannot be read.
void AddInputs(const std::vector<std::string>& paths, Inputs* inputs);

// DataError naming the file and both fingerprints where `results`, a folder, were made from other
// inputs than those of now.
void RequireSameInputs(const Inputs& there, const Inputs& now, const std::string& results);

}  // namespace allot
