// What the calls of answer.c have in common: the request, the table, and answers.
#ifndef CASES_ANSWER_H
#define CASES_ANSWER_H

#include "words.h"

// A value in memory of its own.
typedef struct value {
  void *data;
  size_t len;
} value;

static void *room_for(void *user, size_t len) {
  value *into = (value *)user;
  into->data = checked(realloc(into->data, len + 1));
  into->len = len;
  return into->data;
}

static tavola_buffer into(value *kept) {
  tavola_buffer buffer = TAVOLA_BUFFER(NULL, 0);
  buffer.alloc = room_for;
  buffer.user = kept;
  return buffer;
}

static tavola_table *table;
static const line *asked;

static tavola_attributes attributes_of(size_t flags, size_t ttl) {
  tavola_attributes attributes = TAVOLA_INIT(tavola_attributes);
  attributes.flags = (uint32_t)unsigned_of(asked, flags);
  attributes.ttl_ms = is_none(asked, ttl) ? TAVOLA_TTL_DEFAULT : number_of(asked, ttl);
  return attributes;
}

// Says what became of a call that may not find a key, or find one.
static void say_done(tavola_status status) {
  if (status == TAVOLA_OK) {
    say_bool(1);
  } else if (status > 0) {
    say_bool(0);
  } else {
    say_error(status);
  }
}

static void say_read(tavola_status status, uint32_t flags, const value *found) {
  if (status == TAVOLA_OK) {
    say_value(flags, found->data, found->len);
  } else if (status == TAVOLA_NOT_FOUND) {
    say_none();
  } else {
    say_error(status);
  }
}

#endif
