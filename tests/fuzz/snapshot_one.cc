// What a policy behind the C interface must do with any snapshot that a host could send.
//
// The input is "json SPEC\nTEXT": texts of snapshots, one a line, for a policy of that spec. Or
// "struct SPEC\nWORDS": the same as a struct, from words "KEY NUMBER..." a line; an array that no
// line names is NULL; names are numbers, NULL where negative. Counts of a struct
// are those of its arrays, as a host must keep that promise; all else may be anything. The call
// answers or refuses with words, never ends the program, and the next snapshot, which is good, is
// decided.

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/strings.h"
#include "plugin/allot_plugin.h"
#include "tests/fuzz/fuzz_target.h"

namespace allot {
namespace {

constexpr std::size_t kLongestArray = 64;
constexpr std::size_t kSaidUnits = ALLOT_UNIT_KINDS;

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

// ---- structs ----

// SaidArrays by name, kept while the snapshot points into them.
class SaidArrays {
 public:
  explicit SaidArrays(std::string_view text) {
    for (const std::string_view line : Split(text, '\n')) {
      const std::vector<std::string_view> words = Split(line, ' ');
      auto& numbers = numbers_[std::string(words.front())];
      for (std::size_t w = 1; w < words.size() && numbers.size() < kLongestArray; ++w) {
        numbers.push_back(NumberOf(words[w]));
      }
    }
  }

  double Number(const char* key, double otherwise) const {
    const auto found = numbers_.find(key);
    return found == numbers_.end() || found->second.empty() ? otherwise : found->second.front();
  }
  std::size_t Size(const char* key) const {
    const auto found = numbers_.find(key);
    return found == numbers_.end() ? 0 : found->second.size();
  }
  // `count` numbers; NULL where nothing is said. Less said than that is filled up with zeros.
  template <typename Value>
  const Value* Of(const char* key, std::size_t count) {
    const auto found = numbers_.find(key);
    if (found == numbers_.end()) return nullptr;
    auto& bytes = bytes_.emplace_back(count * sizeof(Value) + sizeof(Value));
    for (std::size_t i = 0; i < std::min(count, found->second.size()); ++i) {
      const Value value = Clamped<Value>(found->second[i]);
      std::memcpy(bytes.data() + i * sizeof(Value), &value, sizeof(Value));
    }
    bytes.resize(count * sizeof(Value));
    bytes.shrink_to_fit();  // so that reading behind its end is seen
    return reinterpret_cast<const Value*>(bytes.data());
  }
  // Names "n0", "n1", ...; a negative number is a NULL.
  const char* const* Names(const char* key, std::size_t count) {
    const auto found = numbers_.find(key);
    if (found == numbers_.end()) return nullptr;
    auto& names = names_.emplace_back();
    for (std::size_t i = 0; i < count; ++i) {
      const double number = i < found->second.size() ? found->second[i] : 0;
      texts_.emplace_back("n" + std::to_string(static_cast<int>(Clamped<std::int32_t>(number))));
      names.push_back(number < 0 ? nullptr : texts_.back().c_str());
    }
    return names.data();
  }

 private:
  static double NumberOf(std::string_view word) {
    return std::strtod(std::string(word).c_str(), nullptr);
  }
  template <typename Value>
  static Value Clamped(double number) {
    if constexpr (std::is_floating_point_v<Value>) return number;
    const double least = static_cast<double>(std::numeric_limits<Value>::min());
    const double most = static_cast<double>(std::numeric_limits<Value>::max());
    if (!(number > least)) return std::numeric_limits<Value>::min();
    return number >= most ? std::numeric_limits<Value>::max() : static_cast<Value>(number);
  }

  std::map<std::string, std::vector<double>, std::less<>> numbers_;
  std::list<std::vector<std::byte>> bytes_;
  std::list<std::string> texts_;
  std::list<std::vector<const char*>> names_;
};

void DecideStruct(const std::string& spec, std::string_view text) {
  SaidArrays arrays(text);
  const std::size_t types = arrays.Size("type_name");
  const std::size_t nodes = arrays.Size("node_gpus");
  const std::size_t tables =
      arrays.Size("configuration_begin") == 0 ? 0 : arrays.Size("configuration_begin") - 1;
  const std::size_t configurations = arrays.Size("configuration_rate");
  const std::size_t jobs = arrays.Size("job");
  const std::size_t shares = arrays.Size("share_node");
  const std::size_t users = arrays.Size("user_name");
  const std::size_t groups = arrays.Size("group_name");
  allot_snapshot s{};
  s.struct_size = sizeof(s);
  s.type_count = static_cast<std::int32_t>(types);
  s.now = arrays.Number("now", 0);
  s.interval = arrays.Number("interval", 60);
  s.node_count = static_cast<std::int32_t>(nodes);
  s.table_count = static_cast<std::int32_t>(tables);
  s.type_name = arrays.Names("type_name", types);
  s.node_type = arrays.Of<std::int32_t>("node_type", nodes);
  s.node_gpus = arrays.Of<std::int32_t>("node_gpus", nodes);
  s.node_cpus = arrays.Of<std::int32_t>("node_cpus", nodes);
  s.table_name = arrays.Names("table_name", tables);
  s.table_kinds = arrays.Of<std::int32_t>("table_kinds", tables);
  s.kind_name = arrays.Names("kind_name", kSaidUnits * tables);
  s.kind_gpus = arrays.Of<std::int32_t>("kind_gpus", kSaidUnits * tables);
  s.kind_cpus = arrays.Of<std::int32_t>("kind_cpus", kSaidUnits * tables);
  s.kind_price = arrays.Of<double>("kind_price", kSaidUnits * tables);
  s.table_most_units = arrays.Of<std::int32_t>("table_most_units", kSaidUnits * tables);
  // The last says how many there are: the one promise that the library cannot check.
  auto* begin =
      const_cast<std::int32_t*>(arrays.Of<std::int32_t>("configuration_begin", tables + 1));
  if (begin != nullptr) begin[tables] = static_cast<std::int32_t>(configurations);
  s.configuration_begin = begin;
  s.configuration_type = arrays.Of<std::int32_t>("configuration_type", configurations);
  s.configuration_units =
      arrays.Of<std::int32_t>("configuration_units", kSaidUnits * configurations);
  s.configuration_rate = arrays.Of<double>("configuration_rate", configurations);
  s.configuration_least_nodes =
      arrays.Of<std::int32_t>("configuration_least_nodes", configurations);
  s.configuration_most_nodes = arrays.Of<std::int32_t>("configuration_most_nodes", configurations);
  s.job_count = static_cast<std::int32_t>(jobs);
  s.job = arrays.Of<std::int32_t>("job", jobs);
  s.submit = arrays.Of<double>("submit", jobs);
  s.table = arrays.Of<std::int32_t>("table", jobs);
  s.requested = arrays.Of<std::int32_t>("requested", jobs);
  s.running = arrays.Of<std::int32_t>("running", jobs);
  s.done_work = arrays.Of<double>("done_work", jobs);
  s.estimated_work = arrays.Of<double>("estimated_work", jobs);
  s.attained_gpu_seconds = arrays.Of<double>("attained_gpu_seconds", jobs);
  s.attained_seconds = arrays.Of<double>("attained_seconds", jobs);
  s.restart_cost = arrays.Of<double>("restart_cost", jobs);
  s.changes = arrays.Of<std::int32_t>("changes", jobs);
  s.waiting_since = arrays.Of<double>("waiting_since", jobs);
  s.priority = arrays.Of<double>("priority", jobs);
  s.deadline = arrays.Of<double>("deadline", jobs);
  s.tenant = arrays.Of<std::int32_t>("tenant", jobs);
  auto* share = const_cast<std::int32_t*>(arrays.Of<std::int32_t>("share_begin", jobs + 1));
  if (share != nullptr) share[jobs] = static_cast<std::int32_t>(shares);
  s.share_begin = share;
  s.share_node = arrays.Of<std::int32_t>("share_node", shares);
  s.share_units = arrays.Of<std::int32_t>("share_units", kSaidUnits * shares);
  s.share_gpus = arrays.Of<std::uint64_t>("share_gpus", shares);
  s.user_count = static_cast<std::int32_t>(users);
  s.group_count = static_cast<std::int32_t>(groups);
  s.user_name = arrays.Names("user_name", users);
  s.group_name = arrays.Names("group_name", groups);
  s.user = arrays.Of<std::int32_t>("user", jobs);
  s.group = arrays.Of<std::int32_t>("group", jobs);

  const FuzzedPolicy policy(spec);
  if (policy.get() == nullptr) return;
  for (int again = 0; again < 2; ++again) {
    const allot_decision* decision = nullptr;
    CheckResult(allot_policy_decide(policy.get(), &s, &decision));
    s.now += s.interval;
  }
}

}  // namespace
}  // namespace allot

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::optional<allot::NamedInput> input = allot::NamedInputOf(data, size);
  if (!input) return 0;
  const auto& [head, text] = *input;
  if (head.starts_with("json ")) allot::DecideTexts(std::string(head.substr(5)), text);
  if (head.starts_with("struct ")) allot::DecideStruct(std::string(head.substr(7)), text);
  return 0;
}
