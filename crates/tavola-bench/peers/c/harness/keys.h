// Part of harness.c: keys, values, and the order in which keys are asked for.

static uint64_t mix64(uint64_t index) {
  index *= 0x9e3779b97f4a7c15u;
  return index ^ index >> 32;
}

static inline struct span value_of(uint64_t word) {
  char *at = filled.data;
  size_t len = job.value_bytes;
  if (len == 8) {
    memcpy(at, &word, 8);
  } else {
    size_t done = 0;
    for (; done + 8 <= len; done += 8) memcpy(at + done, &word, 8);
    memcpy(at + done, &word, len - done);
  }
  return (struct span){at, len};
}

static inline bool holds(const void *data, size_t len, uint64_t word) {
  if (len != job.value_bytes) return false;
  if (len == 8) return memcmp(data, &word, 8) == 0;
  const char *at = data;
  uint64_t other = 0, part;
  size_t done = 0;
  for (; done + 8 <= len; done += 8) {
    memcpy(&part, at + done, 8);
    other |= part ^ word;
  }
  return other == 0 && memcmp(at + done, &word, len - done) == 0;
}

// Each index of a share once, in order or not.
struct order {
  uint64_t start, count, mask, walker, left;
  bool shuffled;
};

static struct order order_of(uint64_t start, uint64_t count, bool shuffled, uint64_t seed) {
  struct order order = {start, count, 0, 0, count, shuffled};
  if (shuffled) {
    uint64_t bits = count > 1 ? 64 - __builtin_clzll(count - 1) : 0;
    order.mask = bits ? UINT64_MAX >> (64 - bits) : 0;
    order.walker = seed * (0x9e3779b97f4a7c15u ^ seed << 32);
    order.left = count ? order.mask + 1 : 0;
  }
  return order;
}

static unsigned next(struct order *order, uint64_t *out, unsigned most) {
  unsigned len = 0;
  if (!order->shuffled) {
    for (; len < most && order->left; len++) out[len] = order->start + order->count - order->left--;
    return len;
  }
  while (len < most && order->left) {
    uint64_t at = order->walker & order->mask;
    at = (at ^ at >> 11) * 0xd1b54a32d192ed03u & order->mask;
    order->walker += 0x9e3779b97f4a7c15u;
    order->left--;
    out[len] = order->start + at;
    len += at < order->count;
  }
  return len;
}
