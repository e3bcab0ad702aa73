// Failures are never misses: servers that refuse, that close, and that are silent; callbacks that
// do not return.

#include <arpa/inet.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define S TAVOLA_MC_STR

// A socket on a free port of this machine, and the text of its address.
static int listening(char *list, size_t size) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t len = sizeof address;
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&address, len) == 0 && listen(fd, 9) == 0);
  CHECK(getsockname(fd, (struct sockaddr *)&address, &len) == 0);
  snprintf(list, size, "127.0.0.1:%d", ntohs(address.sin_port));
  return fd;
}

static tavola_mc_client *client_of(const char *list) {
  tavola_mc_options options = TAVOLA_MC_INIT(tavola_mc_options);
  tavola_mc_client *client = NULL;
  options.io_timeout_ms = 200;
  CHECK_IS(OK, tavola_mc_open(list, &options, &client));
  return client;
}

static void get(tavola_mc_client *client, tavola_mc_status status, tavola_mc_cause cause,
                const char *word) {
  char bytes[8];
  tavola_mc_value value = TAVOLA_MC_VALUE(bytes, sizeof bytes);
  check_is(__FILE__, __LINE__, word, status, tavola_mc_get(client, S("k"), &value));
  CHECK(strstr(tavola_mc_last_error(), word) != NULL && tavola_mc_last_cause() == cause);
}

static void failed_of_many(void *user, size_t index, const tavola_mc_result *result) {
  CHECK(result->status == TAVOLA_MC_ERR_UNSENT && result->why[0] != 0);
  CHECK(index == 0 && result->cause == *(tavola_mc_cause *)user);
  *(tavola_mc_cause *)user = TAVOLA_MC_CAUSE_OTHER;
}

// The cause that a batch reports with a request.
static void get_of_batch(tavola_mc_client *client, tavola_mc_cause cause) {
  tavola_mc_sink sink = TAVOLA_MC_INIT(tavola_mc_sink);
  tavola_mc_batch *batch = NULL;
  sink.done = failed_of_many;
  sink.user = &cause;
  CHECK_IS(OK, tavola_mc_batch_new(client, &batch));
  CHECK_IS(OK, tavola_mc_batch_get(batch, S("k")));
  CHECK_IS(OK, tavola_mc_batch_execute(batch, &sink));
  CHECK(cause == TAVOLA_MC_CAUSE_OTHER);
  tavola_mc_batch_free(batch);
}

static void failed(void *user, size_t server, const char *name, int32_t status,
                   const char *text) {
  (void)server;
  CHECK(strncmp(name, "127.0.0.1:", 10) == 0 && status == TAVOLA_MC_ERR_UNSENT && text[0] != 0);
  *(int *)user += 1;
}

static void a_server_that_refuses(void) {
  char list[64];
  int answers = 0;
  close(listening(list, sizeof list));
  tavola_mc_client *client = client_of(list);
  get(client, TAVOLA_MC_ERR_UNSENT, TAVOLA_MC_CAUSE_REFUSED, list);
  get_of_batch(client, TAVOLA_MC_CAUSE_REFUSED);
  CHECK_IS(ERR_NULL, tavola_mc_versions(NULL, failed, NULL));
  CHECK(tavola_mc_last_cause() == TAVOLA_MC_CAUSE_NONE);
  CHECK_IS(ERR_UNSENT, tavola_mc_set(client, S("k"), S("v"), NULL));
  CHECK_IS(ERR_UNSENT, tavola_mc_versions(client, failed, &answers));
  CHECK(answers == 1);
  tavola_mc_close(client);
}

// A server in a child: it answers `mn`, so that the client speaks meta, reads one request, sends
// `answer` and closes.
static pid_t a_server(int fd, const char *answer) {
  pid_t child = fork();
  CHECK(child >= 0);
  if (child != 0) return child;
  signal(SIGPIPE, SIG_IGN);
  for (;;) {
    char bytes[4096];
    size_t len = 0;
    int conn = accept(fd, NULL, NULL);
    while (len < sizeof bytes - 1) {
      ssize_t got = read(conn, bytes + len, sizeof bytes - 1 - len);
      if (got <= 0) break;
      bytes[len + (size_t)got] = 0;
      if (len == 0 && strncmp(bytes, "mn\r\n", 4) == 0) {
        if (write(conn, "MN\r\n", 4) != 4) break;
        memmove(bytes, bytes + 4, (size_t)got - 3);
        got -= 4;
      }
      len += (size_t)got;
      if (len > 0 && strchr(bytes, '\n') != NULL) {
        if (write(conn, answer, strlen(answer)) < 0) break;
        break;
      }
    }
    close(conn);
  }
}

// Answers that are cut, or are not those of the request.
static void servers_that_lie(void) {
  const char *answers[] = {"", "HD", "VA 3 f0 kother O7\r\nabc\r\n", "STORED\r\nSTORED\r\n",
                           "VALUE other 0 3\r\nabc\r\nEND\r\n"};
  for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
    char list[64];
    int fd = listening(list, sizeof list);
    pid_t server = a_server(fd, answers[i]);
    tavola_mc_client *client = client_of(list);
    tavola_mc_status status = tavola_mc_set(client, S("k"), S("v"), NULL);
    CHECK(status == TAVOLA_MC_ERR_UNKNOWN || status == TAVOLA_MC_ERR_UNSENT);
    char bytes[8] = {0};
    tavola_mc_value value = TAVOLA_MC_VALUE(bytes, sizeof bytes);
    status = tavola_mc_get(client, S("k"), &value);
    CHECK(status == TAVOLA_MC_ERR_UNKNOWN || status == TAVOLA_MC_ERR_UNSENT);
    tavola_mc_close(client);
    kill(server, SIGKILL);
    CHECK(waitpid(server, NULL, 0) == server);
    close(fd);
  }
}

static void a_server_that_is_silent(void) {
  char list[64];
  int fd = listening(list, sizeof list);
  tavola_mc_client *client = client_of(list);
  get(client, TAVOLA_MC_ERR_UNSENT, TAVOLA_MC_CAUSE_TIMED_OUT, list);
  tavola_mc_close(client);
  close(fd);
}

static jmp_buf out;

static void *jump(void *user, size_t len, uint32_t flags) {
  (void)user, (void)len, (void)flags;
  longjmp(out, 1);
}

// What is not allowed: the connection that was left in the middle of an answer is not used again.
static void a_callback_that_jumps(void) {
  tavola_mc_client *client = a_client();
  CHECK_IS(STORED, tavola_mc_set(client, S("one"), S("first"), NULL));
  CHECK_IS(STORED, tavola_mc_set(client, S("two"), S("second"), NULL));
  tavola_mc_value value = TAVOLA_MC_VALUE_ROOM(jump, NULL);
  for (volatile int i = 0; i < 3; i++) {
    if (setjmp(out) == 0) {
      tavola_mc_get(client, S("one"), &value);
      CHECK(false);
    }
    CHECK(has(client, "two", "second") && has(client, "one", "first"));
    CHECK(has(client, "nothing", NULL));
  }
  // A part of its memory is lost with it, so it is a child that does it.
  _exit(0);
}

int main(void) {
  int status = 1;
  a_server_that_refuses();
  servers_that_lie();
  a_server_that_is_silent();
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) a_callback_that_jumps();
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  return 0;
}
