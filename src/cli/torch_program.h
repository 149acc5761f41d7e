#pragma once
// libtorch takes half a second to start, so that what needs it (files *_torch.cc: commands that
// train, methods of training) is left out of `allot` and stands in a program of its own beside it,
// allot-torch, which has all the commands.

namespace allot {

// Goes on as allot-torch, with the same arguments; comes back only where this is it, or where there
// is none, in a build without libtorch. RunError when it cannot be started.
void ContinueWithTorch(char** argv);

}  // namespace allot
