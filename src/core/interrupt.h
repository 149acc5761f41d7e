#pragma once
// Ctrl-C as a polite request: long loops poll Interrupted() and wind down with their work saved.

namespace allot {

void InstallInterruptHandler();  // SIGINT and SIGTERM; a second signal ends the process at once
bool Interrupted();
void ThrowIfInterrupted();  // Error with ExitCode::kInterrupted

}  // namespace allot
