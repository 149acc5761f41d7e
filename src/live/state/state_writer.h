#pragma once
// Changes of a daemon's state. A change is a record: it goes into the journal first, then into the
// state, by the same code that a successor uses. Shared by LiveCluster, RuntimeReader and
// WorkerControl; one thread.

#include "live/state/clock.h"
#include "live/state/journal.h"
#include "live/state/live_state.h"
#include "live/state/state_records.h"

namespace allot {

class StateWriter {
 public:
  // `journal` null: a dry run. All outlive the writer.
  StateWriter(LiveState* state, Journal* journal, const LiveClock& clock)
      : state_(*state), journal_(journal), clock_(clock) {}

  // DataError where the state cannot change so (LiveState::Apply).
  void Write(const char* what, JournalRecord fields) {
    const Seconds now = clock_.Now();
    if (journal_ != nullptr) journal_->Append(now, what, fields);
    fields["at"] = now;
    fields["what"] = what;
    state_.Apply(fields);
  }

  // What the state knows already, for a successor.
  void Note(Seconds at, const char* what, const JournalRecord& fields) {
    if (journal_ != nullptr) journal_->Append(at, what, fields);
  }

  // Returns when all of it is on disk.
  void Commit() {
    if (journal_ != nullptr) journal_->Commit();
  }

  // Makes a journal anew that is much longer than the state needs. Not between a change and the
  // order to the runtime that follows from it.
  bool journal_is_long() const { return journal_ != nullptr && journal_->long_enough(); }
  void RenewJournal() {
    if (!journal_is_long()) return;
    std::string lines;
    TellState(state_, clock_.origin(), clock_.Now(),
              [&lines](const JournalRecord& record) { lines += JournalLine(record); });
    journal_->Renew(clock_.Now(), lines);
  }
  void PostponeRenewal() {
    if (journal_ != nullptr) journal_->PostponeRenewal();
  }

  LiveState& state() { return state_; }
  Seconds now() const { return clock_.Now(); }
  double origin() const { return clock_.origin(); }

 private:
  LiveState& state_;
  Journal* journal_;
  const LiveClock& clock_;
};

}  // namespace allot
