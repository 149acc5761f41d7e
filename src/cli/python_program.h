#pragma once
// Policies in Python (python:MODULE:CLASS) need an interpreter, which allot does not hold. Given
// such a policy it becomes `python3 -m allot`, with the same arguments; what that runs is this
// program inside the Python package.

namespace allot {

// Goes on as Python where an argument names a policy in Python; comes back where none does, and
// inside of Python. UsageError where there is no python3. Where it has no package allot, python3
// says so and ends with the exit code of a usage error.
void ContinueWithPython(int argc, char** argv);

}  // namespace allot
