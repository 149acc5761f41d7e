#pragma once
// Options as data: one declaration gives the key, default, help and range, and a mistyped key is an
// error. Used by everything registered (policies, stages, rewards); written on the command line as
// "las:queues=3600|36000,backfill=false".

#include <any>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace allot {

// The files and folders that the value of a parameter or option names, whether they are there or
// not; results name them by content (core/inputs.h).
using NamedFiles = std::vector<std::string> (*)(const std::string& value);

struct ParamSpec {
  std::string name;
  std::string default_value;
  std::string help;
  double min = -1e300;  // numeric parameters: inclusive range
  double max = 1e300;
  NamedFiles files = nullptr;  // null: its value names none
};

// The value itself, a file or a folder; none where it is empty.
std::vector<std::string> ThePath(const std::string& value);
// The value where it is a file that is there: of values that may be something else.
std::vector<std::string> TheFile(const std::string& value);

// A parameter whose value is a path, or names files in another way.
ParamSpec FileParam(ParamSpec spec, NamedFiles files = ThePath);

// What the values of parameters name, those left to defaults included.
std::vector<std::string> FilesOfParams(const std::vector<ParamSpec>& specs,
                                       const std::map<std::string, std::string>& given);

// Loads what a parameter names (kind "history", its value) for things that open no file themselves.
// Throws what reading throws: the error names the file and the line.
using ParamLoader = std::function<std::any(std::string_view kind, const std::string& value)>;

// The values of one registered thing: defaults overlaid with what the user wrote.
class Params {
 public:
  Params() = default;
  // Throws UsageError for a key that `specs` does not hold; `owner` names the thing in messages.
  Params(std::string owner, std::vector<ParamSpec> specs,
         const std::map<std::string, std::string>& given, ParamLoader loader = {});

  double Number(std::string_view name) const;  // range-checked; UsageError when not a number
  int Integer(std::string_view name) const;
  double Duration(std::string_view name) const;  // seconds (core/duration_text.h), in the range
  bool Flag(std::string_view name) const;        // true/false/1/0/yes/no
  const std::string& Text(std::string_view name) const;
  std::vector<double> Numbers(std::string_view name) const;  // joined by '|', in range; "": none
  const std::map<std::string, std::string>& values() const { return values_; }

  // What the parameter names, loaded. UsageError where nobody brought a loader.
  std::any Load(std::string_view kind, std::string_view name) const;
  // For what this makes in turn: stages, policies inside policies.
  const ParamLoader& loader() const { return loader_; }

 private:
  const ParamSpec& Spec(std::string_view name) const;
  std::string owner_;
  std::vector<ParamSpec> specs_;
  std::map<std::string, std::string> values_;
  ParamLoader loader_;
};

// "name:key=value,key=value" -> name and the given pairs. UsageError when malformed.
struct NamedParams {
  std::string name;
  std::map<std::string, std::string> given;
};
NamedParams ParseNamedParams(std::string_view text);
// The spec with the key at this value, keys in alphabetical order.
std::string SpecWith(std::string_view spec, const std::string& key, const std::string& value);

}  // namespace allot
