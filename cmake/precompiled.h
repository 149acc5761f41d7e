#pragma once
// What most files include anyway, parsed once: JSON alone costs two seconds a file. Build speed
// only: every file still includes what it uses (the lint preset builds without this).

// Before fmt, which switches optimisation on for a while: in a precompiled header GCC 12 forgets
// that this ended, and an unoptimised Eigen no longer compiles.
#ifdef __SSE__
#include <xmmintrin.h>
#endif

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>
