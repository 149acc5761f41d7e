#pragma once
// Ctrl-C as a request: long loops poll Interrupted(), save their work and end.

namespace allot {

void InstallInterruptHandler();  // SIGINT and SIGTERM; a second signal ends the process at once
bool Interrupted();
// Marks the request as handled, for code that saves what was done until then.
void AcknowledgeInterrupt();
void ThrowIfInterrupted();  // Error with ExitCode::kInterrupted

// For programs that serve: SIGHUP becomes a request to read their files again, and a log or a
// socket whose reader is gone ends nothing (SIGPIPE).
void InstallServiceHandlers();
bool TakeReloadRequest();  // true once for any number of SIGHUPs since the last call

// Ctrl-C (SIGINT) as a request while a call runs inside another program, which has a handler of its
// own: that one is called too, is in place again at the end, and nothing of the request stays. The
// process is never ended. Only the outermost of several at a time does anything. Made and destroyed
// on any thread.
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;
};

}  // namespace allot
