#pragma once
// Changes of a daemon's state. A change is a record: it goes into the journal first, then into the
// state, by the same code that a successor uses. Shared by LiveCluster, RuntimeReader and
// WorkerControl; one thread.

#include <string>
#include <utility>

#include "live/state/clock.h"
#include "live/state/journal.h"
#include "live/state/live_state.h"

namespace allot {

class StateWriter {
 public:
  // `journal` null: a dry run. All outlive the writer.
  StateWriter(LiveState* state, Journal* journal, const LiveClock& clock)
      : state_(*state), journal_(journal), clock_(clock) {}

  // DataError where the record cannot be true (LiveState::Apply).
  void Write(JournalRecord record) {
    const TimedRecord now{clock_.Now(), std::move(record)};
    if (journal_ != nullptr) journal_->Append(now);
    state_.Apply(now);
  }

  // A record of what the state knows already, for the next daemon.
  void Note(const TimedRecord& record) {
    if (journal_ != nullptr) journal_->Append(record);
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
    state_.ForEachRecord(clock_.origin(), clock_.Now(),
                         [&lines](const TimedRecord& record) { lines += JournalLine(record); });
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
