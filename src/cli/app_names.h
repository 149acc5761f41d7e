#pragma once
// What a parsed command line names: the typed command, and the options that an app has. For the
// program and its config file.

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace allot {

// The typed commands from the outermost; empty without any.
std::vector<const CLI::App*> TypedPath(const CLI::App& app);
const CLI::App& TypedApp(const CLI::App& app);  // the innermost one; `app` itself without any
std::vector<std::string> TypedNames(const CLI::App& app);

// The long names of the app's own options behind `prefix`, without --help and the like, which are
// no settings.
std::vector<std::string> LongNames(const CLI::App& app, std::string_view prefix);

}  // namespace allot
