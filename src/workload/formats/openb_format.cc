// Alibaba's openb trace (cluster-trace-gpu-v2023): one Kubernetes pod per row, many of which use a
// part of one GPU.

#include "table/row_error.h"
#include "workload/formats/csv_jobs.h"

namespace allot {
namespace {

constexpr long long kWholeGpu = 1000;  // gpu_milli

Outcome ReadPhase(const CsvReader& row) {
  const std::string_view phase = row.Text("pod_phase");
  if (phase == "Succeeded") return Outcome::kPassed;
  if (phase == "Failed") return Outcome::kFailed;
  if (phase == "Running" || phase == "Pending" || phase == "Unknown") return Outcome::kUnreported;
  throw RowError("'pod_phase' must be Pending, Running, Succeeded, Failed or Unknown",
                 Quoted(phase), row.place());
}

std::optional<Job> ReadOpenbRow(const CsvReader& row, TraceBuilder& builder) {
  Job job;
  job.id = row.Text("name");
  job.submit = row.Number("creation_time");
  job.gpus = ReadGpus(row, "num_gpu", 0);
  job.outcome = ReadPhase(row);
  if (job.gpus == 0) return builder.Drop(kNoGpus);
  if (!row.Has("scheduled_time")) return builder.Drop(kNeverStarted);
  if (!row.Has("deletion_time")) {
    const auto milli = static_cast<double>(row.Integer("gpu_milli", 1, kWholeGpu));
    return builder.DropNotEnded(row.Number("scheduled_time"), job.gpus * milli / kWholeGpu);
  }
  job.duration = row.Number("deletion_time") - row.Number("scheduled_time");
  if (job.duration == 0) return builder.Drop(kNoRunTime);
  const auto milli = static_cast<double>(row.Integer("gpu_milli", 1, kWholeGpu));
  job.gpus = WholeGpus(job.gpus * milli / kWholeGpu, builder);
  if (row.Text("pod_phase") == "Running") {
    builder.Adjust("still running when the trace ended: run time up to there");
  }
  // Of what a pod asks for beside GPUs, the memory; its CPUs were its own affair in that cluster.
  constexpr double kMibPerGib = 1024;
  if (row.Has("memory_mib")) {
    job.memory_gb = static_cast<float>(row.Number("memory_mib") / kMibPerGib);
  }
  job.gpu_types = builder.workload().gpu_types.Intern(row.Text("gpu_spec"));
  job.priority = row.Text("qos") == "BE" ? 0 : 1;  // best effort gives way
  return job;
}

ALLOT_REGISTER(TraceFormat,
               CsvFormat("openb", "Alibaba openb 2023: Kubernetes pods of a GPU cluster",
                         {.required = {"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli",
                                       "gpu_spec", "qos", "pod_phase", "creation_time",
                                       "deletion_time", "scheduled_time"},
                          .optional = {}},
                         Origin::kTrace, ReadOpenbRow));

}  // namespace
}  // namespace allot
