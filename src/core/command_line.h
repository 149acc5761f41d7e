#pragma once
// Programs and commands declare their options here, and the command line is parsed. CLI11 does the
// work. It is hidden behind this class because its inline code takes long to compile.

#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace allot {

// What the headings of details end with.
inline constexpr std::string_view kDetails = ", in detail";

// What the user gave for each option, by its long name without dashes.
using GivenOptions = std::map<std::string, std::vector<std::string>>;

class CommandLine {
 public:
  // A declared option, to say more of it.
  class Entry {
   public:
    explicit Entry(CLI::Option* option) : option_(option) {}
    Entry Required() const;
    Entry ShowDefault() const;                         // the variable's present value, in the help
    Entry DefaultText(const std::string& text) const;  // what the help says instead
    Entry SplitAt(char separator) const;               // one argument is several values
    Entry Repeatable() const;  // of several values, one each time: the next word is another's
    Entry Range(int least, int most) const;
    Entry Range(double least, double most) const;
    Entry Positive() const;
    Entry NonNegative() const;
    Entry Duration() const;  // TIME: "90m", "1h30m", "2d" beside numbers of seconds
    Entry OneOf(const std::vector<std::string>& values) const;
    // The heading of the help below which the option stands.
    Entry Topic(const std::string& title) const;
    Entry Detail(const std::string& topic) const;  // shown by --help-all only

   private:
    CLI::Option* option_;
  };

  explicit CommandLine(const std::string& description = "");
  explicit CommandLine(CLI::App& app);  // declares on this one
  CommandLine(CommandLine&&) noexcept;
  ~CommandLine();

  // `value` keeps what it holds unless the option is given. The types are those at the end of
  // command_line.cc.
  template <typename T>
  Entry Option(const std::string& names, T& value, const std::string& help);
  Entry Flag(const std::string& names, bool& value, const std::string& help);
  void Footer(const std::string& text);
  // `name` and any of `others`, all without dashes, cannot be given together.
  void Exclude(const std::string& name, const std::vector<std::string>& others);
  void Remove(std::initializer_list<const char*> names);
  // A command below this one; some command must then be given.
  CommandLine Command(const std::string& name, const std::string& summary);

  // Returns the exit code where the program is to end: after --help or a fault, which it prints.
  std::optional<int> Parse(int argc, char** argv);
  bool given() const;  // as a command
  // As given for the option --`name`; nothing also where there is no such option.
  std::vector<std::string> Given(const std::string& name) const;
  GivenOptions Given() const;  // for all options that were given

 private:
  std::unique_ptr<CLI::App> own_;
  CLI::App* app_;
};

}  // namespace allot
