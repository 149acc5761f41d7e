#pragma once
// The C interface of elastic training (liballot_elastic.so), for programs in other languages: what
// elastic/torch/elastic_worker.h offers, in the same order of calls. One thread. Every function
// that can fail returns -1 (or NULL) and leaves a text in allot_elastic_error().

#ifdef __cplusplus
#include <cstddef>
#include <cstdint>
extern "C" {
#else
#include <stddef.h>
#include <stdint.h>
#endif

#define ALLOT_ELASTIC_VERSION 2  // grows with every incompatible change

typedef struct allot_elastic_worker allot_elastic_worker;

// A piece of training state in the caller's memory. Sizes and order are the same in every call and
// every worker.
typedef struct {
  void* data;
  size_t bytes;
} allot_elastic_block;

// The batches of a program whose batch follows its workers, in samples. Its learning rate is
// written for `initial`; `most` is for all workers together, the others for one pass on one worker.
typedef struct {
  int64_t initial, most, least_local, most_local;
} allot_elastic_range;

// The present step of one worker: `passes` times `local` samples.
typedef struct {
  int64_t local;
  int passes;
  double rate_factor;  // multiplies the learning rate in the step that was reduced last
} allot_elastic_batch;

typedef struct {
  int apply;    // the gradient is the members' average: finish the step with it
  int regroup;  // join again, after this step
  double loss;  // the members' average
} allot_elastic_turn;

int allot_elastic_version(void);
const char* allot_elastic_error(void);  // text of the last failure in this thread

// Joins the job that the environment names. A negative number stands for the library's default; a
// negative total_work (samples) for "unknown". NULL on failure.
allot_elastic_worker* allot_elastic_open(double total_work, double save_seconds,
                                         double peer_seconds);
void allot_elastic_close(allot_elastic_worker* worker);

// Call before the first join: the daemon then chooses the batch for the number of workers, and the
// learning rate follows by `rule`: "adascale", "square-root", "linear" or "constant". 0 or -1.
int allot_elastic_adapt(allot_elastic_worker* worker, const allot_elastic_range* range,
                        const char* rule);
// Call after a join. 0 or -1.
int allot_elastic_current_batch(const allot_elastic_worker* worker, allot_elastic_batch* batch);
// Adds the gradient of a pass that is not the step's last; allot_elastic_reduce takes the last one.
// 0 or -1.
int allot_elastic_accumulate(allot_elastic_worker* worker, const float* gradient, size_t size,
                             double loss, double samples);
// Announces that training is done, which all workers learn in the next reduction. 0 or -1.
int allot_elastic_say_done(allot_elastic_worker* worker);
// 1 if some worker had announced it before the last reduction: finish after this step. Otherwise 0.
int allot_elastic_done(const allot_elastic_worker* worker);
// The job's work so far in samples; if the batch adapts, in samples at `initial`.
double allot_elastic_work(const allot_elastic_worker* worker);

// 1: this worker is a member, with rank 0's `state` and `step`; 0: leave the program; -1: failure.
int allot_elastic_join(allot_elastic_worker* worker, const allot_elastic_block* state,
                       size_t blocks, int64_t* step);
int allot_elastic_rank(const allot_elastic_worker* worker);
int allot_elastic_world_size(const allot_elastic_worker* worker);
// Averages `gradient` over the members in place. 0 or -1.
int allot_elastic_reduce(allot_elastic_worker* worker, float* gradient, size_t size, double loss,
                         double samples, allot_elastic_turn* turn);
// Call after a reduction. 1: the next allot_elastic_after_step writes a checkpoint; 0: it does not
// read the state, which need not be up to date.
int allot_elastic_save_due(const allot_elastic_worker* worker);
// Reports that `step` steps are finished. 0 or -1.
int allot_elastic_after_step(allot_elastic_worker* worker, int64_t step,
                             const allot_elastic_block* state, size_t blocks);
// Reports that the job's work is done. 0 or -1.
int allot_elastic_finish(allot_elastic_worker* worker, int64_t step,
                         const allot_elastic_block* state, size_t blocks);

#ifdef __cplusplus
}
#endif
