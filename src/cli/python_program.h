#pragma once
// Policies in Python (python:MODULE:CLASS) need an interpreter, which allot does not contain. Given
// such a policy, allot replaces itself by `python3 -m allot` with the same arguments, which is this
// program inside the Python package.

namespace allot {

// Becomes that program if an argument names a policy in Python; otherwise, and inside of Python,
// returns. UsageError without python3. A python3 without the package allot reports that and ends
// with the exit code of a usage error.
void ContinueWithPython(int argc, char** argv);

}  // namespace allot
