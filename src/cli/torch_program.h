#pragma once
// libtorch takes half a second to start. Therefore `allot` is built without the code that needs it
// (files *_torch.cc: commands that train, training methods). A second program beside it,
// allot-torch, has all commands.

namespace allot {

// Becomes allot-torch with the same arguments; returns only inside of it, or in a build without
// libtorch. RunError if it cannot be started.
void ContinueWithTorch(char** argv);

}  // namespace allot
