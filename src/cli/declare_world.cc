#include "cli/declare_world.h"

#include <string_view>
#include <type_traits>

#include "experiment/world_options.h"

namespace allot {
namespace {

void Place(const CommandLine::Entry& entry, const WorldOption& option) {
  if (option.detail) {
    entry.Detail(option.topic);
  } else {
    entry.Topic(option.topic);
  }
}

template <typename T>
void Declare(CommandLine& line, const WorldOption& option, BareWord bare, T& value) {
  const bool is_bare = bare == BareWord::kWorkload && std::string_view(option.name) == "workload";
  const std::string names = (is_bare ? "trace," : "") +
                            (option.letter.empty() ? "" : "-" + option.letter + ",") + "--" +
                            option.name;
  if constexpr (std::is_same_v<T, bool>) {
    Place(line.Flag(names, value, option.help), option);
  } else {
    const CommandLine::Entry entry = line.Option(names, value, option.help);
    Place(entry, option);
    if constexpr (std::is_same_v<T, std::vector<double>>) entry.SplitAt(',');
    if (option.duration) entry.Duration();
    if (option.range) {
      const auto [least, most] = *option.range;
      if constexpr (std::is_same_v<T, int>) {
        entry.Range(static_cast<int>(least), static_cast<int>(most));
      } else {
        entry.Range(least, most);
      }
    }
    if (option.show_default) entry.ShowDefault();
    if (!option.default_text.empty()) entry.DefaultText(option.default_text);
  }
}

}  // namespace

void DeclareWorld(CommandLine& line, WorldSpec& spec, BareWord bare) {
  for (const WorldOption& option : WorldOptionTable()) {
    std::visit([&](const auto member) { Declare(line, option, bare, spec.*member); }, option.value);
  }
  for (const WorldOption& option : WorldOptionTable()) {
    line.Exclude(option.name, ExcludedBy(option.name));
  }
}

}  // namespace allot
