#pragma once
// A policy behind a C interface: what a cluster manager, in any language, loads with dlopen to have
// a trained policy decide (liballot_plugin.so; docs/plugin.md). So does 'allot serve --plugin'.
//
// The host describes a moment of its cluster in an allot_snapshot, flat arrays in its own memory,
// and gets an allot_decision, flat arrays in the policy's. Hosts that would rather send text use
// allot_policy_decide_json.
//
// Contract.
// - Failures: functions return ALLOT_OK or the kind of failure; allot_last_error then names the
//   rule and both values. A snapshot that is refused changes nothing for the next one. No exception
//   crosses this line, nothing is printed.
// - Threads: a policy is used by one thread at a time, different policies by different threads at
//   once. No thread is started, no signal handler installed.
// - Memory: what is passed in is read during the call only. What is returned belongs to the policy
//   and lives until the next call with it.
// - Versions: functions, and fields at the ends of structs, are only ever added. A host made for
//   version n runs with this and every later one. Structs begin with their size, as their maker
//   knows it.

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ALLOT_PLUGIN_VERSION 3

#if defined(__GNUC__)
#define ALLOT_PLUGIN_API __attribute__((visibility("default")))
#else
#define ALLOT_PLUGIN_API
#endif

// NOLINTBEGIN(readability-identifier-naming): names as C libraries have them
// Kinds of failure: the exit codes of the program.
enum {
  ALLOT_OK = 0,
  ALLOT_FAILED = 1,    // the policy failed, or its answer broke a rule
  ALLOT_USAGE = 2,     // a call or a policy's spec that makes no sense
  ALLOT_BAD_DATA = 3,  // a checkpoint or a snapshot that breaks a rule
  ALLOT_INTERRUPTED = 130
};

// Kinds of units that a job may be made of: mostly one, the GPU; two are workers and servers.
#define ALLOT_UNIT_KINDS 2
// Jobs are numbered from 0; the library keeps a few bytes for each number up to the largest.
#define ALLOT_MOST_JOBS 16777216

// A job that has ended, as its last moment was. Since version 3.
typedef struct allot_ended_job {
  int32_t job;             // number
  int32_t requested_gpus;  // GPUs of the configuration that it asked for
  double submit;           // time
  double end;              // time
  double work;             // done until then, in its unit of work
  double estimated_work;   // total work, as it was last estimated; NaN: unknown
  double requested_rate;   // work per second in the configuration that it asked for, > 0
  double gpu_seconds;      // GPUs x seconds held
  double held_seconds;     // seconds held
  int32_t tenant;          // as in the snapshot; -1: unknown
  int32_t user;
  int32_t group;
  int32_t reserved;  // 0
} allot_ended_job;

// One moment of a cluster. Times are seconds from any origin, the same at every call. Arrays that
// may be NULL say what that means.
typedef struct allot_snapshot {
  uint32_t struct_size;  // sizeof(allot_snapshot)
  int32_t type_count;    // GPU types, numbered in the order of their first nodes
  int64_t decision;      // 0, 1, ...
  double now;            // never before that of the last call
  double interval;       // between scheduled decisions, > 0

  // ---- nodes; one without capacity is down ----
  int32_t node_count;
  int32_t table_count;
  const char* const* type_name;  // [type_count]
  const int32_t* node_type;      // [node_count]; NULL: all 0
  const int32_t* node_gpus;      // [node_count] 0 to 64
  const int32_t* node_cpus;      // [node_count]; NULL: 8 a GPU

  // ---- tables: the configurations that jobs can be given, shared by jobs of one profile ----
  const char* const* table_name;       // [table_count], for messages; NULL: none
  const int32_t* table_kinds;          // [table_count] 1 or 2; NULL: 1
  const char* const* kind_name;        // [2 x table_count] "gpu"; this and the next three: for kind
  const int32_t* kind_gpus;            //   k of table t at 2 t + k, what one unit needs and costs.
  const int32_t* kind_cpus;            //   All four NULL: every unit is one GPU at price 1
  const double* kind_price;            //   > 0 for at least one
  const int32_t* table_most_units;     // [2 x table_count] of each kind; NULL: no limit
  const int32_t* configuration_begin;  // [table_count + 1] first of a table; the last is the total
  const int32_t* configuration_type;   // GPU type; NULL: all 0
  const int32_t* configuration_units;  // 2 each: of each kind
  const double* configuration_rate;    // work per second; <= 0: makes no progress. A table's
                                       // configurations ascend by (type, price)

  // ---- unfinished jobs, in any order; by (submit, number) is quickest ----
  int32_t job_count;
  int32_t reserved;      // 0
  const int32_t* job;    // number, below ALLOT_MOST_JOBS, its own for ever; ties go to the least
  const double* submit;  // time
  const int32_t* table;  // its table ...
  const int32_t* requested;            // ... and the configuration there that its user asked for
  const int32_t* running;              // configuration that it has, -1: waits; NULL: all wait
  const double* done_work;             // progress, in its unit of work; NULL: 0
  const double* estimated_work;        // total work, as far as is known; NaN: unknown; NULL: all
  const double* attained_gpu_seconds;  // GPUs x seconds held so far; NULL: 0
  const double* attained_seconds;      // seconds held so far; NULL: 0
  const double* restart_cost;          // seconds that a change of its allocation costs it; NULL: 30
  const int32_t* changes;              // allocations begun so far; NULL: 1 where it runs, else 0
  const double* waiting_since;         // time; now where it runs; NULL: its submit time
  const double* priority;              // larger is more important; NULL: 0
  const double* deadline;              // time; infinite: none; NULL: all
  const int32_t* tenant;               // who shares the cluster, -1: unknown; NULL: all

  // ---- where they run: job j has shares share_begin[j] to share_begin[j + 1] - 1 ----
  const int32_t* share_begin;  // [job_count + 1]; NULL: none
  const int32_t* share_node;
  const int32_t* share_units;  // 2 each: of each kind
  const uint64_t* share_gpus;  // bit mask of the node's GPUs

  // ---- since version 2: who submitted jobs, for forecasts of their lengths ----
  // Both are numbered from 0; a number stands for the same name until a reset. Lists may grow.
  int32_t user_count;
  int32_t group_count;
  const char* const* user_name;   // [user_count]; NULL: numbers only, which no history knows
  const char* const* group_name;  // [group_count] the same
  const int32_t* user;            // of each job, below user_count; -1: unknown; NULL: all
  const int32_t* group;  // what its user calls alike (application, script), below group_count; the
                         // same

  // ---- since version 3: what has happened since the last call ----
  int32_t ended_count;
  int32_t reserved2;  // 0
  // [ended_count] jobs that have ended, which forecasts learn from; NULL: not told. Then every job
  // that is not there any more has ended, about half an interval ago.
  const allot_ended_job* ended;

  // ---- over how many nodes a configuration's units may lie ----
  const int32_t* configuration_least_nodes;  // 1 at least; NULL: 1
  const int32_t* configuration_most_nodes;   // 0: any number; NULL: any
} allot_snapshot;

// Who gets what. A job of the snapshot that is not in here gets nothing.
typedef struct allot_decision {
  uint32_t struct_size;  // sizeof(allot_decision) of the library
  int32_t job_count;
  double holds_until;  // until then, and while no job or node comes or goes, it need not be asked
  const int32_t* job;  // number
  const int32_t* configuration;  // of its table
  const uint8_t* relaunch;       // 1: stop and start it again even where nothing else changes
  const int32_t* share_begin;    // [job_count + 1]; as in the snapshot
  const int32_t* share_node;
  const int32_t* share_units;
  const uint64_t* share_gpus;
} allot_decision;

typedef struct allot_policy allot_policy;

// ALLOT_PLUGIN_VERSION of the library that was loaded.
ALLOT_PLUGIN_API int32_t allot_plugin_version(void);

// Of the last call of this thread that failed; "" when none did. Lives until the next one does.
ALLOT_PLUGIN_API const char* allot_last_error(void);

// A policy as the program's --policy takes it: "las", "index:alpha=1", "learned:checkpoint=FOLDER".
ALLOT_PLUGIN_API int32_t allot_policy_create(const char* spec, allot_policy** policy);

// The policy of a checkpoint folder, whatever its path.
ALLOT_PLUGIN_API int32_t allot_policy_create_from_checkpoint(const char* folder,
                                                             allot_policy** policy);

// NULL is allowed.
ALLOT_PLUGIN_API void allot_policy_destroy(allot_policy* policy);

// Forgets all that was decided; a new policy has nothing to forget.
ALLOT_PLUGIN_API int32_t allot_policy_reset(allot_policy* policy);

// Decides. Snapshots come in order of time: forecasts learn from jobs that ended in between. The
// answer was checked by the rules of a legal allocation.
ALLOT_PLUGIN_API int32_t allot_policy_decide(allot_policy* policy, const allot_snapshot* snapshot,
                                             const allot_decision** decision);

// The same in text (docs/formats/snapshot.md). Jobs are known by name; one that is missing in a
// snapshot is over. Until a reset a policy takes either kind of snapshot, not both.
ALLOT_PLUGIN_API int32_t allot_policy_decide_json(allot_policy* policy, const char* snapshot,
                                                  const char** decision);

// Why it decided so the last time, as JSON: for index networks the reasons of every job, for others
// name and summary.
ALLOT_PLUGIN_API int32_t allot_policy_explain(allot_policy* policy, const char** explanation);

// NOLINTEND(readability-identifier-naming)
#ifdef __cplusplus
}
#endif
