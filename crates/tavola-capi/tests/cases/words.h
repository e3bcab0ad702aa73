// Requests and answers of the programs that run the common cases (bindings/cases.json): lines of
// words with a space between them. Bytes are a dot and hexadecimal digits, nothing is `-`.
#ifndef CASES_WORDS_H
#define CASES_WORDS_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tavola.h>

#define MOST_WORDS 1024
// How many locks and jobs a case holds at most, and the bytes of an element with a job.
#define MOST_HELD 8
#define JOB_BYTES 64
// Set in the first word of a job that is not text: its flags follow.
#define HAS_FLAGS 0x80000000u

// A line, and the words in it.
typedef struct line {
  char *text;
  size_t room;
  size_t count;
  char *words[MOST_WORDS];
} line;

// Ends the program with a sentence.
static inline void give_up(const char *why) {
  fprintf(stderr, "%s\n", why);
  exit(1);
}

static inline void *checked(void *memory) {
  if (memory == NULL) {
    give_up("out of memory");
  }
  return memory;
}

static inline size_t checked_place(size_t place) {
  if (place >= MOST_HELD) {
    give_up("too many locks or jobs are held");
  }
  return place;
}

// Reads a line. Returns 0 at the end.
static inline int next_line(line *at) {
  ssize_t len = getline(&at->text, &at->room, stdin);
  if (len <= 0) {
    return 0;
  }
  at->text[strcspn(at->text, "\n")] = '\0';
  at->count = 0;
  for (char *word = strtok(at->text, " "); word != NULL; word = strtok(NULL, " ")) {
    if (at->count == MOST_WORDS) {
      give_up("too many words");
    }
    at->words[at->count++] = word;
  }
  return 1;
}

static inline const char *word(const line *at, size_t number) {
  if (number >= at->count) {
    give_up("a word is missing");
  }
  return at->words[number];
}

static inline int is_none(const line *at, size_t number) { return strcmp(word(at, number), "-") == 0; }

static inline int64_t number_of(const line *at, size_t number) {
  return strtoll(word(at, number), NULL, 10);
}

static inline uint64_t unsigned_of(const line *at, size_t number) {
  return strtoull(word(at, number), NULL, 10);
}

static inline unsigned digit(char letter) {
  return letter <= '9' ? (unsigned)(letter - '0') : (unsigned)(letter - 'a' + 10);
}

// Returns the bytes of a word, decoded in its place.
static inline tavola_bytes bytes_of(const line *at, size_t number) {
  char *text = at->words[number];
  if (word(at, number)[0] != '.') {
    give_up("bytes are missing");
  }
  tavola_bytes bytes = {text, strlen(text + 1) / 2};
  for (size_t i = 0; i < bytes.len; i++) {
    text[i] = (char)(digit(text[1 + 2 * i]) << 4 | digit(text[2 + 2 * i]));
  }
  return bytes;
}

// Returns the bytes of a word, none of which is 0, as a text.
static inline const char *text_of(const line *at, size_t number) {
  tavola_bytes bytes = bytes_of(at, number);
  char *text = at->words[number];
  text[bytes.len] = '\0';
  return text;
}

static inline void say_bytes(const void *data, size_t len) {
  const unsigned char *bytes = (const unsigned char *)data;
  putchar('.');
  for (size_t i = 0; i < len; i++) {
    printf("%02x", bytes[i]);
  }
}

static inline void say_value(uint32_t flags, const void *data, size_t len) {
  printf("value %u ", flags);
  say_bytes(data, len);
  putchar('\n');
}

// The flags of text, by bindings/README.md.
#define TEXT 0x54010000u

static inline void say_text(const char *text) { say_value(TEXT, text, strlen(text)); }

static inline void say_bool(int is_so) { puts(is_so ? "true" : "false"); }

static inline void say_none(void) { puts("none"); }

static inline void say_error(tavola_status status) {
  printf("error %s %s\n", tavola_status_name(status), tavola_last_error());
}

#endif
