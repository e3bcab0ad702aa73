// Queues: pools in a file of their own and beside a table, one and many, waits, watches.

#include "check.h"
#include <poll.h>

static tavola_pool *a_pool(const char *name) {
  const char *queues[] = {"free", "todo"};
  tavola_pool_options options = TAVOLA_INIT(tavola_pool_options);
  tavola_pool *pool = NULL;
  options.elements = 100;
  options.element_bytes = 20;
  options.queues = queues;
  options.queue_count = 2;
  CHECK_IS(TAVOLA_OK, tavola_pool_create(name, &options, &pool));
  CHECK_IS(TAVOLA_ERR_TABLE_EXISTS, tavola_pool_create(name, &options, &pool));
  return pool;
}

static tavola_queue *a_queue(tavola_pool *pool, const char *name) {
  tavola_queue *queue = NULL;
  CHECK_IS(TAVOLA_OK, tavola_queue_open(pool, name, &queue));
  return queue;
}

static void one_by_one(tavola_pool *pool, tavola_queue *free_ones, tavola_queue *todo) {
  uint32_t element = 7, popped = 7;
  char bytes[20] = {0};
  CHECK(tavola_queue_len(free_ones) == 100 && tavola_queue_len(todo) == 0);
  CHECK_IS(TAVOLA_EMPTY, tavola_queue_pop(todo, &popped));
  CHECK_IS(TAVOLA_TIMEOUT, tavola_queue_pop_wait(todo, 5, &popped));
  CHECK(popped == 7);
  CHECK_IS(TAVOLA_OK, tavola_queue_pop(free_ones, &element));
  CHECK_IS(TAVOLA_OK, tavola_pool_write(pool, element, 2, "resize 17.jpg", 13));
  CHECK(memcmp((char *)tavola_pool_element_ptr(pool, element) + 2, "resize", 6) == 0);
  CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_pool_write(pool, element, 8, bytes, 13));
  CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_pool_read(pool, element, UINT32_MAX, bytes, 1));
  CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_pool_read(pool, 100, 0, bytes, 1));
  CHECK(tavola_pool_element_ptr(pool, 100) == NULL);
  CHECK_IS(TAVOLA_OK, tavola_queue_push(todo, element));
  CHECK_IS(TAVOLA_ERR_NOT_HELD, tavola_queue_push(todo, element));
  CHECK_IS(TAVOLA_ERR_NOT_HELD, tavola_pool_read(pool, element, 0, bytes, 1));
  CHECK_IS(TAVOLA_OK, tavola_queue_pop_wait(todo, UINT64_MAX, &popped));
  CHECK(popped == element);
  CHECK_IS(TAVOLA_OK, tavola_pool_read(pool, element, 2, bytes, 13));
  CHECK(strcmp(bytes, "resize 17.jpg") == 0);
  CHECK_IS(TAVOLA_OK, tavola_queue_push(free_ones, element));
}

static void many(tavola_queue *free_ones, tavola_queue *todo) {
  uint32_t elements[64];
  size_t count = 0;
  CHECK_IS(TAVOLA_EMPTY, tavola_queue_pop_many(todo, elements, 64, &count));
  CHECK_IS(TAVOLA_TIMEOUT, tavola_queue_pop_many_wait(todo, elements, 64, 1, &count));
  CHECK_IS(TAVOLA_OK, tavola_queue_pop_many(free_ones, elements, 64, &count));
  CHECK(count == 64);
  CHECK_IS(TAVOLA_OK, tavola_queue_push_many(todo, elements, count));
  CHECK_IS(TAVOLA_OK, tavola_queue_pass(todo, free_ones, 10, &count));
  CHECK(count == 10 && tavola_queue_len(todo) == 54);
  CHECK_IS(TAVOLA_OK, tavola_queue_pass_wait(todo, free_ones, 1000, 1, NULL));
  CHECK_IS(TAVOLA_EMPTY, tavola_queue_pass(todo, free_ones, 10, &count));
  CHECK_IS(TAVOLA_TIMEOUT, tavola_queue_pass_wait(todo, free_ones, 10, 1, &count));
  CHECK(tavola_queue_len(free_ones) == 100);
}

static void watched(tavola_queue *free_ones, tavola_queue *todo) {
  tavola_queue_watch *watch = NULL;
  struct pollfd polled = {0, POLLIN, 0};
  uint32_t element = 0;
  CHECK_IS(TAVOLA_OK, tavola_queue_watch_open(todo, &watch));
  polled.fd = tavola_queue_watch_fd(watch);
  CHECK(poll(&polled, 1, 1) == 0);
  CHECK_IS(TAVOLA_OK, tavola_queue_pass(free_ones, todo, 1, NULL));
  CHECK(poll(&polled, 1, 30000) == 1);
  CHECK_IS(TAVOLA_OK, tavola_queue_watch_clear(watch));
  CHECK_IS(TAVOLA_OK, tavola_queue_pop(todo, &element));
  CHECK_IS(TAVOLA_OK, tavola_queue_push(free_ones, element));
  tavola_queue_watch_close(watch);
}

static void count_element(void *user, uint32_t element) {
  CHECK(element < 100);
  *(int *)user += 1;
}

static void push_back(void *user, uint32_t element) {
  CHECK_IS(TAVOLA_OK, tavola_queue_push(user, element));
}

// What a handle held that was closed is lost, until it is reclaimed.
static void reclaimed(tavola_pool *pool, tavola_queue *free_ones) {
  tavola_pool *other = NULL;
  uint32_t elements[3];
  size_t count = 0;
  int lost = 0;
  CHECK_IS(TAVOLA_OK, tavola_pool_open_existing("jobs", &other));
  tavola_queue *theirs = a_queue(other, "free");
  CHECK_IS(TAVOLA_ERR_ARGUMENT, tavola_queue_pass(theirs, free_ones, 1, &count));
  CHECK_IS(TAVOLA_OK, tavola_queue_pop_many(theirs, elements, 3, &count));
  tavola_pool_close(other);
  CHECK_IS(TAVOLA_OK, tavola_pool_lost(pool, count_element, &lost));
  CHECK(lost == 0);
  tavola_queue_close(theirs);
  CHECK_IS(TAVOLA_OK, tavola_pool_lost(pool, count_element, &lost));
  CHECK(lost == 3 && tavola_queue_len(free_ones) == 97);
  CHECK_IS(TAVOLA_OK, tavola_pool_reclaim(pool, push_back, free_ones));
  CHECK(tavola_queue_len(free_ones) == 100);
}

static void added(void) {
  tavola_pool_options options = TAVOLA_INIT(tavola_pool_options);
  tavola_pool *pool = NULL;
  tavola_queue *queue = NULL, *again = NULL;
  int queues = 0;
  options.elements = 10;
  options.queue_room = (size_t)1 << 33;
  CHECK_IS(TAVOLA_ERR_BAD_OPTION, tavola_pool_create("more", &options, &pool));
  options.queue_room = 2;
  CHECK_IS(TAVOLA_OK, tavola_pool_create("more", &options, &pool));
  CHECK_IS(TAVOLA_ERR_BAD_NAME, tavola_pool_add_queue(pool, "", &queue));
  CHECK_IS(TAVOLA_ERR_NULL, tavola_pool_add_queue(pool, "urgent", NULL));
  CHECK_IS(TAVOLA_OK, tavola_pool_add_queue(pool, "urgent", &queue));
  CHECK_IS(TAVOLA_ERR_OBJECT_EXISTS, tavola_pool_add_queue(pool, "urgent", &again));
  CHECK_IS(TAVOLA_ERR_FULL, tavola_pool_add_queue(pool, "another", &again));
  again = a_queue(pool, "free");
  CHECK_IS(TAVOLA_OK, tavola_queue_pass(again, queue, 4, NULL));
  CHECK(tavola_queue_len(queue) == 4 && tavola_pool_queue_room(pool) == 2);
  CHECK_IS(TAVOLA_OK, tavola_pool_queues(pool, count_text, &queues));
  CHECK(queues == 2);
  tavola_queue_close(again);
  tavola_queue_close(queue);
  tavola_pool_close(pool);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("more"));
}

static void beside(void) {
  tavola_table *table = a_table("main");
  tavola_pool_options options = TAVOLA_INIT(tavola_pool_options);
  tavola_pool *pool = NULL, *again = NULL;
  int pools = 0, queues = 0;
  options.elements = 10;
  options.element_bytes = 8;
  CHECK_IS(TAVOLA_ERR_NO_OBJECT, tavola_pool_open_existing_in(table, "jobs", &pool));
  CHECK_IS(TAVOLA_OK, tavola_pool_create_in(table, "jobs", &options, &pool));
  CHECK_IS(TAVOLA_ERR_OBJECT_EXISTS, tavola_pool_create_in(table, "jobs", &options, &again));
  CHECK_IS(TAVOLA_OK, tavola_pool_open_in(table, "jobs", &options, &again));
  CHECK_IS(TAVOLA_OK, tavola_pools(table, count_text, &pools));
  CHECK_IS(TAVOLA_OK, tavola_pool_queues(pool, count_text, &queues));
  CHECK(pools == 1 && queues == 1);
  CHECK(strcmp(tavola_pool_path(pool), tavola_path(table)) == 0);
  tavola_pool_close(again);
  tavola_pool_close(pool);
  check_clean(table);
  tavola_close(table);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("main"));
}

int main(void) {
  tavola_pool *pool = a_pool("jobs");
  tavola_queue *free_ones = a_queue(pool, "free"), *todo = a_queue(pool, "todo");
  tavola_check_report report = TAVOLA_INIT(tavola_check_report);
  CHECK(tavola_pool_elements(pool) == 100 && tavola_pool_element_bytes(pool) == 20);
  one_by_one(pool, free_ones, todo);
  many(free_ones, todo);
  watched(free_ones, todo);
  reclaimed(pool, free_ones);
  CHECK_IS(TAVOLA_OK, tavola_pool_check(pool, &report, NULL, NULL));
  CHECK(report.problems == 0);
  tavola_pool_close(pool);
  tavola_queue_close(todo);
  tavola_queue_close(free_ones);
  CHECK_IS(TAVOLA_OK, tavola_names_remove("jobs"));
  added();
  beside();
  return 0;
}
