//! One module for each reader: `fuzz_targets` gives them to libFuzzer, and the tests read the seeds with them.

pub mod arguments;
pub mod bodies;
pub mod charset;
pub mod cursors;
pub mod dates;
pub mod directives;
pub mod growth;
pub mod headers;
pub mod images;
pub mod json;
pub mod keyword_files;
pub mod page;
pub mod post_html;
pub mod post_markdown;
pub mod robots;
pub mod site;
pub mod sitemap;
pub mod streams;
pub mod structured_data;
pub mod text;
pub mod urls;

#[cfg(test)]
mod tests {
    use std::{
        fs,
        panic::{AssertUnwindSafe, catch_unwind},
        path::Path,
    };

    /// Reads every seed of a target; the name of the first that breaks it is in what the test prints.
    fn read_seeds(name: &str, run: fn(&[u8])) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(name);
        let mut seeds = 0;
        for seed in fs::read_dir(&folder).expect("seeds") {
            let path = seed.expect("a seed").path();
            let data = fs::read(&path).expect("a seed is read");
            let outcome = catch_unwind(AssertUnwindSafe(|| run(&data)));
            assert!(outcome.is_ok(), "{} breaks the target", path.display());
            seeds += 1;
        }
        assert!(seeds > 0, "no seeds in {}", folder.display());
    }

    macro_rules! seeds {
        ($($name:ident)*) => {
            $(
                #[test]
                fn $name() {
                    read_seeds(stringify!($name), super::$name::run);
                }
            )*
        };
    }

    // Not `growth`: its verdict is about time, which a test build beside other tests says nothing of.
    seeds! {
        arguments bodies charset cursors dates directives headers images json keyword_files page
        post_html post_markdown robots site sitemap streams structured_data text urls
    }
}
