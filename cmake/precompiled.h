#pragma once
// What most files include anyway, parsed once: JSON alone costs two seconds a file. Build speed
// only: every file still includes what it uses (the lint preset builds without this).

#ifdef __OPTIMIZE__
#define ALLOT_OPTIMISED
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

// fmt switches optimisation on for a while. GCC 12 forgets in a precompiled header that this ended.
#ifndef ALLOT_OPTIMISED
#undef __OPTIMIZE__
#endif
