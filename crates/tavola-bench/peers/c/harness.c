// See harness.h; the parts are in the folder harness. The loops are those of the programs in Rust
// (src/compare/inproc/harness.rs).
//
// Workloads e to i: key i is 8 bytes of a bijection of i, its value the key's word repeated. Keys
// are put in the order of i, which is no order of the keys, and asked for in an order that the seed
// fixes. Workloads b to d: key i is `k` and seven digits, its value the word of i and of how often
// it was put. Workload a: what is in the file.
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// So many operations go by between two looks at the clock.
#define STRIDE 64
// Phases that change nothing are gone through again until so much time has passed.
#define LEAST_NS 100000000u
// A put may take so many times as long as the other phases, so that all of the keys are there.
#define PUT_TIMES 8
// Each so-manieth operation of the mix is a remove and a put.
#define EVERY 50
// More slices are not told one by one.
#define SLICES 4096

static struct job job;
static void *store;
static bool wrong;
// Keys that were put of this process's share.
static uint64_t there = UINT64_MAX;
static struct room filled;

_Noreturn void fail(const char *format, ...) {
  char text[512];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  for (char *c = text; *c; c++)
    if (*c == '"' || *c == '\\' || (unsigned char)*c < 32) *c = '\'';
  printf("{\"error\":\"%s\"}\n", text);
  fflush(stdout);
  _exit(1);
}

const char *path_in(const struct job *of, const char *name) {
  static char path[4096];
  snprintf(path, sizeof path, "%s/%s", of->dir, name);
  return path;
}

uint64_t most_keys(const struct job *of) {
  if (of->workload == 'a') return 4096;
  return of->keys < 1024 ? 1024 : of->keys;
}

void make_room(struct room *room, size_t size) {
  // A value without bytes has a place, too: where there is none nothing was found.
  if (room->data && room->size >= size) return;
  free(room->data);
  room->size = size + size / 2 + 64;
  room->data = malloc(room->size);
  if (!room->data) fail("no memory for a value");
}

#include "harness/job.h"
#include "harness/measure.h"
#include "harness/keys.h"
#include "harness/many.h"
#include "harness/few.h"
#include "harness/company.h"

// Says that this process is ready, and waits for the instant that the leader names.
static uint64_t wait_for_start(const char *name) {
  char line[128];
  printf("{\"ready\":\"%s\"}\n", name);
  fflush(stdout);
  if (!fgets(line, sizeof line, stdin)) exit(1);
  uint64_t at = number(line, "start_at_ns", 0), now = now_ns();
  if (at > now + 200000) {
    uint64_t sleep = at - now - 200000;
    struct timespec time = {sleep / 1000000000u, sleep % 1000000000u};
    nanosleep(&time, NULL);
  }
  while (now_ns() < at) {
  }
  return at;
}

// The most memory this program had. What getrusage tells has that of the leader in it, whose
// memory the program was in before it was executed.
static uint64_t peak_rss_bytes(void) {
  FILE *status = fopen("/proc/self/status", "r");
  char line[256];
  unsigned long kib = 0;
  while (status && fgets(line, sizeof line, status))
    if (sscanf(line, "VmHWM: %lu", &kib) == 1) break;
  if (status) fclose(status);
  return kib * 1024;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "takes a job as its argument\n");
    return 2;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  read_job(argv[1]);
  filled.size = job.value_bytes + 8;
  filled.data = malloc(filled.size);
  if (!filled.data) fail("no memory for a value");
  if (job.workload != 'a') store = adapter.open(&job, job.proc == 0 ? MAKE : WRITE);
  for (int at = 0; at < job.phase_count; at++) {
    const char *name = job.phases[at];
    uint64_t start_ns = job.procs > 1 ? wait_for_start(name) : 0;
    if (job.workload == 'a')
      company(name);
    else if (job.workload <= 'd')
      few_keys(name);
    else
      many_keys(name, start_ns);
  }
  if (job.procs > 1) wait_for_start("end");
  if (store) adapter.close(store);
  // Of several processes each tells its own.
  uint64_t keys = job.workload > 'a' && there > job.keys ? job.keys : there;
  printf("{\"end\":true,\"version\":\"%s\",\"bytes\":0,\"keys\":%lu,\"peak_rss_bytes\":%lu}\n",
         adapter.version(), keys, peak_rss_bytes());
  return 0;
}
