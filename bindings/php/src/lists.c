#include "php_tavola.h"
#include "lists.h"

bool tavola_add_bytes(tavola_texts *texts, const void *bytes, size_t len)
{
	if (texts->len + len > texts->room) {
		size_t room = MAX(2 * texts->room, texts->len + len + 256);
		char *more = realloc(texts->bytes, room);
		if (more == NULL) {
			return false;
		}
		texts->bytes = more;
		texts->room = room;
	}
	if (len > 0) {
		memcpy(texts->bytes + texts->len, bytes, len);
	}
	texts->len += len;
	return true;
}

void tavola_add_text(void *user, const char *text, size_t len)
{
	tavola_texts *texts = user;
	size_t before = texts->len;
	if (!tavola_add_bytes(texts, &len, sizeof(len)) || !tavola_add_bytes(texts, text, len)) {
		texts->len = before;
	}
}

void tavola_take_texts(tavola_texts *texts, zval *array)
{
	for (size_t at = 0; at < texts->len;) {
		size_t len;
		memcpy(&len, texts->bytes + at, sizeof(len));
		add_next_index_stringl(array, texts->bytes + at + sizeof(len), len);
		at += sizeof(len) + len;
	}
	free(texts->bytes);
	memset(texts, 0, sizeof(*texts));
}
