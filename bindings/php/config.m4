PHP_ARG_ENABLE([tavola],
  [whether to enable tavola],
  [AS_HELP_STRING([--enable-tavola], [Enable the extension tavola])])

if test "$PHP_TAVOLA" != "no"; then
  dnl The library is where the environment says, else in vendor/ of the package, else in the checkout.
  tavola_lib=$TAVOLA_LIB_DIR
  tavola_include=$TAVOLA_INCLUDE_DIR
  if test -z "$tavola_lib" && test -f "$abs_srcdir/vendor/lib/libtavola.a"; then
    tavola_lib=$abs_srcdir/vendor/lib
    tavola_include=$abs_srcdir/vendor/include
  fi
  if test -z "$tavola_lib"; then
    tavola_lib=$abs_srcdir/../../target/release
    tavola_include=$abs_srcdir/../../crates/tavola-capi/include
  fi
  if test -z "$tavola_include"; then
    tavola_include=$tavola_lib/include
  fi

  AC_MSG_CHECKING([for the library of tavola])
  if test -f "$tavola_lib/libtavola.a" && test -f "$tavola_include/tavola.h"; then
    AC_MSG_RESULT([$tavola_lib/libtavola.a])
  else
    AC_MSG_RESULT([not found])
    AC_MSG_ERROR([There is no $tavola_lib/libtavola.a with $tavola_include/tavola.h. Build it in the checkout with "cargo build --release -p tavola-capi", or set TAVOLA_LIB_DIR and TAVOLA_INCLUDE_DIR to where it is.])
  fi

  PHP_ADD_INCLUDE([$tavola_include])
  TAVOLA_SHARED_LIBADD="$tavola_lib/libtavola.a -lpthread -ldl -lm -lgcc_s -Wl,--exclude-libs,ALL"
  PHP_SUBST([TAVOLA_SHARED_LIBADD])
  tavola_sources="src/tavola.c src/classes.c src/errors.c src/options.c src/open.c src/handles.c src/lists.c \
    src/codec.c src/json.c src/table.c src/table_read.c src/table_write.c src/table_many.c src/table_numbers.c \
    src/iterator.c src/tags.c src/compute.c src/lock.c src/watch.c src/stats.c src/queue.c \
    src/log.c src/names.c src/transaction.c src/transaction_keys.c src/apcu.c \
    src/apcu_info.c src/apcu_iterator.c src/apcu_module.c src/session.c \
    src/session_lock.c"
  PHP_NEW_EXTENSION([tavola], [$tavola_sources], [$ext_shared],,
    [-DZEND_ENABLE_STATIC_TSRMLS_CACHE=1 -fvisibility=hidden -Wall -Wextra -Wno-unused-parameter])
  PHP_ADD_BUILD_DIR([$ext_builddir/src])
  PHP_ADD_EXTENSION_DEP(tavola, json, true)
  PHP_ADD_EXTENSION_DEP(tavola, pcre, true)
fi
