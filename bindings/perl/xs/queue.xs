MODULE = Tavola    PACKAGE = Tavola::Queue

SV *
open(const char *class_name, SV *name, ...)
  CODE:
    PERL_UNUSED_VAR(name);
    RETVAL = tvl_queue_open(aTHX_ class_name, &ST(1), (I32)items - 1);
  OUTPUT:
    RETVAL

bool
push(SV *self, SV *job, SV *timeout = NULL)
  CODE:
    RETVAL = tvl_queue_push(aTHX_ tvl_queue_of(aTHX_ self), job,
                            timeout != NULL ? tvl_wait_ms(aTHX_ timeout) : 0);
  OUTPUT:
    RETVAL

void
pop(SV *self, SV *timeout = NULL)
  PREINIT:
    tvl_queue *queue;
    uint32_t element = 0;
    SV *value;
  PPCODE:
    queue = tvl_queue_of(aTHX_ self);
    if (!tvl_queue_pop(aTHX_ queue, timeout != NULL ? tvl_wait_ms(aTHX_ timeout) : 0,
                       &element)) {
      XSRETURN_UNDEF;
    }
    value = sv_2mortal(tvl_queue_value(aTHX_ queue, element));
    checked(aTHX_ tvl_queue_finish(queue, element));
    XPUSHs(value);

void
job(SV *self, SV *timeout = NULL)
  PREINIT:
    uint32_t element = 0;
  PPCODE:
    if (!tvl_queue_pop(aTHX_ tvl_queue_of(aTHX_ self),
                       timeout != NULL ? tvl_wait_ms(aTHX_ timeout) : 0, &element)) {
      XSRETURN_UNDEF;
    }
    XPUSHs(sv_2mortal(tvl_queue_new_job(aTHX_ self, element)));

UV
size(SV *self)
  CODE:
    RETVAL = tavola_queue_len(tvl_queue_of(aTHX_ self)->jobs);
  OUTPUT:
    RETVAL

UV
places(SV *self)
  CODE:
    RETVAL = tavola_pool_elements(tvl_queue_of(aTHX_ self)->pool);
  OUTPUT:
    RETVAL

UV
job_bytes(SV *self)
  PREINIT:
    tvl_queue *queue;
  CODE:
    queue = tvl_queue_of(aTHX_ self);
    RETVAL = tavola_pool_element_bytes(queue->pool) - (queue->is_json ? 8 : 4);
  OUTPUT:
    RETVAL

UV
reclaim(SV *self)
  CODE:
    RETVAL = tvl_queue_reclaim(aTHX_ tvl_queue_of(aTHX_ self));
  OUTPUT:
    RETVAL

void
path(SV *self)
  PREINIT:
    const char *path;
  PPCODE:
    path = tavola_pool_path(tvl_queue_of(aTHX_ self)->pool);
    mXPUSHp(path, strlen(path));

void
close(SV *self)
  PREINIT:
    tvl_common *common;
  CODE:
    common = tvl_take_pointer(aTHX_ self, &tvl_queue_vtbl);
    if (common != NULL) {
      tvl_common_drop(common);
    }

MODULE = Tavola    PACKAGE = Tavola::Job

SV *
value(SV *self)
  PREINIT:
    tvl_job *job;
  CODE:
    job = tvl_pointer(aTHX_ self, &tvl_job_vtbl, "Tavola::Job");
    RETVAL = tvl_queue_value(aTHX_ (tvl_queue *)job->queue->pointer, job->element);
  OUTPUT:
    RETVAL

bool
done(SV *self)
  CODE:
    RETVAL = tvl_job_end(aTHX_ self, true);
  OUTPUT:
    RETVAL

bool
back(SV *self)
  CODE:
    RETVAL = tvl_job_end(aTHX_ self, false);
  OUTPUT:
    RETVAL
