// One object file must exist to carry the precompiled header (cmake/precompiled.h).
