//! Gives the shared library its name: the number is that of the ABI, and is raised when a program
//! that was built with an older one would not work any more.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libtavola_client.so.0");
    // A thread keeps what it holds for servers until it ends, which may be after a dlclose.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
