# frozen_string_literal: true

# Makes the Makefile of tavola/servers, the memcached client. It is an extension of its own, which
# `tavola/client` loads when a client has servers: a program with tables alone has no use for it.
# The library is linked statically, and its symbols are hidden.

require 'mkmf'

root = File.expand_path('../..', __dir__)

# Where `libtavola_client.a` and `tavola_client.h` are: named by the environment, or shipped with
# the gem, or built in the checkout.
places = [
  [ENV['TAVOLA_CLIENT_LIB_DIR'], ENV['TAVOLA_CLIENT_INCLUDE_DIR']],
  [File.join(root, 'vendor', 'lib'), File.join(root, 'vendor', 'include')],
  [File.expand_path('../../target/release', root),
   File.expand_path('../../crates/tavola-client-capi/include', root)]
]
lib, include = places.find do |at, headers|
  at && headers && File.file?(File.join(at, 'libtavola_client.a')) &&
    File.file?(File.join(headers, 'tavola_client.h'))
end

unless lib
  abort 'libtavola_client.a and tavola_client.h were not found. Build them in the checkout with ' \
        '"cargo build --release --package tavola-client-capi", or set TAVOLA_CLIENT_LIB_DIR and ' \
        'TAVOLA_CLIENT_INCLUDE_DIR to the folders that hold them.'
end

$VPATH << '$(srcdir)'
$INCFLAGS = "-I#{include} #{$INCFLAGS}"
$CFLAGS = "#{$CFLAGS} -std=gnu11 -Wall -Wextra -Wno-unused-parameter -fvisibility=hidden"
$warnflags = ''
$LOCAL_LIBS = "#{File.join(lib, 'libtavola_client.a')} #{$LOCAL_LIBS}"
$DLDFLAGS = "#{$DLDFLAGS} -Wl,--exclude-libs,ALL"
$libs = "#{$libs} -lpthread -ldl -lm -lc -lgcc_s"

create_makefile('tavola/servers')
