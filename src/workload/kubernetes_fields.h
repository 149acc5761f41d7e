#pragma once
// Files of kubectl: the objects in them, one by one. For the readers of jobs and of nodes.

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace allot {

// Calls `each` with the objects of lists as kubectl prints them and with single objects, any number
// one after the other, and the line where each begins. `parse` gives it the kind that its list
// says; RowError where it is no JSON. DataError, with `advice`, for other text; `each` may throw.
void ForEachKubernetesObject(
    std::string_view text, const std::string& path, std::string_view advice,
    const std::function<void(int line, const std::function<nlohmann::json()>& parse)>& each);

// Whether the text begins as a list or an object of the API does; `word` must be in it.
bool LooksLikeKubernetes(std::string_view text, std::string_view word);

}  // namespace allot
