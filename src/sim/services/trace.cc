// A recorded load: CSV with columns time_s, gpus, ascending times; a value is in force until the
// next row. `begin` is the time of the record at which the workload begins; lenders know what lies
// before it. Of each step of five minutes the highest value counts.

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/file.h"
#include "sim/service_load.h"
#include "table/csv.h"

namespace allot {
namespace {

ServiceLoad ReadRecordedLoad(const Params& params, const ServiceSpan& span) {
  const std::string& path = params.Text("file");
  const Seconds begin = params.Duration("begin");
  const std::string text = ReadTextFile(path);
  CsvReader csv(text, path, {"time_s", "gpus"});
  std::vector<double> gpus;
  Seconds first = 0;
  Seconds before = -kNever;
  double value = 0;
  const auto add = [&](Seconds time, double needed) {
    const double at = (time - first) / ServiceLoad::kStep;
    const auto step = static_cast<std::size_t>(at);
    while (gpus.size() < step) gpus.push_back(value);
    if (gpus.size() == step) gpus.push_back(at == std::floor(at) ? needed : value);
    gpus.back() = std::max(gpus.back(), needed);
    value = needed;
  };
  while (csv.Next()) {
    csv.CheckRow();
    const Seconds time = csv.Number("time_s");
    const double needed = csv.Number("gpus");
    if (!(time > before)) {
      throw DataError("{}: 'time_s' must ascend, {} follows {}", csv.place(), time, before);
    }
    if (!(needed >= 0 && needed <= span.gpus)) {
      throw DataError("{}: 'gpus' must be from 0 to the {} of the cluster, got {}", csv.place(),
                      span.gpus, needed);
    }
    if (gpus.empty()) {
      if (time > begin) {
        throw DataError("{}: the load must be known from begin={} s on, the first row is at {} s",
                        csv.place(), begin, time);
      }
      // Steps begin at multiples of their length before and after `begin`.
      first = begin - std::ceil((begin - time) / ServiceLoad::kStep) * ServiceLoad::kStep;
      value = needed;
    }
    add(time, needed);
    before = time;
  }
  if (gpus.empty()) throw DataError("{}: a load must have a row", path);
  if (before < begin + span.last_submit) {
    throw DataError(
        "{}: the load must be known until the last job is submitted, {} s after begin={} s, its "
        "last row is at {} s",
        csv.place(), span.last_submit, begin, before);
  }
  return {std::move(gpus), static_cast<std::size_t>((begin - first) / ServiceLoad::kStep)};
}

ALLOT_REGISTER(ServiceLawInfo,
               (ServiceLawInfo{
                   .id = "trace",
                   .summary = "a load as it was recorded",
                   .params = {FileParam({"file", "", "CSV: time_s, gpus"}),
                              {"begin", "0", "time of the record at which the workload begins", 0,
                               1e12}},
                   .make = ReadRecordedLoad}));

}  // namespace
}  // namespace allot
