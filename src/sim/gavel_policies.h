#pragma once
// The policies of Gavel (Narayanan et al., OSDI'20) by the names that its programs take, and how
// its rounds treat each: by the words of their class names, so that a name says more than a rule.

#include <span>
#include <string>
#include <string_view>

namespace allot {

struct GavelPolicy {
  std::string_view name;
  bool shuffled = false;  // GPU types in a new order each round; else v100, p100, k80
  bool pairs = false;     // every pair of jobs of equal size may fill what is left
  bool strict = false;    // who has no share gets nothing
  // What the answer is unique for, so that runs can be compared job by job. Optima of linear
  // programs are not unique.
  bool determined = false;
  std::string_view sharing{};  // allot's, by spec; "": there is none yet
  std::string_view its_own{};  // parameters of the sharing, as the peer has them
};

std::span<const GavelPolicy> GavelPolicies();
// nullptr: it has none of that name.
const GavelPolicy* FindGavelPolicy(std::string_view name);

// The policy `shared` with Gavel's own rounds: its parameters but for the sharing.
std::string GavelRounds(const GavelPolicy& policy);

}  // namespace allot
