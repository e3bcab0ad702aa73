//! Which file of the core defines what a path names.
//!
//! A name is followed through imports and re-exports to the file it is from: if `queue/mod.rs` has
//! `pub use pool::Pool`, the path `crate::queue::Pool` leads to `queue/pool.rs`.

use super::layers::{CORE, module_of, resolve};
use super::methods::{self, Methods};
use super::paths::{self, Named};
use super::tree::Tree;
use std::collections::BTreeMap;

/// The names from the crate's root to a module or to what is in it.
pub(super) type Place = Vec<String>;

/// A type to which the files of its module add methods.
const SPREAD: &str = "Core";
/// Re-exports of re-exports that are followed.
const MOST_STEPS: usize = 8;

/// A file that is a module.
#[derive(Default)]
struct Module {
    /// What it imports: name → where that is from.
    imports: BTreeMap<String, Place>,
    paths: Vec<Named>,
    methods: Methods,
}

/// The files of the core, without tests and models.
pub(super) struct Modules {
    all: BTreeMap<Place, Module>,
}

impl Modules {
    pub(super) fn read(tree: &Tree) -> Self {
        let mut all = BTreeMap::new();
        for file in tree.rust_files() {
            let Some(inner) = file.path.strip_prefix(CORE) else {
                continue;
            };
            let place = module_of(inner);
            let is_test = |name: &String| name == "tests" || name == "models";
            if place.iter().any(is_test) {
                continue;
            }
            let mut paths = paths::read(&file.text).unwrap_or_default().paths;
            paths.retain(|path| !path.is_in_tests());
            let module = Module {
                imports: BTreeMap::new(),
                paths,
                methods: methods::read(&file.text, SPREAD),
            };
            all.insert(place, module);
        }
        let mut modules = Self { all };
        for place in modules.places() {
            let imports = modules.imports_of(&place);
            modules.all.entry(place).or_default().imports = imports;
        }
        modules
    }

    pub(super) fn places(&self) -> Vec<Place> {
        self.all.keys().cloned().collect()
    }

    fn imports_of(&self, place: &Place) -> BTreeMap<String, Place> {
        let mut imports = BTreeMap::new();
        for path in self.all.get(place).into_iter().flat_map(|of| &of.paths) {
            if let Some(name) = &path.imported
                && path.modules.is_empty()
                && let Some(target) = self.target(place, path)
            {
                imports.insert(name.clone(), target);
            }
        }
        imports
    }

    /// Returns where a path leads, as it is written; `None` if that is outside the core.
    fn target(&self, place: &Place, path: &Named) -> Option<Place> {
        let mut target = resolve(place, path);
        if target.is_empty() {
            let [first, rest @ ..] = &path.segments[..] else {
                return None;
            };
            let child: Place = place.iter().chain([first]).cloned().collect();
            target = match self.all.contains_key(&child) {
                true => child,
                false if first == "self" => place.clone(),
                // `ring::take()` below `use super::ring`.
                false => self.all.get(place)?.imports.get(first)?.clone(),
            };
            target.extend(rest.iter().cloned());
        }
        target.retain(|name| name != "self");
        Some(target)
    }

    /// Returns the files whose definitions a file uses, by paths or as methods.
    pub(super) fn used_by(&self, place: &Place) -> Vec<Place> {
        let Some(module) = self.all.get(place) else {
            return Vec::new();
        };
        let by_path = (module.paths.iter())
            .filter_map(|path| self.target(place, path))
            .filter_map(|target| self.file_of(&target, MOST_STEPS));
        let called = &module.methods.called;
        let defines_one = |other: &Module| !other.methods.defined.is_disjoint(called);
        let by_method = (self.all.iter())
            .filter(|(_, other)| defines_one(other))
            .map(|(place, _)| place.clone());
        by_path.chain(by_method).collect()
    }

    /// Returns the file that defines what is at `target`; `None` if that is a whole module.
    fn file_of(&self, target: &[String], steps: usize) -> Option<Place> {
        let is_module = |len: &usize| self.all.contains_key(&target[..*len]);
        let len = (0..target.len()).rev().find(is_module)?;
        let (place, rest) = target.split_at(len);
        let module = self.all.get(place)?;
        match module.imports.get(&rest[0]) {
            Some(from) if steps > 0 && !from.starts_with(target) => {
                let next: Place = from.iter().chain(&rest[1..]).cloned().collect();
                self.file_of(&next, steps - 1)
            }
            _ if self.all.contains_key(target) => None,
            _ => Some(place.to_vec()),
        }
    }
}
