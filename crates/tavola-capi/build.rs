//! Gives the shared library its name: the number is that of the ABI, and is raised when a program
//! that was built with an older one would not work any more.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libtavola.so.0");
    // Its threads (a watch, background work) may outlive a dlclose.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
