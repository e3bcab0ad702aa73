// A server of several processes that share one table as their cache. See prefork.md.

#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <tavola.h>
#include <unistd.h>

enum { WORKERS = 3, REQUESTS = 300, PAGES = 10, LINE = 64 };

static void must(bool holds, const char *what) {
  if (!holds) {
    fprintf(stderr, "%s: %s\n", what, tavola_last_error());
    exit(1);
  }
}

// What takes long, and is kept in the cache afterwards.
static void make_page(const char *name, char *page) {
  usleep(2000);
  snprintf(page, LINE, "<p>%.40s</p>\n", name);
}

// A page, from the cache when some worker has made it already.
static void find_page(tavola_table *cache, const char *name, char *page) {
  tavola_buffer found = TAVOLA_BUFFER(page, LINE - 1);
  tavola_status status = tavola_get(cache, name, strlen(name), &found);
  must(status >= 0, "reading the cache");
  if (status == TAVOLA_OK) {
    page[found.len] = '\0';
    must(tavola_incr(cache, "hits", 4, 1, NULL) == TAVOLA_OK, "counting");
    return;
  }
  make_page(name, page);
  // A cache that has no room for it, or cannot be written, makes the server slow and not wrong.
  tavola_set(cache, name, strlen(name), page, strlen(page));
}

// Answers one connection after another until it is killed: a line with a name, a line with a page.
static void worker(int listener, tavola_table *cache) {
  for (;;) {
    char name[LINE] = "page:", page[LINE];
    int connection = accept(listener, NULL, NULL);
    if (connection < 0) {
      continue;
    }
    ssize_t len = read(connection, name + 5, sizeof name - 6);
    if (len > 0) {
      name[5 + len] = '\0';
      name[strcspn(name, "\n")] = '\0';
      find_page(cache, name, page);
      if (write(connection, page, strlen(page)) < 0) {
        perror("answering");
      }
    }
    close(connection);
  }
}

static int a_listener(struct sockaddr_in *address) {
  socklen_t len = sizeof *address;
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  memset(address, 0, sizeof *address);
  address->sin_family = AF_INET;
  address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  must(listener >= 0 && bind(listener, (struct sockaddr *)address, len) == 0, "binding");
  must(listen(listener, 64) == 0, "listening");
  must(getsockname(listener, (struct sockaddr *)address, &len) == 0, "asking for the port");
  return listener;
}

// Asks for a page, as a client.
static void ask(const struct sockaddr_in *address, int number) {
  char line[LINE], expected[LINE];
  int connection = socket(AF_INET, SOCK_STREAM, 0);
  must(connect(connection, (const struct sockaddr *)address, sizeof *address) == 0, "connecting");
  int len = snprintf(line, sizeof line, "%d\n", number);
  must(write(connection, line, (size_t)len) == len, "asking");
  ssize_t answered = read(connection, line, sizeof line - 1);
  must(answered > 0, "an answer");
  line[answered] = '\0';
  snprintf(expected, sizeof expected, "<p>page:%d</p>\n", number);
  must(strcmp(line, expected) == 0, "the page that was asked for");
  close(connection);
}

static uint64_t hits(tavola_table *cache) {
  uint64_t number = 0;
  must(tavola_incr(cache, "hits", 4, 0, &number) == TAVOLA_OK, "reading the count");
  return number;
}

int main(void) {
  struct sockaddr_in address;
  tavola_options options = TAVOLA_INIT(tavola_options);
  tavola_table *cache = NULL;
  pid_t workers[WORKERS];
  int listener = a_listener(&address);
  options.max_size = 1 << 30;
  options.capacity = 64 << 20;
  must(tavola_open("example-cache", &options, &cache) == TAVOLA_OK, "the cache");
  for (int i = 0; i < WORKERS; i++) {
    workers[i] = fork();
    // A pid of -1 would be everybody, when it is killed.
    must(workers[i] >= 0, "forking");
    if (workers[i] == 0) {
      // Ended as well when the parent gives up.
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      worker(listener, cache);
    }
  }
  for (int request = 0; request < REQUESTS; request++) {
    ask(&address, request % PAGES);
  }
  for (int i = 0; i < WORKERS; i++) {
    kill(workers[i], SIGKILL);
    waitpid(workers[i], NULL, 0);
  }
  printf("%d requests, %d from the cache\n", REQUESTS, (int)hits(cache));
  bool well = hits(cache) >= REQUESTS - PAGES * WORKERS;
  tavola_close(cache);
  must(tavola_names_remove("example-cache") == TAVOLA_OK, "the cache");
  close(listener);
  return well ? 0 : 1;
}
