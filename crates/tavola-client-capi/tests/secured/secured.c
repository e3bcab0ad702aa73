// Sets and gets a key with the login and the TLS that the environment names, and prints what became
// of the get and the last error.

#include "../c/check.h"

int main(void) {
  tavola_mc_options options = TAVOLA_MC_INIT(tavola_mc_options);
  tavola_mc_client *client = NULL;
  char bytes[8];
  tavola_mc_value value = TAVOLA_MC_VALUE(bytes, sizeof bytes);
  const char *login = getenv("MC_LOGIN");
  options.login = login == NULL ? 0 : atoi(login);
  options.user = getenv("MC_USER");
  options.password = getenv("MC_PASSWORD");
  options.tls_authorities = getenv("MC_AUTHORITIES");
  options.tls_certificate = getenv("MC_CERTIFICATE");
  options.tls_key = getenv("MC_KEY");
  options.tls_name = getenv("MC_NAME");
  options.tls = options.tls_authorities != NULL;
  CHECK_IS(OK, tavola_mc_open(servers(), &options, &client));
  tavola_mc_set(client, TAVOLA_MC_STR("k"), TAVOLA_MC_STR("v"), NULL);
  tavola_mc_status status = tavola_mc_get(client, TAVOLA_MC_STR("k"), &value);
  printf("%s %s", tavola_mc_status_name(status), tavola_mc_last_error());
  tavola_mc_close(client);
  return 0;
}
