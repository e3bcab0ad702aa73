//! The handle of a running server.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use crate::net::acceptor::{Acceptor, Refusal};
use crate::net::counters::{Counters, Meter};
use crate::net::error::{Error, Result};
use crate::net::limits::raise_file_limit;
use crate::net::listen::{Address, Listen, Listener, SocketFile};
use crate::net::options::{Io, Limits, Options};
use crate::net::ring::Ring;
use crate::net::service::{self, Service};
use crate::net::shared::{AcceptorMessage, Message, Shared};
use crate::net::thread::Loop;

/// A server that runs. Dropping it is [`Server::stop`].
#[derive(Debug)]
pub struct Server {
    shared: Arc<Shared>,
    /// The listening sockets; the acceptor has them as well.
    sockets: Arc<[OwnedFd]>,
    files: Vec<SocketFile>,
    handed_over: bool,
    acceptor: Option<JoinHandle<()>>,
    threads: Vec<JoinHandle<()>>,
}

/// The result of a drain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drained {
    /// Whether each connection was closed with all it had asked for answered. If not, the time was
    /// over.
    pub complete: bool,
    /// The counters at the end.
    pub counters: Counters,
}

impl Server {
    pub(crate) fn start(options: Options, service: impl Service) -> Result<Self> {
        if options.listen.is_empty() {
            return Err(Error::NothingToListenOn);
        }
        raise_file_limit(options.max_connections)?;
        let mut setup = options.setup();
        let mut sockets = Vec::new();
        let mut files = Vec::new();
        for (listen, tls) in options.listen {
            if let Listen::Unix { mode, .. } = &listen {
                setup.socket_mode = Some(*mode);
            }
            let listener = Listener::open(listen, options.backlog)?;
            setup.addresses.push(listener.address);
            setup.tls.push(tls);
            setup.descriptors.push(listener.socket.as_raw_fd());
            sockets.push(listener.socket);
            files.extend(listener.file);
        }
        let action = "making an epoll or eventfd";
        let shared = Shared::new(options.threads, setup).map_err(Error::system(action))?;
        let shared = Arc::new(shared);
        let sockets: Arc<[OwnedFd]> = sockets.into();
        let acceptor = Acceptor::new(
            Arc::clone(&shared),
            Arc::clone(&sockets),
            options.max_connections,
            Refusal {
                usual: options.refusal,
                of_listeners: options.refusals,
            },
        );
        let acceptor = acceptor.map_err(Error::system(action))?;
        // From here on, an error drops the server, which ends the threads that run.
        let mut server = Self {
            shared,
            sockets,
            files,
            handed_over: false,
            acceptor: None,
            threads: Vec::new(),
        };
        let service = Arc::new(Mutex::new(service));
        let limits = options.limits;
        let (ready, started) = mpsc::channel();
        for index in 0..options.threads {
            server.start_thread(index, &service, &limits, ready.clone())?;
        }
        drop(ready);
        for _ in 0..options.threads {
            started.recv().map_err(|_| Error::System {
                action: "making the worker of a thread",
                source: io::Error::other("the service panicked"),
            })??;
        }
        server.acceptor = Some(spawn("tavola-accept".into(), move || acceptor.run())?);
        Ok(server)
    }

    fn start_thread<S: Service>(
        &mut self,
        index: usize,
        service: &Arc<Mutex<S>>,
        limits: &Limits,
        ready: mpsc::Sender<Result<()>>,
    ) -> Result<()> {
        let poll = Loop::<S::Worker>::poll(&self.shared, index)
            .map_err(Error::system("making an epoll or eventfd"))?;
        let thread = service::Thread {
            index,
            meter: self.meter(),
        };
        let shared = Arc::clone(&self.shared);
        let service = Arc::clone(service);
        let limits = limits.clone();
        let run = move || {
            let worker = service
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .worker(&thread);
            let (ring, made) = match ring(limits.io) {
                Ok(ring) => (ring, Ok(())),
                Err(error) => (None, Err(error)),
            };
            // Fails when another thread did, and the server is not started.
            let _ = ready.send(made);
            drop((service, ready));
            Loop::new(index, poll, ring, shared, worker, limits).run();
        };
        self.threads
            .push(spawn(format!("tavola-serve-{index}"), run)?);
        Ok(())
    }

    /// Returns the addresses that the server listens on, in the order of [`Options::listen`], with
    /// the ports that were bound.
    pub fn addresses(&self) -> &[Address] {
        &self.shared.setup.addresses
    }

    /// Returns a value that reads the counters, even after this handle is moved elsewhere.
    pub fn meter(&self) -> Meter {
        Meter {
            shared: Arc::clone(&self.shared),
        }
    }

    /// Returns the counters of all threads.
    pub fn counters(&self) -> Counters {
        self.meter().sum()
    }

    /// Copies the listening sockets, in the order of [`Server::addresses`], for a process that is
    /// to take over.
    ///
    /// # Errors
    ///
    /// If no more files may be open.
    pub fn sockets(&self) -> Result<Vec<OwnedFd>> {
        let copies = self.sockets.iter().map(OwnedFd::try_clone);
        let copies = copies.collect::<Result<_, _>>();
        copies.map_err(|source| Error::System {
            action: "copying a listening socket",
            source,
        })
    }

    /// Notes that another process has taken over with the [`Server::sockets`]. From then on this
    /// server leaves the files of Unix sockets in place when it ends, and a drain leaves the
    /// connections in the kernel's queues to the other process.
    pub fn hand_over(&mut self) {
        self.handed_over = true;
        for file in self.files.drain(..) {
            file.keep();
        }
    }

    /// Shuts down gracefully: accepts no more connections, answers what clients have asked, and
    /// closes each connection when that is done. Connections that are still open after `within` are
    /// closed then.
    ///
    /// A connection with half a request may send the rest in that time. Connections in the kernel's
    /// queues are served first, unless the sockets were handed over.
    pub fn drain(mut self, within: Duration) -> Drained {
        let until = Instant::now() + within;
        self.end_acceptor(!self.handed_over);
        for thread in &self.shared.threads {
            thread.mailbox.push(Message::Drain(until));
        }
        let mut complete = true;
        for thread in std::mem::take(&mut self.threads) {
            complete &= thread.join().is_ok();
        }
        let counters = self.counters();
        Drained {
            complete: complete && counters.cut_off == 0,
            counters,
        }
    }

    /// Ends at once: closes all connections. Answers that are not sent are lost.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.end_acceptor(false);
        for thread in &self.shared.threads {
            thread.mailbox.push(Message::Stop);
        }
        for thread in self.threads.drain(..) {
            // A thread that panicked has printed why, and has nothing to close any more.
            let _ = thread.join();
        }
    }

    /// Ends the acceptor and closes the listening sockets. A process that took over still listens
    /// on its copies.
    fn end_acceptor(&mut self, accept_queued: bool) {
        if let Some(thread) = self.acceptor.take() {
            let end = AcceptorMessage::End { accept_queued };
            self.shared.acceptor.push(end);
            let _ = thread.join();
        }
        self.files.clear();
        self.sockets = Arc::new([]);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

/// Makes the io_uring for the calling thread. The thread that uses a ring has to make it: when a
/// ring goes, the kernel interrupts the thread that made it, even in a system call of its own.
fn ring(io: Io) -> Result<Option<Ring>> {
    match io {
        Io::Auto => Ok(Ring::new().ok()),
        Io::Epoll => Ok(None),
        Io::Uring => Ring::new().map(Some).map_err(|source| Error::System {
            action: "making an io_uring",
            source,
        }),
    }
}

fn spawn(name: String, run: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    let started = Builder::new().name(name).spawn(run);
    started.map_err(|source| Error::System {
        action: "starting a thread",
        source,
    })
}
