#pragma once
// A policy behind a C interface: what a cluster manager, in any language, loads with dlopen to have
// a trained policy decide (liballot_plugin.so; docs/plugin.md). So does 'allot serve --plugin'.
//
// The host describes a moment of its cluster as JSON (docs/formats/snapshot.md) and gets the
// policy's decision as JSON.
//
// Contract.
// - Failures: functions return ALLOT_OK or the kind of failure; allot_last_error then names the
//   rule and both values. A snapshot that is refused changes nothing for the next one. No exception
//   crosses this line, nothing is printed.
// - Threads: a policy is used by one thread at a time, different policies by different threads at
//   once. No thread is started, no signal handler installed.
// - Memory: what is passed in is read during the call only. What is returned belongs to the policy
//   and lives until the next call with it.
// - Versions: functions and keys are only ever added. A host made for version n runs with this and
//   every later one.

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ALLOT_PLUGIN_VERSION 1

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

// Decides. Snapshots come in order of time: forecasts learn from jobs that ended in between. Jobs
// are known by name; one that is missing in a snapshot is over. The answer was checked by the rules
// of a legal allocation.
ALLOT_PLUGIN_API int32_t allot_policy_decide_json(allot_policy* policy, const char* snapshot,
                                                  const char** decision);

// Why it decided so the last time, as JSON: for index networks the reasons of every job, for others
// name and summary.
ALLOT_PLUGIN_API int32_t allot_policy_explain(allot_policy* policy, const char** explanation);

// NOLINTEND(readability-identifier-naming)
#ifdef __cplusplus
}
#endif
