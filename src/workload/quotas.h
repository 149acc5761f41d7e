#pragma once
// GPUs that each tenant may use, from the lists that come with traces (docs/formats/workloads.md).

#include <map>
#include <string>
#include <string_view>

#include "core/params.h"
#include "core/types.h"

namespace allot {

// By tenant. CSV of one of three kinds, recognised by the header: "tenant,gpus"; Philly's "vc,node
// num", nodes of 8 GPUs; Helios' "date,VC,VC,...,total", of which the last day counts. DataError
// with file and line for anything else.
using Quotas = std::map<std::string, GpuCount>;
Quotas QuotasFromCsv(std::string_view text, const std::string& path);
Quotas ReadQuotas(const std::string& path);

// What the parameter names, loaded (kind "quotas"); empty where it is empty.
Quotas QuotasOf(const Params& params, std::string_view name);

}  // namespace allot
