#pragma once
// Times as we write them into objects of the API. Reading: workload/kubernetes_fields.h.

#include <cstdint>
#include <string>

namespace allot {

// Unix time -> "2026-11-22T12:38:49Z".
std::string KubeTimeText(std::int64_t seconds);

}  // namespace allot
