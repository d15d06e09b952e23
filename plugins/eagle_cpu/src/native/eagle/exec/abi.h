// The C interface between the team and the code it runs. Generated code is compiled against exactly this.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// What a job's code is told about the run it is part of. Grows at its end only: `size` says how far.
typedef struct eagle_run {
    uint32_t size;                                // sizeof(eagle_run) of whoever runs the code
    uint32_t worker;                              // 0: the thread that called; workers count from 1
    const volatile int32_t *stop;                 // not 0: return a negative number soon
    void (*poll)(const struct eagle_run *run);    // to be called at least every 20 ms of work; may set *stop
    // For code that holds several samples at a time and would run empty at the end of its range: gives it another range of
    // the same job, to be run before it returns, or 0. NULL unless the job was started for such code.
    int32_t (*more)(const struct eagle_run *run, int64_t *begin, int64_t *end);
} eagle_run;

// Runs samples begin .. end, and those it asked for. 0: done; < 0: stopped before the end; > 0: done, but some samples failed (the code says how).
// It must not throw nor touch Python, and gives the same bits however 0 .. samples is cut.
typedef int32_t (*eagle_entry)(void *args, int64_t begin, int64_t end, const eagle_run *run);

#ifdef __cplusplus
}
#endif
