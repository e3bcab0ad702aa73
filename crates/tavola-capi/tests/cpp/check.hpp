// What the programs have in common.

#ifndef CHECK_HPP
#define CHECK_HPP

#include <cstdio>
#include <cstdlib>
#include <tavola.hpp>

#define CHECK(holds)                                                                    \
  do {                                                                                  \
    if (!(holds)) {                                                                     \
      std::fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #holds);   \
      std::exit(1);                                                                     \
    }                                                                                   \
  } while (0)

// The code of the error that something throws; TAVOLA_OK when it throws none.
template <typename F>
tavola_status thrown_by(F&& act) {
  try {
    act();
  } catch (const tavola::error& error) {
    CHECK(error.what()[0] != '\0');
    return error.code();
  }
  return TAVOLA_OK;
}

// A table of a few megabytes.
inline tavola::table a_table(const char* name) {
  tavola::options options;
  options.max_size = 16 << 20;
  return tavola::table::create(name, options);
}

#endif
