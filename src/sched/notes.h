#pragma once
// What some policies have to say of themselves after a run (how often they fell back, and why): in
// the run's summary. A policy that has something to say also derives from NotesTaker.

#include <string>
#include <utility>
#include <vector>

#include "sched/policy.h"

namespace allot {

using PolicyNotes = std::vector<std::pair<std::string, std::string>>;  // name, text

class NotesTaker {
 public:
  virtual ~NotesTaker() = default;
  virtual PolicyNotes notes() const = 0;  // of the episode so far
};

inline PolicyNotes NotesOf(const Policy& policy) {
  const auto* taker = dynamic_cast<const NotesTaker*>(&policy);
  return taker == nullptr ? PolicyNotes{} : taker->notes();
}

}  // namespace allot
