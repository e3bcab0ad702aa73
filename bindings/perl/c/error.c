/* Errors: every one is thrown as an object by Tavola::Error. */
#include "tvl.h"

static void throw_text(pTHX_ int32_t status, SV *message, int os_error) __attribute__((noreturn));

static void throw_text(pTHX_ int32_t status, SV *message, int os_error) {
  dSP;
  ENTER;
  SAVETMPS;
  PUSHMARK(SP);
  EXTEND(SP, 4);
  PUSHs(sv_2mortal(newSViv(status)));
  PUSHs(sv_2mortal(newSVpv(tavola_status_name(status), 0)));
  PUSHs(sv_2mortal(message));
  PUSHs(sv_2mortal(newSViv(os_error)));
  PUTBACK;
  call_pv("Tavola::Error::_throw", G_DISCARD | G_VOID);
  croak("Tavola::Error::_throw has returned");
}

/* Throws the last error of the library, with its sentence as it is. */
void tvl_throw(pTHX_ int32_t status) {
  SV *message = newSVpv(tavola_last_error(), 0);
  SvUTF8_on(message);
  throw_text(aTHX_ status, message, tavola_last_os_error());
}

/* Throws an error of the binding itself: a wrong argument, or an invalid option. */
static void throw_own(pTHX_ int32_t status, const char *pattern, va_list *args)
    __attribute__((noreturn));

static void throw_own(pTHX_ int32_t status, const char *pattern, va_list *args) {
  throw_text(aTHX_ status, vnewSVpvf(pattern, args), 0);
}

void tvl_argument(pTHX_ const char *pattern, ...) {
  va_list args;
  va_start(args, pattern);
  throw_own(aTHX_ TAVOLA_ERR_ARGUMENT, pattern, &args);
}

void tvl_bad_option(pTHX_ const char *pattern, ...) {
  va_list args;
  va_start(args, pattern);
  throw_own(aTHX_ TAVOLA_ERR_BAD_OPTION, pattern, &args);
}

void tvl_unknown_option(pTHX_ SV *name) {
  tvl_argument(aTHX_ "there is no option '%" SVf "'; see the documentation of the method",
               SVfARG(name));
}
