//! Memcached's options of TLS: `-Z`, and those of `-o` that begin with `ssl_`.

use std::path::PathBuf;

use tavola_server::TlsFiles;

/// What is said of TLS, whether it is asked for or not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Secure {
    /// One of the options that were given.
    named: Option<String>,
    chain: Option<PathBuf>,
    key: Option<PathBuf>,
    authorities: Option<PathBuf>,
    clients: Clients,
    is_newest_only: bool,
}

/// `ssl_verify_mode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Clients {
    #[default]
    ShowNothing,
    MayShow,
    Show,
}

impl Secure {
    /// Takes one option.
    pub fn take(&mut self, name: &str, value: Option<&str>) -> Result<(), String> {
        let given = value.filter(|value| !value.is_empty());
        let given = given.ok_or_else(|| format!("-o {name} needs a value"));
        let file = || given.clone().map(|value| Some(PathBuf::from(value)));
        match name {
            "ssl_chain_cert" => self.chain = file()?,
            "ssl_key" => self.key = file()?,
            "ssl_ca_cert" => self.authorities = file()?,
            "ssl_verify_mode" => {
                self.clients = match given? {
                    "0" => Clients::ShowNothing,
                    "1" => Clients::MayShow,
                    // Both to let nobody in without; there is nothing that would ask again.
                    "2" | "3" => Clients::Show,
                    _ => return Err("-o ssl_verify_mode is 0, 1, 2 or 3".into()),
                }
            }
            "ssl_min_version" => {
                self.is_newest_only = match given? {
                    "2" => false,
                    "3" => true,
                    "0" | "1" => {
                        return Err(
                            "TLS 1.0 and 1.1 are not supported: give ssl_min_version=2, \
                            or leave it out"
                                .into(),
                        );
                    }
                    _ => return Err("-o ssl_min_version is 2 or 3".into()),
                }
            }
            "ssl_keyformat" if given.as_ref().is_ok_and(|value| *value == "1") => {}
            "ssl_keyformat" => {
                return Err(
                    "only keys in PEM format are supported: convert the key, and leave \
                    out ssl_keyformat"
                        .into(),
                );
            }
            "ssl_ciphers" => {
                return Err("ciphers cannot be chosen: leave out ssl_ciphers".into());
            }
            // Sessions are always resumed; the other two are of OpenSSL.
            "ssl_session_cache" | "ssl_kernel_tls" => {}
            "ssl_wbuf_size" => drop(given?),
            _ => return Err(format!("-o {name} is not an option of memcached")),
        }
        self.named = Some(name.to_string());
        Ok(())
    }

    /// What TLS is spoken with, if it is.
    pub fn files(&self, is_enabled: bool) -> Result<Option<TlsFiles>, String> {
        if !is_enabled {
            return match &self.named {
                Some(name) => Err(format!("-o {name} is for TLS: add -Z, or leave it out")),
                None => Ok(None),
            };
        }
        let chain = self.chain.as_ref().ok_or(
            "-Z needs a certificate: -o ssl_chain_cert=FILE, and ssl_key=FILE if that has no key",
        )?;
        let clients = match (self.clients, &self.authorities) {
            (Clients::ShowNothing, _) => None,
            (_, Some(authorities)) => Some(authorities.clone()),
            (_, None) => {
                return Err("-o ssl_verify_mode needs CA certificates: -o ssl_ca_cert=FILE".into());
            }
        };
        Ok(Some(TlsFiles {
            clients,
            is_optional: self.clients == Clients::MayShow,
            is_newest_only: self.is_newest_only,
            ..TlsFiles::new(chain, self.key.as_ref().unwrap_or(chain))
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(options: &str, is_enabled: bool) -> Result<Option<TlsFiles>, String> {
        let mut secure = Secure::default();
        for option in options.split(',').filter(|option| !option.is_empty()) {
            let (name, value) = match option.split_once('=') {
                None => (option, None),
                Some((name, value)) => (name, Some(value)),
            };
            secure.take(name, value)?;
        }
        secure.files(is_enabled)
    }

    #[test]
    fn files_are_named_as_for_memcached() {
        let both = TlsFiles::new("c", "k");
        let named = read("ssl_chain_cert=c,ssl_key=k", true);
        assert_eq!(named, Ok(Some(both.clone())));
        let one = TlsFiles::new("c", "c");
        let alone = "ssl_chain_cert=c,ssl_ca_cert=a,ssl_session_cache,ssl_wbuf_size=16";
        assert_eq!(read(alone, true), Ok(Some(one)));
        let strict = TlsFiles {
            clients: Some("a".into()),
            is_optional: false,
            is_newest_only: true,
            ..both
        };
        for mode in ["2", "3"] {
            let options = format!(
                "ssl_chain_cert=c,ssl_key=k,ssl_ca_cert=a,ssl_verify_mode={mode},\
                 ssl_min_version=3,ssl_keyformat=1"
            );
            assert_eq!(read(&options, true), Ok(Some(strict.clone())));
        }
        let asks = read("ssl_chain_cert=c,ssl_ca_cert=a,ssl_verify_mode=1", true);
        assert!(
            asks.unwrap()
                .is_some_and(|files| !files.are_clients_known())
        );
        assert_eq!(read("", false), Ok(None));
    }

    #[test]
    fn what_would_not_be_as_asked_is_refused() {
        for (options, is_enabled) in [
            ("", true),
            ("ssl_key=k", true),
            ("ssl_chain_cert=c", false),
            ("ssl_chain_cert", true),
            ("ssl_chain_cert=", true),
            ("ssl_chain_cert=c,ssl_verify_mode=2", true),
            ("ssl_chain_cert=c,ssl_verify_mode=4", true),
            ("ssl_chain_cert=c,ssl_min_version=1", true),
            ("ssl_chain_cert=c,ssl_ciphers=HIGH", true),
            ("ssl_chain_cert=c,ssl_keyformat=2", true),
            ("ssl_chain_cert=c,ssl_other=2", true),
        ] {
            assert!(read(options, is_enabled).is_err(), "{options}");
        }
    }
}
