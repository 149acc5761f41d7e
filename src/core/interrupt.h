#pragma once
// Ctrl-C as a polite request: long loops poll Interrupted() and wind down with their work saved.

namespace allot {

void InstallInterruptHandler();  // SIGINT and SIGTERM; a second signal ends the process at once
bool Interrupted();
// From now on the request counts as heard: for whoever writes down what was done until then.
void AcknowledgeInterrupt();
void ThrowIfInterrupted();  // Error with ExitCode::kInterrupted

}  // namespace allot
