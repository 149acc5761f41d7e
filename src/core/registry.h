#pragma once
// One registry template for everything that can be added by adding a file: policies, stages, trace
// readers, rewards, throughput models.
//
// Entry is a struct with at least `std::string id` and `std::string summary`; entries register at
// start-up through a file-scope object (see ALLOT_REGISTER). Reading is thread-safe after main
// began.

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/strings.h"

namespace allot {

template <typename Entry>
class Registry {
 public:
  static Registry& Global() {
    static Registry registry;
    return registry;
  }

  bool Add(Entry entry) {
    for (const Entry& other : entries_) {
      if (other.id == entry.id) throw std::logic_error("registered twice: " + entry.id);
    }
    const auto at = std::upper_bound(entries_.begin(), entries_.end(), entry,
                                     [](const Entry& a, const Entry& b) { return a.id < b.id; });
    entries_.insert(at, std::move(entry));
    return true;
  }

  // Sorted by id, so that listings do not depend on link order.
  const std::vector<Entry>& entries() const { return entries_; }

  std::vector<std::string> ids() const {
    std::vector<std::string> result;
    for (const Entry& entry : entries_) result.push_back(entry.id);
    return result;
  }

  const Entry* Find(std::string_view id) const {
    for (const Entry& entry : entries_) {
      if (entry.id == id) return &entry;
    }
    return nullptr;
  }

  // UsageError with a did-you-mean; `kind` names what was looked for ("policy").
  const Entry& Get(std::string_view kind, std::string_view id) const {
    const Entry* entry = Find(id);
    if (entry == nullptr) throw UsageError("unknown {} '{}'{}", kind, id, DidYouMean(id, ids()));
    return *entry;
  }

 private:
  std::vector<Entry> entries_;
};

}  // namespace allot

// At file scope inside an anonymous namespace: ALLOT_REGISTER(TraceFormat, (TraceFormat{...}));
#define ALLOT_REGISTER_CAT2_(a, b) a##b
#define ALLOT_REGISTER_CAT_(a, b) ALLOT_REGISTER_CAT2_(a, b)
#define ALLOT_REGISTER(Entry, value)                                          \
  [[maybe_unused]] const bool ALLOT_REGISTER_CAT_(registered_, __COUNTER__) = \
      ::allot::Registry<Entry>::Global().Add(value)
