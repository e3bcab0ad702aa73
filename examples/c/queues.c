// Two processes and a pool of queues: one hands out work, the other does it. See queues.md.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <tavola.h>
#include <unistd.h>

enum { JOBS = 1000, PLACES = 16 };

// What an element holds: it is worked on where it is.
struct job {
  int number;
  int answer;
};

static void must(tavola_status status, const char *what) {
  if (status < 0) {
    fprintf(stderr, "%s: %s\n", what, tavola_last_error());
    exit(1);
  }
}

static tavola_queue *queue(tavola_pool *pool, const char *name) {
  tavola_queue *opened = NULL;
  must(tavola_queue_open(pool, name, &opened), name);
  return opened;
}

// Takes jobs from "todo", answers them, and passes them on to "done"; a job below 0 is the last.
static void worker(tavola_pool *pool) {
  tavola_queue *todo = queue(pool, "todo"), *done = queue(pool, "done");
  for (bool goes_on = true; goes_on;) {
    uint32_t element = 0;
    must(tavola_queue_pop_wait(todo, UINT64_MAX, &element), "todo");
    struct job *job = tavola_pool_element_ptr(pool, element);
    job->answer = job->number * job->number;
    goes_on = job->number >= 0;
    must(tavola_queue_push(done, element), "done");
  }
  tavola_queue_close(todo);
  tavola_queue_close(done);
}

// Waits for answers and counts them; the elements are free again.
static long collect(tavola_pool *pool, tavola_queue *done, tavola_queue *free_ones) {
  uint32_t elements[PLACES];
  size_t count = 0;
  long sum = 0;
  must(tavola_queue_pop_many_wait(done, elements, PLACES, UINT64_MAX, &count), "done");
  for (size_t i = 0; i < count; i++) {
    const struct job *job = tavola_pool_element_ptr(pool, elements[i]);
    sum += job->answer;
  }
  must(tavola_queue_push_many(free_ones, elements, count), "free");
  return sum;
}

// Hands out all jobs, and one that ends the worker.
static long hand_out(tavola_pool *pool) {
  tavola_queue *free_ones = queue(pool, "free"), *todo = queue(pool, "todo");
  tavola_queue *done = queue(pool, "done");
  long sum = 0;
  for (int number = 0; number <= JOBS; number++) {
    uint32_t element = 0;
    tavola_status status;
    while ((status = tavola_queue_pop(free_ones, &element)) == TAVOLA_EMPTY) {
      sum += collect(pool, done, free_ones);
    }
    must(status, "free");
    struct job *job = tavola_pool_element_ptr(pool, element);
    job->number = number < JOBS ? number : -1;
    must(tavola_queue_push(todo, element), "todo");
  }
  while (tavola_queue_len(free_ones) < PLACES) {
    sum += collect(pool, done, free_ones);
  }
  tavola_queue_close(free_ones);
  tavola_queue_close(todo);
  tavola_queue_close(done);
  return sum;
}

int main(void) {
  const char *names[] = {"free", "todo", "done"};
  tavola_pool_options options = TAVOLA_INIT(tavola_pool_options);
  tavola_pool *pool = NULL;
  options.elements = PLACES;
  options.element_bytes = sizeof(struct job);
  options.queues = names;
  options.queue_count = 3;
  must(tavola_pool_create("example-jobs", &options, &pool), "the pool");
  pid_t child = fork();
  if (child < 0) {
    perror("forking");
    return 1;
  }
  if (child == 0) {
    worker(pool);
    tavola_pool_close(pool);
    return 0;
  }
  long sum = hand_out(pool);
  int status = 0;
  waitpid(child, &status, 0);
  printf("%d jobs, the sum of their answers is %ld\n", JOBS, sum - 1);
  tavola_pool_close(pool);
  must(tavola_names_remove("example-jobs"), "the pool");
  return sum - 1 == 332833500 && status == 0 ? 0 : 1;
}
