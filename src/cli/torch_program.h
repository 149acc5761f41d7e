#pragma once
// libtorch takes half a second to start. Therefore `allot` is built without the code that needs it
// (files *_torch.cc: commands that train, training methods). A second program beside it,
// allot-torch, has all commands.

namespace allot {

// Goes on as allot-torch, with the same arguments; comes back only where this is it, or where there
// is none, in a build without libtorch. RunError when it cannot be started.
void ContinueWithTorch(char** argv);

}  // namespace allot
