/*
 * Declarations for the C files of the client of a fleet: handles, calls, and what they return.
 *
 * A method works in three steps. The first reads the arguments, and may call Perl code: a
 * serializer, a tied variable. The second hands the requests to the library, whose callbacks write
 * to memory of the handle; nothing of it calls Perl code, so nothing can throw, and no other method
 * can begin meanwhile. The third makes the values, and may call Perl code again. What the steps
 * hand to each other belongs to the statement, so it is freed if Perl code throws.
 */
#ifndef TVF_H
#define TVF_H

#define PERL_NO_GET_CONTEXT
#include "EXTERN.h"
#include "perl.h"
#include "XSUB.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <tavola_client.h>

/* Bits of flags, as Cache::Memcached::Fast writes them. */
#define TVF_STORABLE 1u
#define TVF_COMPRESSED 2u
#define TVF_UTF8 4u
/* The high byte of the flags of values that a binding wrote, and the kind that is text. */
#define TVF_BINDING 0x54u
#define TVF_KIND_MASK 0xFFFF0000u
#define TVF_TEXT 0x54010000u

/* What a method asks the servers for. */
enum tvf_verb {
  TVF_SET,
  TVF_ADD,
  TVF_REPLACE,
  TVF_APPEND,
  TVF_PREPEND,
  TVF_CAS,
  TVF_INCR,
  TVF_DECR,
  TVF_DELETE,
  TVF_TOUCH,
  TVF_GET,
  TVF_GETS,
  TVF_GAT,
  TVF_GATS
};

/* A client of the library, which the threads of a process share. The last one closes it. */
typedef struct tvf_client {
  tavola_mc_client *client;
  unsigned refs;
  bool has_silent; /* One of `is_silent` is set. */
  bool is_silent[]; /* For each server: a call in void context needs no answer. */
} tvf_client;

/* What became of a request. Short values are here, long ones in memory that Perl will own. */
typedef struct tvf_answer {
  char *heap;
  size_t len;
  uint64_t number;
  int32_t status;
  uint32_t flags;
  char small[64];
} tvf_answer;

/* What a fleet is to an interpreter. */
typedef struct tvf_handle {
  tvf_client *client;
  tavola_mc_batch *batch; /* Made when it is needed. */
  tvf_answer *answers;
  size_t answers_room;
  char *keys; /* Keys behind the prefix. */
  size_t keys_room;
  char *prefix; /* What is put before keys here; NULL if the library does it. */
  size_t prefix_len;
  char *why; /* The sentence of the first error of the last call, or NULL. */
  size_t threshold; /* From so many bytes on, values are compressed. */
  size_t max_size;
  bool is_utf8;
  bool is_nowait;
  bool may_hold; /* There was a request without an answer. */
} tvf_handle;

/* One key of a method: what is asked, and what was answered. */
typedef struct tvf_call {
  SV *key;
  SV *value; /* What to store; then what was read, as bytes, or NULL. */
  uint64_t number; /* A token or a difference; then the token or number that was answered. */
  size_t request; /* Its place in the batch. */
  uint32_t flags;
  int32_t exptime;
  int32_t status;
  bool is_left_out; /* It is not sent; `why` says why. */
  const char *why;
} tvf_call;

/* handle.c */
extern MGVTBL tvf_client_vtbl;
extern MGVTBL tvf_handle_vtbl;
void tvf_attach(pTHX_ SV *body, MGVTBL *vtbl, void *pointer);
tvf_client *tvf_client_of(pTHX_ SV *self);
tvf_handle *tvf_handle_of(pTHX_ SV *self);
void tvf_client_drop(tvf_client *client);
tvf_handle *tvf_handle_make(tvf_client *client);
void tvf_use(tvf_handle *handle, tvf_client *client);

/* execute.c */
void tvf_execute(pTHX_ tvf_handle *handle, enum tvf_verb verb, tvf_call *calls, size_t count,
                 bool is_void);

/* value.c */
void tvf_key(pTHX_ tvf_call *call, SV *key);
void tvf_encode(pTHX_ SV *self, const tvf_handle *handle, enum tvf_verb verb, tvf_call *call,
                SV *value);
SV *tvf_decode(pTHX_ SV *self, const tvf_handle *handle, const tvf_call *call);
int32_t tvf_exptime(pTHX_ SV *seconds);
void tvf_wrong(pTHX_ const char *sentence) __attribute__((noreturn));

/* Returns whether to read a scalar calls no Perl code. */
static inline bool tvf_is_plain(const SV *sv) {
  return (SvFLAGS(sv) & (SVs_GMG | SVf_ROK)) == 0;
}

#endif
