// The extension module allot._allot: everything that the files of this folder register.

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <exception>
#include <string>
#include <vector>

#include "bindings/binding.h"
#include "bindings/python_error.h"
#include "cli/program.h"
#include "core/error.h"
#include "core/version.h"

namespace allot {
namespace {

void TranslateErrors() {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Error& error) {
      SetPythonError(error);
    }
  });
}

int Main(std::vector<std::string> words) {
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const nb::gil_scoped_release release;
  return RunProgram(static_cast<int>(words.size()), argv.data());
}

}  // namespace
}  // namespace allot

NB_MODULE(_allot, module) {
  using allot::BindingInfo;
  using namespace nanobind::literals;
  module.doc() = "The engine of allot; use the package allot, not this module.";
  allot::TranslateErrors();
  nanobind::set_leak_warnings(
      false);  // registered rewards and policies live as long as the process
  module.def(
      "version", [] { return std::string(allot::Version()); }, "Version of the engine.");
  module.def("main", &allot::Main, "argv"_a,
             "Runs the program with this command line (argv[0] included); returns its exit code.");
  for (const BindingInfo& binding : allot::Registry<BindingInfo>::Global().entries()) {
    binding.bind(module);
  }
}
