/*
 * Tavola::Servers, the memcached client below Tavola::Client.
 *
 * The library is called without Ruby's lock. What it reads is frozen or copied before, and what it
 * returns becomes Ruby objects when the lock is held again; only a long value gets its string in
 * between, by a callback that takes the lock and catches exceptions.
 *
 * MIT OR Apache-2.0, at your choice.
 */

#ifndef TAVOLA_CLIENT_RUBY_H
#define TAVOLA_CLIENT_RUBY_H

#include <ruby.h>
#include <ruby/thread.h>
#include <stdbool.h>
#include <tavola_client.h>

/* The longest value that is copied; a longer one is received into its string. */
#define SMALL_BYTES 1024

/* A client, shared by the calls that use it and the object. */
typedef struct {
	tavola_mc_client *client;
	/* Calls that run without Ruby's lock. */
	unsigned running;
	bool is_closed;
} servers;

/* What became of one request. */
typedef struct {
	int32_t status;
	uint32_t flags;
	uint64_t cas;
	uint64_t number;
	size_t len;
	/* The value: in memory of malloc, or a string of Ruby. */
	char *small;
	VALUE string;
} outcome;

servers *servers_of(VALUE self);

/* Runs a function without Ruby's lock, while the client cannot be closed. */
void run_unlocked(servers *it, void (*run)(void *), void *argument);

/* Returns memory for a value of this length, or NULL. Without Ruby's lock. Strings are kept alive
 * by the array. */
void *room_for(outcome *out, VALUE keep, size_t len);

/* Returns [value, flags, cas], and frees the memory. */
VALUE taken(outcome *out);

/* Raises the error of a status. */
NORETURN(void raise_status(int32_t status, const char *why));

/* many.c */
void init_many(VALUE klass);

/* control.c */
void init_control(VALUE klass);

#endif
