// What a policy behind the C interface must do with any snapshot that a host could send.
//
// The input is "json SPEC\nTEXT": texts of snapshots, one a line, for a policy of that spec. The
// call answers or refuses with words, never ends the program, and the next snapshot, which is good,
// is decided.

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/strings.h"
#include "plugin/allot_plugin.h"
#include "tests/fuzz/fuzz_target.h"

namespace allot {
namespace {

void Expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s; %s\n", what, allot_last_error());
  std::abort();
}

class FuzzedPolicy {
 public:
  explicit FuzzedPolicy(const std::string& spec) {
    if (allot_policy_create(spec.c_str(), &policy_) != ALLOT_OK) policy_ = nullptr;
  }
  ~FuzzedPolicy() { allot_policy_destroy(policy_); }
  FuzzedPolicy(const FuzzedPolicy&) = delete;
  FuzzedPolicy& operator=(const FuzzedPolicy&) = delete;
  allot_policy* get() const { return policy_; }

 private:
  allot_policy* policy_ = nullptr;
};

void CheckResult(std::int32_t result) {
  Expect(result == ALLOT_OK || allot_last_error()[0] != '\0', "a refusal says nothing");
  Expect(result == ALLOT_OK || result == ALLOT_BAD_DATA || result == ALLOT_USAGE,
         "what a host sends is taken for a fault of ours");
}

void DecideTexts(const std::string& spec, std::string_view text) {
  const FuzzedPolicy policy(spec);
  if (policy.get() == nullptr) return;
  for (const std::string_view line : Split(text, '\n')) {
    const char* decision = nullptr;
    CheckResult(allot_policy_decide_json(policy.get(), std::string(line).c_str(), &decision));
  }
  Expect(allot_policy_reset(policy.get()) == ALLOT_OK, "it cannot be reset");
  const char* decision = nullptr;
  constexpr const char* kGood =
      R"({"snapshot":1,"now":1e6,"interval":60,"cluster":"1x4","tables":[{"kinds":[{"name":"gpu",)"
      R"("gpus":1}],"configurations":[{"units":[1],"rate":1}]}],"jobs":[{"job":"a","submit":0,)"
      R"("table":0,"requested":0}]})";
  Expect(allot_policy_decide_json(policy.get(), kGood, &decision) == ALLOT_OK,
         "a good snapshot is refused behind others");
}

}  // namespace
}  // namespace allot

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::optional<allot::NamedInput> input = allot::NamedInputOf(data, size);
  if (!input) return 0;
  const auto& [head, text] = *input;
  if (head.starts_with("json ")) allot::DecideTexts(std::string(head.substr(5)), text);
  return 0;
}
