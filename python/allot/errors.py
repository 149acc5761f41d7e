"""What allot raises. Every message names the rule, the value that broke it, and the place."""


class Error(Exception):
    """Any error of allot."""


class UsageError(Error, ValueError):
    """A wrong option, name, shape or order of calls."""


class DataError(Error, ValueError):
    """A file (trace, log, checkpoint) that cannot be what it says."""


class RunError(Error, RuntimeError):
    """A run that failed: a policy that broke a rule, a full disk."""


class CheckError(Error, AssertionError):
    """A check whose answer is no."""
