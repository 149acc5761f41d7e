#pragma once
// Ctrl-C as a request: long loops poll Interrupted(), save their work and end.

namespace allot {

void InstallInterruptHandler();  // SIGINT and SIGTERM; a second signal ends the process at once
bool Interrupted();
// Marks the request as handled, for code that saves what was done until then.
void AcknowledgeInterrupt();
void ThrowIfInterrupted();  // Error with ExitCode::kInterrupted

}  // namespace allot
