/* The flags of values, as php-memcached stores them. */

#ifndef TAVOLA_MEMCACHED_VALUE_FLAGS_H
#define TAVOLA_MEMCACHED_VALUE_FLAGS_H

/* The low four bits say what the bytes are. */
#define TYPE_MASK 0xFu
#define TYPE_STRING 0
#define TYPE_LONG 1
#define TYPE_DOUBLE 2
#define TYPE_BOOL 3
#define TYPE_SERIALIZED 4
#define TYPE_IGBINARY 5
#define TYPE_JSON 6
#define TYPE_MSGPACK 7

#define FLAG_COMPRESSED (1u << 4)
#define FLAG_ZLIB (1u << 5)
#define FLAG_FASTLZ (1u << 6)

/* The high 16 bits are the program's. */
#define USER_SHIFT 16

/* The length before the bytes of a compressed value. */
#define LENGTH_BYTES 4

#endif
