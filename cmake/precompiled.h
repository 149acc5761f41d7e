#pragma once
// What most files include anyway, parsed once: JSON alone costs two seconds a file. Build speed
// only: every file still includes what it uses (the lint preset builds without this).

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
