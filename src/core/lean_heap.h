#pragma once
// The heap of a daemon, which runs for weeks and now and then reads or writes megabytes at once:
// these go back to the system when they are freed, and threads share one heap instead of leaving
// free memory in one each. Called at its begin by 'allot serve'; programs that compute on many
// threads are faster without.

namespace allot {

void KeepHeapLean();

}  // namespace allot
