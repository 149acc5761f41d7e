#pragma once
// Specs of policies with short names of their users: "tuned=index:basis=remaining,alpha=0.4" is the
// spec after the first '=' and is called "tuned" in tables, figures and folders.

#include <string>
#include <string_view>
#include <vector>

namespace allot {

struct LabelledSpec {
  std::string label;  // the spec itself where it has none
  std::string spec;
};

// A label stands before an '=' that comes before any ':'. UsageError for an empty label or spec, or
// a label that is not made of letters, digits, spaces, '-', '_', '.' and '+'.
LabelledSpec ReadLabel(std::string_view text);

// Names for tables, in the order of the specs: those of at most 32 characters as they are; of a
// longer one what comes before its first ':', and those of its parameters that tell it from the
// others of this list: "index:…", "index:…,alpha=0.4". All names differ.
std::vector<std::string> NamesForTables(const std::vector<std::string>& specs);

}  // namespace allot
