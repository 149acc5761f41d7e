#pragma once
// Which numbers of GPUs a job may be given, beside its limits: powers of two, whole nodes, or a
// list. Operators set it (rules/operator_rules.h), and users for their own jobs; where both do,
// both hold. Used by TableCache, which leaves all other sizes out of a job's table, so that no
// policy can choose them. A value.

#include <compare>
#include <string>
#include <string_view>
#include <vector>

#include "core/types.h"

namespace allot {

class SizeRule {
 public:
  SizeRule() = default;  // any size

  // "any", "powers-of-two", "node-multiples", a list "1|2|4|12", or several joined by '+', all of
  // which hold. DataError naming the part that is none; `where` begins its message.
  static SizeRule Parse(std::string_view text, std::string_view where);
  // Only these, >= 1.
  static SizeRule OneOf(std::vector<GpuCount> sizes);

  bool any() const { return *this == SizeRule(); }
  // `node_gpus`: of the type's largest node. Node multiples are any number up to one node, and
  // whole nodes beyond.
  bool Allows(GpuCount gpus, GpuCount node_gpus) const;
  // Of those allowed: it is in the list, or whole nodes of 4 GPUs or more. Tables hold these beside
  // their grid.
  bool Names(GpuCount gpus, GpuCount node_gpus) const;
  SizeRule And(const SizeRule& other) const;
  // And these numbers, whatever the rule says of them: a job holds them since before the rule.
  SizeRule Also(const std::vector<GpuCount>& gpus) const;
  std::string ToString() const;  // as Parse takes it

  friend auto operator<=>(const SizeRule&, const SizeRule&) = default;

 private:
  bool powers_of_two_ = false;
  bool node_multiples_ = false;
  bool listed_ = false;
  std::vector<GpuCount> sizes_;  // ascending, each once, where listed
  std::vector<GpuCount> also_;   // few
};

}  // namespace allot
