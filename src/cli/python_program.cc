#include "cli/python_program.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/strings.h"
#include "sched/policy_family.h"

namespace allot {
namespace {

constexpr std::string_view kPythonPrefix = "python:";

// Like `python3 -m allot`, which searches modules in the present folder first.
constexpr const char* kPythonStart = R"py(
import sys
sys.path.insert(0, "")
try:
    from allot.__main__ import run
except ImportError as error:
    print(f"allot: policies in Python need the Python package allot, which {sys.executable} cannot "
          f"import: {error} (pip install . in a clone of allot)", file=sys.stderr)
    sys.exit(2)
sys.exit(run())
)py";

// True for "python:m:C", "mine=python:m:C", "fifo,python:m:C" and "--policy=python:m:C".
bool NamesPython(std::string_view argument) {
  if (argument.starts_with("-")) {
    const std::size_t equals = argument.find('=');
    if (equals == std::string_view::npos) return false;
    argument.remove_prefix(equals + 1);
  }
  const std::vector<std::string_view> parts = Split(argument, ',');
  return std::any_of(parts.begin(), parts.end(), [](std::string_view part) {
    part = Trim(part);
    const std::size_t label = part.substr(0, part.find(':')).find('=');
    if (label != std::string_view::npos) part.remove_prefix(label + 1);
    return part.starts_with(kPythonPrefix);
  });
}

// A build tree has the package beside the program.
void FindPackageBeside(const std::filesystem::path& program) {
  const std::filesystem::path package = program.parent_path() / "python";
  if (!std::filesystem::exists(package / "allot" / "__main__.py")) return;
  const char* given = std::getenv("PYTHONPATH");
  const std::string path =
      given == nullptr || *given == '\0' ? package.string() : package.string() + ":" + given;
  ::setenv("PYTHONPATH", path.c_str(), 1);
}

}  // namespace

void ContinueWithPython(int argc, char** argv) {
  if (FamilyOf(kPythonPrefix) != nullptr) return;  // this is Python
  if (std::none_of(argv + 1, argv + argc, NamesPython)) return;
  FindPackageBeside(std::filesystem::read_symlink("/proc/self/exe"));
  std::string python = "python3";
  std::string flag = "-c";
  std::string start = kPythonStart;
  std::vector<char*> words = {python.data(), flag.data(), start.data()};
  words.insert(words.end(), argv + 1, argv + argc);
  words.push_back(nullptr);
  ::execvp(words.front(), words.data());
  throw UsageError("policies in Python need python3, which cannot be started: {}", SystemMessage());
}

}  // namespace allot
