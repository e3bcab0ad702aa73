// What the programs have in common.

#ifndef CHECK_HPP
#define CHECK_HPP

#include <cstdio>
#include <cstdlib>
#include <string>
#include <tavola_client.hpp>

#define CHECK(holds)                                                                   \
  do {                                                                                 \
    if (!(holds)) {                                                                    \
      std::fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #holds);  \
      std::exit(1);                                                                    \
    }                                                                                  \
  } while (0)

// The code of the error that something throws; TAVOLA_MC_OK when it throws none.
template <typename F>
tavola_mc_status thrown_by(F&& act) {
  try {
    act();
  } catch (const tavola::mc::error& error) {
    CHECK(error.what()[0] != '\0');
    return error.code();
  }
  return TAVOLA_MC_OK;
}

// The servers of the test.
inline std::string servers() { return std::getenv("TAVOLA_MC_SERVERS"); }

#endif
