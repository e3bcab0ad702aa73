// Part of harness.c: reads the job.

static const char *field(const char *text, const char *name) {
  char quoted[40];
  snprintf(quoted, sizeof quoted, "\"%s\":", name);
  const char *at = strstr(text, quoted);
  return at ? at + strlen(quoted) : NULL;
}

static uint64_t number(const char *text, const char *name, uint64_t missing) {
  const char *at = field(text, name);
  return at && *at != 'n' ? strtoull(at, NULL, 10) : missing;
}

static void word(const char *text, const char *name, char *out, size_t size) {
  const char *at = field(text, name);
  out[0] = 0;
  if (!at || *at != '"') return;
  size_t len = strcspn(at + 1, "\"");
  if (len >= size || memchr(at + 1, '\\', len)) fail("the job's %s is not understood", name);
  memcpy(out, at + 1, len);
  out[len] = 0;
}

static void read_job(const char *text) {
  word(text, "peer", job.peer, sizeof job.peer);
  word(text, "dir", job.dir, sizeof job.dir);
  word(text, "address", job.address, sizeof job.address);
  word(text, "file", job.file, sizeof job.file);
  word(text, "protocol", job.protocol, sizeof job.protocol);
  char letter[4], reply[16];
  word(text, "workload", letter, sizeof letter);
  word(text, "reply", reply, sizeof reply);
  job.workload = letter[0];
  job.noreply = strcmp(reply, "noreply") == 0;
  const char *timed = field(text, "timed");
  job.timed = timed && *timed == 't';
  job.keys = number(text, "keys", 0);
  job.key_bytes = number(text, "key_bytes", 8);
  job.value_bytes = number(text, "value_bytes", 8);
  job.procs = number(text, "procs", 1);
  job.proc = number(text, "proc", 0);
  job.loops = number(text, "loops", 0);
  job.batch = number(text, "batch", 0);
  uint64_t limit_ms = number(text, "limit_ms", 0);
  job.limit_ns = limit_ms ? limit_ms * 1000000 : UINT64_MAX;
  job.mix_ns = number(text, "mix_ms", 0) * 1000000;
  job.slice_ns = number(text, "slice_ms", 1000) * 1000000;
  if (!job.slice_ns) fail("the job's slices have no length");
  job.seed = number(text, "seed", 7);
  const char *phases = field(text, "phases");
  if (!phases || *phases != '[') fail("the job has no phases");
  for (const char *at = phases + 1; *at == '"' || *at == ',';) {
    if (*at == ',') {
      at++;
      continue;
    }
    size_t len = strcspn(++at, "\"");
    if (job.phase_count == 8 || len > 23) fail("the job's phases are not understood");
    memcpy(job.phases[job.phase_count++], at, len);
    at += len + 1;
  }
}
