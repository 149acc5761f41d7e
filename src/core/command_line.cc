#include "core/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <type_traits>

#include "core/duration_text.h"
#include "core/error.h"
#include "core/strings.h"

namespace allot {
namespace {

// CLI11 would wrap -1 around and clip what is too large.
CLI::Validator NonNegativeWhole() {
  return {[](std::string& text) -> std::string {
            const bool digits = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
              return c >= '0' && c <= '9';
            });
            std::uint64_t value = 0;
            const auto end = text.data() + text.size();
            if (digits && std::from_chars(text.data(), end, value).ec == std::errc()) return "";
            return fmt::format("must be a whole number from 0 to {}, got '{}'",
                               std::numeric_limits<std::uint64_t>::max(), text);
          },
          "UINT"};
}

// CLI11's own messages show the largest double with its 309 digits. NaN fits no rule.
template <typename Fits>
CLI::Validator NumberThat(const std::string& rule, Fits fits, const std::string& in_help) {
  return {[=](const std::string& text) {
            const auto value = ParseNumber(text);
            return value && fits(*value) ? std::string()
                                         : fmt::format("must be {}, got {}", rule, text);
          },
          in_help};
}

template <typename T>
CLI::Validator NumberFrom(T least, T most) {
  return NumberThat(
      fmt::format("from {} to {}", least, most),
      [=](double value) {
        return value >= static_cast<double>(least) && value <= static_cast<double>(most);
      },
      CLI::Range(least, most).get_description());
}

}  // namespace

CommandLine::Entry CommandLine::Entry::Required() const { return Entry(option_->required()); }

CommandLine::Entry CommandLine::Entry::ShowDefault() const {
  return Entry(option_->capture_default_str());
}

CommandLine::Entry CommandLine::Entry::DefaultText(const std::string& text) const {
  return Entry(option_->default_str(text));
}

CommandLine::Entry CommandLine::Entry::SplitAt(char separator) const {
  return Entry(option_->delimiter(separator));
}

CommandLine::Entry CommandLine::Entry::Repeatable() const {
  return Entry(option_->allow_extra_args(false));
}

CommandLine::Entry CommandLine::Entry::Range(int least, int most) const {
  return Entry(option_->check(NumberFrom(least, most)));
}

CommandLine::Entry CommandLine::Entry::Range(double least, double most) const {
  return Entry(option_->check(NumberFrom(least, most)));
}

CommandLine::Entry CommandLine::Entry::Positive() const {
  return Entry(option_->check(NumberThat(
      "positive", [](double value) { return value > 0; }, CLI::PositiveNumber.get_description())));
}

CommandLine::Entry CommandLine::Entry::NonNegative() const {
  return Entry(option_->check(NumberThat(
      "0 or more", [](double value) { return value >= 0; },
      CLI::NonNegativeNumber.get_description())));
}

CommandLine::Entry CommandLine::Entry::Duration() const {
  const CLI::Validator as_seconds(
      [](std::string& text) -> std::string {
        const auto seconds = ParseDuration(text);
        if (!seconds) {
          return fmt::format("must be {}, got '{}'", kDurationForms, text);
        }
        text = fmt::format("{}", *seconds);
        return "";
      },
      "");
  return Entry(option_->transform(as_seconds)->type_name("TIME"));
}

CommandLine::Entry CommandLine::Entry::OneOf(const std::vector<std::string>& values) const {
  return Entry(option_->check(CLI::IsMember(values)));
}

CommandLine::Entry CommandLine::Entry::Topic(const std::string& title) const {
  return Entry(option_->group(title));
}

CommandLine::Entry CommandLine::Entry::Detail(const std::string& topic) const {
  return Entry(option_->group(fmt::format("{}{}", topic, kDetails)));
}

CommandLine::CommandLine(const std::string& description)
    : own_(std::make_unique<CLI::App>(description)), app_(own_.get()) {}

CommandLine::CommandLine(CLI::App& app) : app_(&app) {}

CommandLine::CommandLine(CommandLine&&) noexcept = default;
CommandLine::~CommandLine() = default;

template <typename T>
CommandLine::Entry CommandLine::Option(const std::string& names, T& value,
                                       const std::string& help) {
  CLI::Option* option = app_->add_option(names, value, help);
  if constexpr (std::is_same_v<T, std::uint64_t>) option->check(NonNegativeWhole());
  return Entry(option);
}

CommandLine::Entry CommandLine::Flag(const std::string& names, bool& value,
                                     const std::string& help) {
  return Entry(app_->add_flag(names, value, help));
}

void CommandLine::Footer(const std::string& text) { app_->footer(text); }

void CommandLine::Exclude(const std::string& name, const std::vector<std::string>& others) {
  CLI::Option* option = app_->get_option("--" + name);
  for (const std::string& other : others) option->excludes(app_->get_option("--" + other));
}

void CommandLine::Remove(std::initializer_list<const char*> names) {
  for (const char* name : names) app_->remove_option(app_->get_option(name));
}

CommandLine CommandLine::Command(const std::string& name, const std::string& summary) {
  app_->require_subcommand(1);
  return CommandLine(*app_->add_subcommand(name, summary));
}

std::optional<int> CommandLine::Parse(int argc, char** argv) {
  try {
    app_->parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    const int code = app_->exit(error);  // prints the help or the fault
    return code == 0 ? 0 : static_cast<int>(ExitCode::kUsage);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.code());
  }
}

bool CommandLine::given() const { return app_->parsed(); }

std::vector<std::string> CommandLine::Given(const std::string& name) const {
  const CLI::Option* option = app_->get_option_no_throw("--" + name);
  return option == nullptr ? std::vector<std::string>() : option->results();
}

GivenOptions CommandLine::Given() const {
  GivenOptions given;
  for (const CLI::Option* option : app_->get_options()) {
    if (option->count() > 0) given[option->get_single_name()] = option->results();
  }
  return given;
}

template CommandLine::Entry CommandLine::Option(const std::string&, int&, const std::string&);
template CommandLine::Entry CommandLine::Option(const std::string&, std::int64_t&,
                                                const std::string&);
template CommandLine::Entry CommandLine::Option(const std::string&, std::uint64_t&,
                                                const std::string&);
template CommandLine::Entry CommandLine::Option(const std::string&, double&, const std::string&);
template CommandLine::Entry CommandLine::Option(const std::string&, std::optional<double>&,
                                                const std::string&);
template CommandLine::Entry CommandLine::Option(const std::string&, std::optional<int>&,
                                                const std::string&);
template CommandLine::Entry CommandLine::Option(const std::string&, std::optional<std::string>&,
                                                const std::string&);
template CommandLine::Entry CommandLine::Option(const std::string&, std::string&,
                                                const std::string&);
template CommandLine::Entry CommandLine::Option(const std::string&, std::vector<int>&,
                                                const std::string&);
template CommandLine::Entry CommandLine::Option(const std::string&, std::vector<double>&,
                                                const std::string&);
template CommandLine::Entry CommandLine::Option(const std::string&, std::vector<std::string>&,
                                                const std::string&);

}  // namespace allot
