// What the torment asks of a store beyond its adapter. A store that has it defines `extra` in a file
// of its own, which includes the adapter's.
#ifndef TORMENT_H
#define TORMENT_H

#include "harness.h"

struct extra {
  // Adds one to a counter, whose value is a decimal number, by the best means there is.
  void (*add_one)(void *store, struct span key);
  // Names them.
  const char *add_means;
  // Reads, and keeps the snapshot or cursor that it has read from.
  void (*hold)(void *store, struct span key);
  // Names what is kept.
  const char *hold_means;
};

extern const struct extra extra __attribute__((weak));

#endif
