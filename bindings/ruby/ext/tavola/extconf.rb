# frozen_string_literal: true

# Makes the Makefile of the extension. The library is linked statically, and its symbols are hidden,
# so that two extensions that contain it do not meet in one process.

require 'mkmf'

root = File.expand_path('../..', __dir__)

# Where `libtavola.a` and `tavola.h` are: named by the environment, or shipped with the gem, or
# built in the checkout.
places = [
  [ENV['TAVOLA_LIB_DIR'], ENV['TAVOLA_INCLUDE_DIR']],
  [File.join(root, 'vendor', 'lib'), File.join(root, 'vendor', 'include')],
  [File.expand_path('../../target/release', root),
   File.expand_path('../../crates/tavola-capi/include', root)]
]
lib, include = places.find do |at, headers|
  at && headers && File.file?(File.join(at, 'libtavola.a')) &&
    File.file?(File.join(headers, 'tavola.h'))
end

unless lib
  abort 'libtavola.a and tavola.h were not found. Build them in the checkout with ' \
        '"cargo build --release --package tavola-capi", or set TAVOLA_LIB_DIR and ' \
        'TAVOLA_INCLUDE_DIR to the folders that hold them.'
end

# Ruby may move a thread to another thread of the system. From 3.4 on it can be told not to.
have_func('rb_thread_lock_native_thread', 'ruby/thread.h')

$VPATH << '$(srcdir)'
$INCFLAGS = "-I#{include} #{$INCFLAGS}"
$CFLAGS = "#{$CFLAGS} -std=gnu11 -Wall -Wextra -Wno-unused-parameter -fvisibility=hidden"
$warnflags = ''
$LOCAL_LIBS = "#{File.join(lib, 'libtavola.a')} #{$LOCAL_LIBS}"
$DLDFLAGS = "#{$DLDFLAGS} -Wl,--exclude-libs,ALL"
$libs = "#{$libs} -lpthread -ldl -lm -lc -lgcc_s"

create_makefile('tavola/tavola')
