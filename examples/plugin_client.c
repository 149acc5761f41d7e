// A cluster manager in C that lets allot decide: plugin_client LIBRARY POLICY
//
// The cluster is a toy that lives in this program: two nodes of four GPUs, three jobs that may grow
// and shrink. Every 10 s the policy is asked and its decision printed, until all work is done.
// Needs nothing of allot but allot_plugin.h and, when it runs, the library.

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "plugin/allot_plugin.h"

enum { kNodes = 2, kGpusPerNode = 4, kJobs = 3, kSizes = 8, kMostRounds = 100 };
static const double kInterval = 10;

// The library's functions.
static struct {
  int32_t (*version)(void);
  const char* (*last_error)(void);
  int32_t (*create)(const char*, allot_policy**);
  void (*destroy)(allot_policy*);
  int32_t (*decide)(allot_policy*, const allot_snapshot*, const allot_decision**);
} plugin;

static int Load(const char* path) {
  const struct {
    const char* name;
    void* function;  // where its address goes: C has no cast from an object to a function
  } wanted[] = {{"allot_plugin_version", &plugin.version},
                {"allot_last_error", &plugin.last_error},
                {"allot_policy_create", &plugin.create},
                {"allot_policy_destroy", &plugin.destroy},
                {"allot_policy_decide", &plugin.decide}};
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 0;
  }
  for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); ++i) {
    void* found = dlsym(library, wanted[i].name);
    if (found == NULL) {
      fprintf(stderr, "%s has no %s\n", path, wanted[i].name);
      return 0;
    }
    memcpy(wanted[i].function, &found, sizeof(found));
  }
  if (plugin.version() < ALLOT_PLUGIN_VERSION) {
    fprintf(stderr, "%s is of version %d, %d is needed\n", path, (int)plugin.version(),
            ALLOT_PLUGIN_VERSION);
    return 0;
  }
  return 1;
}

// What the manager knows of its jobs.
static const double work[kJobs] = {900, 300, 300};
static double done[kJobs];
static int32_t running[kJobs] = {-1, -1, -1};
static uint64_t gpus[kJobs][kNodes];

// All jobs have one table: configuration i is i + 1 GPUs.
static double Speed(int32_t configuration) { return 1 + 0.8 * configuration; }

// One moment, as arrays. Of what is left out, the header says what it means.
static int32_t Ask(allot_policy* policy, int round, const allot_decision** decision) {
  static const char* const type_name[] = {"gpu"};
  static const int32_t node_gpus[kNodes] = {kGpusPerNode, kGpusPerNode};
  static const int32_t configuration_begin[] = {0, kSizes};
  int32_t configuration_units[kSizes][ALLOT_UNIT_KINDS] = {{0}};
  double configuration_rate[kSizes];
  for (int32_t i = 0; i < kSizes; ++i) {
    configuration_units[i][0] = i + 1;
    configuration_rate[i] = Speed(i);
  }
  int32_t job[kJobs], table[kJobs], requested[kJobs], has[kJobs], share_begin[kJobs + 1];
  double submit[kJobs], done_work[kJobs], estimated_work[kJobs];
  int32_t share_node[kJobs * kNodes], share_units[kJobs * kNodes][ALLOT_UNIT_KINDS];
  uint64_t share_gpus[kJobs * kNodes];
  int32_t rows = 0, shares = 0;
  for (int32_t j = 0; j < kJobs; ++j) {
    if (done[j] >= work[j]) continue;  // it is over
    job[rows] = j;
    submit[rows] = 0;
    table[rows] = 0;
    requested[rows] = 0;
    has[rows] = running[j];
    done_work[rows] = done[j];
    estimated_work[rows] = work[j];
    share_begin[rows++] = shares;
    for (int32_t node = 0; node < kNodes; ++node) {
      if (gpus[j][node] == 0) continue;
      share_node[shares] = node;
      share_units[shares][0] = __builtin_popcountll(gpus[j][node]);
      share_units[shares][1] = 0;
      share_gpus[shares++] = gpus[j][node];
    }
  }
  share_begin[rows] = shares;
  const allot_snapshot snapshot = {.struct_size = sizeof(snapshot),
                                   .type_count = 1,
                                   .decision = round,
                                   .now = kInterval * round,
                                   .interval = kInterval,
                                   .node_count = kNodes,
                                   .table_count = 1,
                                   .type_name = type_name,
                                   .node_gpus = node_gpus,
                                   .configuration_begin = configuration_begin,
                                   .configuration_units = configuration_units[0],
                                   .configuration_rate = configuration_rate,
                                   .job_count = rows,
                                   .job = job,
                                   .submit = submit,
                                   .table = table,
                                   .requested = requested,
                                   .running = has,
                                   .done_work = done_work,
                                   .estimated_work = estimated_work,
                                   .share_begin = share_begin,
                                   .share_node = share_node,
                                   .share_units = share_units[0],
                                   .share_gpus = share_gpus};
  return plugin.decide(policy, &snapshot, decision);
}

// A real manager would resize its jobs here.
static void Apply(const allot_decision* decision) {
  for (int32_t j = 0; j < kJobs; ++j) running[j] = -1;
  memset(gpus, 0, sizeof(gpus));
  for (int32_t i = 0; i < decision->job_count; ++i) {
    const int32_t j = decision->job[i];
    running[j] = decision->configuration[i];
    printf("  job %d: %d GPUs at", (int)j, (int)running[j] + 1);
    for (int32_t s = decision->share_begin[i]; s < decision->share_begin[i + 1]; ++s) {
      gpus[j][decision->share_node[s]] = decision->share_gpus[s];
      printf(" node %d mask %llx", (int)decision->share_node[s],
             (unsigned long long)decision->share_gpus[s]);
    }
    printf("\n");
    done[j] += kInterval * Speed(running[j]);
  }
}

static int AllDone(void) {
  for (int32_t j = 0; j < kJobs; ++j) {
    if (done[j] < work[j]) return 0;
  }
  return 1;
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: plugin_client LIBRARY POLICY\n");
    return 2;
  }
  if (!Load(argv[1])) return 1;
  allot_policy* policy = NULL;
  int32_t failure = plugin.create(argv[2], &policy);
  for (int round = 0; failure == ALLOT_OK && !AllDone() && round < kMostRounds; ++round) {
    const allot_decision* decision = NULL;
    failure = Ask(policy, round, &decision);
    if (failure != ALLOT_OK) break;
    printf("at %g s\n", kInterval * round);
    Apply(decision);
  }
  if (failure != ALLOT_OK) fprintf(stderr, "%s\n", plugin.last_error());
  plugin.destroy(policy);
  if (failure == ALLOT_OK) printf(AllDone() ? "all done\n" : "not done\n");
  return failure;
}
