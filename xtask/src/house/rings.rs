//! Rings: files of a crate that depend on each other, directly or through others.
//!
//! A file depends on another if it names something of it by `crate::`, `super::`, `self::` or a child module. Names that are
//! imported through a re-export depend on the file that declares them. Edges between a module and the modules below it are
//! left out, because parents always know their children.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    source::SourceCrate,
    syntax::{FilePaths, UsedPath, read_paths},
};

/// Re-exports that are followed from one name to its declaration.
const MAX_REEXPORTS: usize = 6;

/// Path of a module below the crate.
type Module = Vec<String>;

/// A module, and a name in it where the path goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Target {
    module: Module,
    name: Option<String>,
}

/// Use of one file by another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Dependency {
    /// Line of its first mention.
    pub(super) line: usize,
    /// Names that are used; empty for the module itself.
    pub(super) names: BTreeSet<String>,
}

/// A file of a ring with its dependencies within the ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RingFile {
    /// Path from the root of the workspace.
    pub(super) path: String,
    /// Module path, with `::`.
    pub(super) module: String,
    /// Dependencies by module path.
    pub(super) uses: BTreeMap<String, Dependency>,
}

/// Dependencies between the files of a crate.
struct FileGraph<'a> {
    /// Paths from the root of the workspace.
    files: BTreeMap<Module, &'a str>,
    edges: BTreeMap<Module, BTreeMap<Module, Dependency>>,
}

/// Finds the rings of a crate, the largest first.
pub(super) fn find(source: &SourceCrate) -> Vec<Vec<RingFile>> {
    let graph = FileGraph::new(source);
    let mut rings: Vec<_> = Components::find(&graph.edges)
        .into_iter()
        .filter(|component| component.len() > 1)
        .map(|component| graph.describe(&component))
        .collect();
    rings.sort_by_key(|ring| std::cmp::Reverse(ring.len()));
    rings
}

impl<'a> FileGraph<'a> {
    fn new(source: &'a SourceCrate) -> Self {
        let mut files: BTreeMap<Module, &str> = BTreeMap::new();
        let mut paths: BTreeMap<Module, FilePaths> = BTreeMap::new();
        for file in &source.files {
            // the root of a crate comes second: main.rs beside lib.rs is a crate of its own
            files.entry(file.module.clone()).or_insert(&file.path);
            paths
                .entry(file.module.clone())
                .or_insert_with(|| read_paths(&file.text));
        }
        remove_test_modules(&mut files, &mut paths);
        let reexports = collect_reexports(&files, &paths);
        let mut edges: BTreeMap<Module, BTreeMap<Module, Dependency>> = BTreeMap::new();
        for (module, found) in &paths {
            for path in &found.paths {
                let Some(target) = resolve(&files, module, path) else {
                    continue;
                };
                let target = follow(&reexports, target);
                if module.starts_with(&target.module) || target.module.starts_with(module) {
                    continue;
                }
                let uses = edges.entry(module.clone()).or_default();
                let dependency = uses.entry(target.module).or_insert_with(|| Dependency {
                    line: path.line,
                    names: BTreeSet::new(),
                });
                dependency.names.extend(target.name);
            }
        }
        Self { files, edges }
    }

    /// Files of a component with the edges within it.
    fn describe(&self, component: &BTreeSet<Module>) -> Vec<RingFile> {
        let describe = |module: &Module| {
            let edges = self.edges.get(module).into_iter().flatten();
            RingFile {
                path: self.files.get(module).copied().unwrap_or_default().to_owned(),
                module: module.join("::"),
                uses: edges
                    .filter(|(target, _)| component.contains(*target))
                    .map(|(target, dependency)| (target.join("::"), dependency.clone()))
                    .collect(),
            }
        };
        component.iter().map(describe).collect()
    }
}

/// Removes the files that a file declares as modules for tests.
fn remove_test_modules(files: &mut BTreeMap<Module, &str>, paths: &mut BTreeMap<Module, FilePaths>) {
    let mut removed: Vec<Module> = Vec::new();
    for (module, found) in paths.iter() {
        for name in &found.test_modules {
            removed.push(child(module, name));
        }
    }
    let is_kept = |module: &Module| !removed.iter().any(|test| module.starts_with(test));
    files.retain(|module, _| is_kept(module));
    paths.retain(|module, _| is_kept(module));
}

/// Targets of public `use` declarations by module and name.
fn collect_reexports(
    files: &BTreeMap<Module, &str>,
    paths: &BTreeMap<Module, FilePaths>,
) -> BTreeMap<Module, BTreeMap<String, Target>> {
    let mut reexports: BTreeMap<Module, BTreeMap<String, Target>> = BTreeMap::new();
    for (module, found) in paths {
        for path in found.paths.iter().filter(|path| path.is_reexport) {
            if let (Some(name), Some(target)) = (&path.name, resolve(files, module, path)) {
                let names = reexports.entry(module.clone()).or_default();
                names.insert(name.clone(), target);
            }
        }
    }
    reexports
}

/// The declaration behind a name that may be a re-export.
fn follow(reexports: &BTreeMap<Module, BTreeMap<String, Target>>, mut target: Target) -> Target {
    for _ in 0..MAX_REEXPORTS {
        let next = target
            .name
            .as_ref()
            .and_then(|name| reexports.get(&target.module)?.get(name));
        match next {
            Some(next) if *next != target => target = next.clone(),
            _ => break,
        }
    }
    target
}

/// The file in which a path leads to a name; `None` for paths into other crates.
fn resolve(files: &BTreeMap<Module, &str>, module: &Module, path: &UsedPath) -> Option<Target> {
    let mut here = module.clone();
    here.extend(path.inline_modules.iter().cloned());
    let mut segments = path.segments.iter().peekable();
    match segments.peek()?.as_str() {
        "crate" => {
            here.clear();
            segments.next();
        }
        "self" | "super" => {
            while let Some(segment) = segments.next_if(|segment| matches!(segment.as_str(), "self" | "super"))
            {
                if segment == "super" {
                    here.pop();
                }
            }
        }
        first if files.contains_key(&child(&here, first)) => {}
        _ => return None,
    }
    for segment in segments {
        let below = child(&here, segment);
        if !files.contains_key(&below) {
            let name = Some(segment.clone());
            return Some(Target {
                module: owning_file(files, here),
                name,
            });
        }
        here = below;
    }
    Some(Target {
        module: owning_file(files, here),
        name: None,
    })
}

/// The file that a module is in, which is a parent's for an inline module.
fn owning_file(files: &BTreeMap<Module, &str>, mut module: Module) -> Module {
    while !module.is_empty() && !files.contains_key(&module) {
        module.pop();
    }
    module
}

fn child(module: &Module, name: &str) -> Module {
    let mut child = module.clone();
    child.push(name.to_owned());
    child
}

/// Search for strongly connected components (Tarjan 1972).
struct Components<'a> {
    edges: &'a BTreeMap<Module, BTreeMap<Module, Dependency>>,
    /// Order of discovery.
    order: BTreeMap<&'a Module, usize>,
    stack: Vec<&'a Module>,
    found: Vec<BTreeSet<Module>>,
}

impl<'a> Components<'a> {
    fn find(edges: &'a BTreeMap<Module, BTreeMap<Module, Dependency>>) -> Vec<BTreeSet<Module>> {
        let mut search = Self {
            edges,
            order: BTreeMap::new(),
            stack: Vec::new(),
            found: Vec::new(),
        };
        for module in edges.keys() {
            if !search.order.contains_key(module) {
                search.visit(module);
            }
        }
        search.found
    }

    /// Visits a module and everything below it in the search tree; returns the earliest module that it reaches.
    fn visit(&mut self, module: &'a Module) -> usize {
        let own = self.order.len();
        let mut lowest = own;
        self.order.insert(module, own);
        self.stack.push(module);
        for target in self.edges.get(module).into_iter().flat_map(BTreeMap::keys) {
            match self.order.get(target) {
                None => lowest = lowest.min(self.visit(target)),
                Some(order) if self.stack.contains(&target) => lowest = lowest.min(*order),
                Some(_) => {}
            }
        }
        if lowest == own {
            let place = self
                .stack
                .iter()
                .position(|other| *other == module)
                .unwrap_or_default();
            self.found.push(self.stack.drain(place..).cloned().collect());
        }
        lowest
    }
}

#[cfg(test)]
mod tests {
    use super::{RingFile, find};
    use crate::house::source::{SourceCrate, SourceFile};

    fn rings(files: &[(&str, &str)]) -> Vec<Vec<RingFile>> {
        find(&SourceCrate {
            name: "a".to_owned(),
            is_product: true,
            files: files
                .iter()
                .map(|(path, text)| SourceFile::new("crates/a/src", path, *text))
                .collect(),
        })
    }

    fn modules(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        rings(files)
            .into_iter()
            .map(|ring| ring.into_iter().map(|file| file.module).collect())
            .collect()
    }

    #[test]
    fn two_files_that_use_each_other_are_a_ring() {
        let found = rings(&[
            ("a.rs", "\nuse crate::b::{B, C};\nfn a() { crate::b::d() }"),
            ("b.rs", "use super::a;\nuse crate::c::E;"),
            ("c.rs", ""),
        ]);
        assert_eq!(found.len(), 1);
        let [a, b] = &found[0][..] else {
            panic!("{found:?}");
        };
        assert_eq!((a.path.as_str(), a.module.as_str()), ("crates/a/src/a.rs", "a"));
        let names: Vec<_> = a.uses["b"].names.iter().map(String::as_str).collect();
        assert_eq!((a.uses["b"].line, names), (2, vec!["B", "C", "d"]));
        assert!(b.uses["a"].names.is_empty());
        assert_eq!(b.uses.len(), 1);
    }

    #[test]
    fn parents_and_children_are_no_ring() {
        let files = [
            ("a.rs", "mod b; use b::B;"),
            ("a/b.rs", "use super::A; use super::super::C;"),
            ("lib.rs", "mod a; use a::A; struct C;"),
        ];
        assert!(rings(&files).is_empty());
    }

    #[test]
    fn reexports_lead_to_the_declaring_file() {
        let files = [
            ("a.rs", "mod c; pub(crate) use c::C as D;"),
            ("a/c.rs", "use crate::b::B;"),
            ("b.rs", "use crate::a::D;"),
        ];
        assert_eq!(modules(&files), [["a::c", "b"]]);
    }

    #[test]
    fn names_of_inline_modules_belong_to_their_file() {
        let files = [
            ("a.rs", "mod inner { fn a() { super::super::b::d() } }"),
            ("b.rs", "fn b() { crate::a::inner::a() }"),
        ];
        assert_eq!(modules(&files), [["a", "b"]]);
    }

    #[test]
    fn modules_for_tests_are_left_out() {
        let files = [
            (
                "a.rs",
                "#[cfg(test)] mod fixtures; #[cfg(test)] mod tests { use crate::b; }",
            ),
            ("a/fixtures.rs", "use crate::b::B;"),
            ("b.rs", "use crate::a; use crate::a::fixtures::F;"),
        ];
        assert!(rings(&files).is_empty());
    }

    #[test]
    fn larger_rings_come_first() {
        let files = [
            ("a.rs", "use crate::b;"),
            ("b.rs", "use crate::a;"),
            ("c.rs", "use crate::d; use crate::a;"),
            ("d.rs", "use crate::e;"),
            ("e.rs", "use crate::c;"),
        ];
        assert_eq!(modules(&files), [vec!["c", "d", "e"], vec!["a", "b"]]);
    }
}
