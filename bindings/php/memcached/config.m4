PHP_ARG_ENABLE([tavola_memcached],
  [whether to enable tavola_memcached],
  [AS_HELP_STRING([--enable-tavola-memcached], [Enable the extension tavola_memcached])])

if test "$PHP_TAVOLA_MEMCACHED" != "no"; then
  dnl The library is where the environment says, else in vendor/ of the package, else in the checkout.
  client_lib=$TAVOLA_CLIENT_LIB_DIR
  client_include=$TAVOLA_CLIENT_INCLUDE_DIR
  if test -z "$client_lib" && test -f "$abs_srcdir/vendor/lib/libtavola_client.a"; then
    client_lib=$abs_srcdir/vendor/lib
    client_include=$abs_srcdir/vendor/include
  fi
  if test -z "$client_lib"; then
    client_lib=$abs_srcdir/../../../target/release
    client_include=$abs_srcdir/../../../crates/tavola-client-capi/include
  fi
  if test -z "$client_include"; then
    client_include=$client_lib/include
  fi

  AC_MSG_CHECKING([for the client library of tavola])
  if test -f "$client_lib/libtavola_client.a" && test -f "$client_include/tavola_client.h"; then
    AC_MSG_RESULT([$client_lib/libtavola_client.a])
  else
    AC_MSG_RESULT([not found])
    AC_MSG_ERROR([There is no $client_lib/libtavola_client.a with $client_include/tavola_client.h. Build it in the checkout with "cargo build --release -p tavola-client-capi", or set TAVOLA_CLIENT_LIB_DIR and TAVOLA_CLIENT_INCLUDE_DIR to where it is.])
  fi

  PHP_ADD_INCLUDE([$client_include])
  TAVOLA_MEMCACHED_SHARED_LIBADD="$client_lib/libtavola_client.a -lpthread -ldl -lm -lgcc_s -Wl,--exclude-libs,ALL"
  PHP_SUBST([TAVOLA_MEMCACHED_SHARED_LIBADD])
  client_sources="src/module.c src/results.c src/fleet.c src/servers.c src/settings.c src/connection.c src/value.c \
    src/compression.c src/fastlz.c src/get.c src/delayed.c src/store.c src/numbers.c src/control.c"
  PHP_NEW_EXTENSION([tavola_memcached], [$client_sources], [$ext_shared],,
    [-DZEND_ENABLE_STATIC_TSRMLS_CACHE=1 -fvisibility=hidden -Wall -Wextra -Wno-unused-parameter])
  PHP_ADD_BUILD_DIR([$ext_builddir/src])
  PHP_ADD_EXTENSION_DEP(tavola_memcached, json, true)
  PHP_ADD_EXTENSION_DEP(tavola_memcached, memcached, true)
fi
