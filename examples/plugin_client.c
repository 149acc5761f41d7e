// A cluster manager in C asks allot for a decision: plugin_client LIBRARY POLICY SNAPSHOT.json
//
// Prints the decision on a snapshot as JSON (docs/formats/snapshot.md). A real manager makes a
// snapshot of its cluster every few seconds, with any JSON library, and resizes its jobs as decided.
// Needs nothing of allot but allot_plugin.h and, when it runs, the library.

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/allot_plugin.h"

// The library's functions.
static struct {
  int32_t (*version)(void);
  const char* (*last_error)(void);
  int32_t (*create)(const char*, allot_policy**);
  void (*destroy)(allot_policy*);
  int32_t (*decide)(allot_policy*, const char*, const char**);
} plugin;

static int Load(const char* path) {
  const struct {
    const char* name;
    void* function;  // where its address goes: C has no cast from an object to a function
  } wanted[] = {{"allot_plugin_version", &plugin.version},
                {"allot_last_error", &plugin.last_error},
                {"allot_policy_create", &plugin.create},
                {"allot_policy_destroy", &plugin.destroy},
                {"allot_policy_decide_json", &plugin.decide}};
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

// To be freed; NULL where the file cannot be read.
static char* ReadText(const char* path) {
  FILE* file = fopen(path, "r");
  if (file == NULL) return NULL;
  char* text = NULL;
  size_t size = 0, room = 0;
  do {
    room = 2 * room + 4096;
    char* larger = realloc(text, room + 1);
    if (larger == NULL) break;
    text = larger;
    size += fread(text + size, 1, room - size, file);
  } while (size == room);
  fclose(file);
  if (text != NULL) text[size] = '\0';
  return text;
}

int main(int argc, char** argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: plugin_client LIBRARY POLICY SNAPSHOT.json\n");
    return 2;
  }
  if (!Load(argv[1])) return 1;
  char* snapshot = ReadText(argv[3]);
  if (snapshot == NULL) {
    perror(argv[3]);
    return 1;
  }
  allot_policy* policy = NULL;
  const char* decision = NULL;
  int32_t failure = plugin.create(argv[2], &policy);
  if (failure == ALLOT_OK) failure = plugin.decide(policy, snapshot, &decision);
  if (failure == ALLOT_OK) {
    printf("%s\n", decision);
  } else {
    fprintf(stderr, "%s\n", plugin.last_error());
  }
  plugin.destroy(policy);
  free(snapshot);
  return failure;
}
