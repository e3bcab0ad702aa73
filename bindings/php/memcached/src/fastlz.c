/*
 * FastLZ, from the published description of its format.
 *
 * The first three bits of an instruction say what it is: 0 begins a run of literals, 1 to 6 copy
 * that many bytes and two more, 7 copies nine and as many as the next bytes say. A copy begins at a
 * distance back: five bits of the instruction and a byte. The first instruction is a run, and its
 * first three bits are the level instead. Level 2, which long inputs have, adds lengths beyond one
 * byte, and distances beyond 13 bits.
 */

#include "memcached.h"

#define MOST_LITERALS 32
#define LEAST_COPY 3
#define MOST_COPY 264
#define MOST_DISTANCE 8192
#define HASH_BITS 13

/* {{{ Reading */

typedef struct {
	const unsigned char *at;
	const unsigned char *end;
} reader;

static bool next_byte(reader *in, size_t *byte)
{
	if (in->at == in->end) {
		return false;
	}
	*byte = *in->at++;
	return true;
}

/* Reads what follows an instruction that copies. */
static bool read_copy(reader *in, unsigned instruction, bool is_level_2, size_t *len, size_t *back)
{
	size_t byte, high;
	*len = (instruction >> 5) + 2;
	if (instruction >> 5 == 7) {
		do {
			if (!next_byte(in, &byte)) {
				return false;
			}
			*len += byte;
		} while (is_level_2 && byte == 255);
	}
	if (!next_byte(in, &byte)) {
		return false;
	}
	*back = ((size_t)(instruction & 31) << 8) + byte + 1;
	if (is_level_2 && byte == 255 && (instruction & 31) == 31) {
		if (!next_byte(in, &high) || !next_byte(in, &byte)) {
			return false;
		}
		*back = (high << 8) + byte + MOST_DISTANCE;
	}
	return true;
}

bool mc_fastlz_decompress(
	const unsigned char *data, size_t in_len, unsigned char *out, size_t out_len)
{
	reader in = {data, data + in_len};
	size_t written = 0;
	if (in_len == 0 || *data >> 5 > 1) {
		return false;
	}
	bool is_level_2 = *data >> 5 == 1;
	bool is_first = true;
	while (in.at < in.end) {
		unsigned instruction = *in.at++;
		size_t len, back;
		if (is_first || instruction >> 5 == 0) {
			len = (instruction & 31) + 1;
			if (len > (size_t)(in.end - in.at) || len > out_len - written) {
				return false;
			}
			memcpy(out + written, in.at, len);
			in.at += len;
			written += len;
			is_first = false;
			continue;
		}
		if (!read_copy(&in, instruction, is_level_2, &len, &back) || back > written
				|| len > out_len - written) {
			return false;
		}
		/* The copy may repeat what it writes. */
		for (size_t i = 0; i < len; i++, written++) {
			out[written] = out[written - back];
		}
	}
	return written == out_len;
}

/* }}} */

/* {{{ Writing, in level 1 */

static unsigned char *write_literals(unsigned char *out, const unsigned char *from, size_t len)
{
	while (len > 0) {
		size_t part = len < MOST_LITERALS ? len : MOST_LITERALS;
		*out++ = (unsigned char)(part - 1);
		memcpy(out, from, part);
		out += part;
		from += part;
		len -= part;
	}
	return out;
}

static unsigned char *write_copy(unsigned char *out, size_t len, size_t back)
{
	size_t distance = back - 1;
	while (len > 0) {
		/* What is left is never too short for a copy. */
		size_t part = len <= MOST_COPY ? len : MOST_COPY;
		if (len > part && len - part < LEAST_COPY) {
			part = len - LEAST_COPY;
		}
		if (part < 9) {
			*out++ = (unsigned char)(((part - 2) << 5) | (distance >> 8));
		} else {
			*out++ = (unsigned char)((7 << 5) | (distance >> 8));
			*out++ = (unsigned char)(part - 9);
		}
		*out++ = (unsigned char)distance;
		len -= part;
	}
	return out;
}

static uint32_t three_bytes(const unsigned char *at)
{
	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16;
}

static size_t same_bytes(const unsigned char *in, size_t older, size_t at, size_t len)
{
	size_t same = LEAST_COPY;
	while (at + same < len && in[older + same] == in[at + same]) {
		same++;
	}
	return same;
}

size_t mc_fastlz_compress(const unsigned char *in, size_t len, unsigned char *out)
{
	uint32_t last[1 << HASH_BITS];
	unsigned char *start = out;
	size_t at = 1, literals = 0;
	memset(last, 0, sizeof(last));
	while (at + LEAST_COPY <= len) {
		uint32_t bytes = three_bytes(in + at);
		uint32_t *place = &last[(bytes * 2654435769u) >> (32 - HASH_BITS)];
		size_t older = *place;
		*place = (uint32_t)at;
		if (older >= at || at - older > MOST_DISTANCE || three_bytes(in + older) != bytes) {
			at++;
			continue;
		}
		size_t same = same_bytes(in, older, at, len);
		out = write_literals(out, in + literals, at - literals);
		out = write_copy(out, same, at - older);
		at += same;
		literals = at;
	}
	return write_literals(out, in + literals, len - literals) - start;
}

/* }}} */
