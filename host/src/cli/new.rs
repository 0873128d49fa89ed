//! `new`: a project to start a guest from.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::anyhow;

use super::report::CliError;
use super::{EXIT_COULD_NOT_START, EXIT_YES, print_result};

/// A file by its path in the project, and its text.
type Entry = (&'static str, &'static str);

/// What stands for the package's name in the template, and for the crate's.
const PACKAGE: &str = "my-guest";
const CRATE: &str = "my_guest";

/// The template. The names in it are replaced.
const TEMPLATE: [Entry; 5] = [
    (".gitignore", include_str!("../../../guest/template/.gitignore")),
    ("Cargo.toml", include_str!("../../../guest/template/Cargo.toml")),
    ("Makefile", include_str!("../../../guest/template/Makefile")),
    ("README.md", include_str!("../../../guest/template/README.md")),
    ("src/lib.rs", include_str!("../../../guest/template/src/lib.rs")),
];

/// The contract, which every project is given as it is.
const CONTRACT: [Entry; 5] = [
    ("wit/README.md", include_str!("../../../wit/README.md")),
    ("wit/guest.wit", include_str!("../../../wit/guest.wit")),
    ("wit/processor.wit", include_str!("../../../wit/processor.wit")),
    ("wit/store.wit", include_str!("../../../wit/store.wit")),
    ("wit/types.wit", include_str!("../../../wit/types.wit")),
];

/// What cannot be the name of a package: it is Rust's, cargo's or the dependency's.
const TAKEN: &str = "\
    abstract alloc as async await become box break const continue core crate do dyn else enum \
    extern false final fn for gen if impl in let loop macro match mod move mut override priv \
    proc-macro proc_macro pub ref return self static std struct super test trait true try type \
    typeof unsafe unsized use virtual where while wit-bindgen wit_bindgen yield";

/// The longest name: crates.io's limit, and short enough for the files that cargo names after it.
const LONGEST: usize = 64;

/// Write a project to start a guest from: code that is not finished, the contract, a Makefile
///
/// The README.md in it leads from what `check` says about the unfinished guest to one that passes.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The project's folder: one that does not exist, or is empty
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

pub(super) fn new(args: &Args) -> Result<u8, CliError> {
    let folder = &args.folder;
    refuse_used(folder)?;
    let name = package_name(folder);
    let project = project(&name);
    let mut made = Made::default();
    if let Err(error) = made.project(folder, &project) {
        made.undo();
        return Err(error);
    }
    print_result(summary(folder, &name, &project).as_bytes())?;
    Ok(EXIT_YES)
}

/// Refuses what is no folder, and a folder with something in it.
fn refuse_used(folder: &Path) -> Result<(), CliError> {
    let shown = folder.display();
    let refused = |error: anyhow::Error| {
        CliError::new(EXIT_COULD_NOT_START, error)
            .advise("name a folder that does not exist yet, or an empty one")
    };
    match fs::metadata(folder) {
        Ok(found) if !found.is_dir() => Err(refused(anyhow!("{shown} is not a folder"))),
        Ok(_) => match fs::read_dir(folder).map(|mut entries| entries.next().is_some()) {
            Ok(false) => Ok(()),
            Ok(true) => Err(refused(anyhow!("the folder {shown} is not empty"))),
            Err(error) => {
                let what = format!("the folder {shown} cannot be read");
                Err(refused(anyhow::Error::new(error).context(what)))
            }
        },
        // It is to be made; if it cannot be, that error tells why.
        Err(_) => Ok(()),
    }
}

/// The package's name: the folder's, as far as cargo allows it.
fn package_name(folder: &Path) -> String {
    // A path such as `.` has its name only when it is whole.
    let whole = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
    let last = whole.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let legal = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let mut name: String = last.chars().map(legal).collect();
    while name.contains("--") {
        name = name.replace("--", "-");
    }
    name = name.trim_matches(['-', '_']).to_owned();
    if name.is_empty() {
        return "guest".to_owned();
    }
    let taken = TAKEN.split_whitespace().any(|taken| taken == name);
    if taken || name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert_str(0, "guest-");
    }
    name.truncate(LONGEST);
    name.trim_end_matches(['-', '_']).to_owned()
}

/// The files of the project.
fn project(name: &str) -> Vec<(&'static str, String)> {
    let named = |text: &str| text.replace(PACKAGE, name).replace(CRATE, &name.replace('-', "_"));
    let template = TEMPLATE.iter().map(|&(path, text)| (path, named(text)));
    template.chain(CONTRACT.iter().map(|&(path, text)| (path, text.to_owned()))).collect()
}

/// Files and folders that were made, in order, to be removed if the next one cannot be.
#[derive(Default)]
struct Made(Vec<PathBuf>);

impl Made {
    fn project(&mut self, folder: &Path, files: &[(&str, String)]) -> Result<(), CliError> {
        self.folder(folder)?;
        for (name, text) in files {
            let path = folder.join(name);
            self.folder(path.parent().unwrap_or(folder))?;
            self.file(&path, text)
                .map_err(|error| failed(error, format!("{} cannot be written", path.display())))?;
        }
        Ok(())
    }

    /// Makes a folder where there is none, its parents first.
    fn folder(&mut self, folder: &Path) -> Result<(), CliError> {
        if folder.as_os_str().is_empty() || folder.is_dir() {
            return Ok(());
        }
        if let Some(parent) = folder.parent() {
            self.folder(parent)?;
        }
        fs::create_dir(folder).map_err(|error| {
            failed(error, format!("the folder {} cannot be made", folder.display()))
        })?;
        self.0.push(folder.to_path_buf());
        Ok(())
    }

    /// Writes a file that was not there.
    fn file(&mut self, path: &Path, text: &str) -> io::Result<()> {
        let mut file = File::create_new(path)?;
        self.0.push(path.to_path_buf());
        file.write_all(text.as_bytes())
    }

    /// Leaves nothing half-written, as far as that can be: the error that led here is the one to tell.
    fn undo(&self) {
        for path in self.0.iter().rev() {
            let _ = fs::remove_file(path).or_else(|_| fs::remove_dir(path));
        }
    }
}

fn failed(error: io::Error, what: String) -> CliError {
    CliError::new(EXIT_COULD_NOT_START, anyhow::Error::new(error).context(what))
        .advise("name another folder, or see to the disk and its permissions")
}

/// What was written, and how to go on.
fn summary(folder: &Path, name: &str, project: &[(&str, String)]) -> String {
    let files: String = project.iter().map(|(path, _)| format!("  {path}\n")).collect();
    format!(
        "{}: the package {name}, a guest that is not finished\n{files}next:\n  cd {}\n  make build\n  \
         make check   fails, and README.md leads on from there\n",
        folder.display(),
        quoted(folder)
    )
}

/// A path as a shell takes it.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-+,:@%".contains(c);
    if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_package_is_named_after_its_folder_as_far_as_cargo_allows() {
        for (folder, name) in [
            ("handler", "handler"),
            ("/some/where/My Guest/", "my-guest"),
            ("snake_case-2", "snake_case-2"),
            ("a.b.c", "a-b-c"),
            ("a -- b", "a-b"),
            ("_private_", "private"),
            ("-x", "x"),
            ("2fast", "guest-2fast"),
            ("Wächter", "w-chter"),
            ("警报", "guest"),
            ("fn", "guest-fn"),
            ("Self", "guest-self"),
            ("test", "guest-test"),
            ("wit-bindgen", "guest-wit-bindgen"),
            ("/", "guest"),
            ("..", "guest"),
            ("...", "guest"),
        ] {
            assert_eq!(package_name(Path::new(folder)), name, "{folder}");
        }
    }

    #[test]
    fn a_long_name_is_cut_where_it_stays_legal() {
        let folder = format!("{}-{}", "a".repeat(LONGEST - 1), "b".repeat(100));
        assert_eq!(package_name(Path::new(&folder)), "a".repeat(LONGEST - 1));
    }

    #[test]
    fn a_name_that_is_no_utf_8_names_a_package_all_the_same() {
        use std::os::unix::ffi::OsStrExt as _;
        let folder = Path::new(std::ffi::OsStr::from_bytes(b"h\xffi"));
        assert_eq!(package_name(folder), "h-i");
    }

    #[test]
    fn the_place_where_one_is_has_a_name_too() {
        let here = std::env::current_dir().unwrap();
        assert_eq!(package_name(Path::new(".")), package_name(&here));
    }

    #[test]
    fn a_project_has_every_file_of_the_template_and_of_the_contract() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let names = |entries: &[Entry]| entries.iter().map(|(path, _)| path.to_string()).collect();
        let listed: Vec<String> = names(&TEMPLATE);
        assert_eq!(listed, files(&root.join("guest/template"), ""));
        let listed: Vec<String> = names(&CONTRACT);
        assert_eq!(listed, files(&root.join("wit"), "wit/"));
    }

    /// The files below a folder, sorted, each with what stands before its path.
    fn files(folder: &Path, before: &str) -> Vec<String> {
        let mut found = Vec::new();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = format!("{before}{}", path.file_name().unwrap().to_str().unwrap());
            if path.is_dir() {
                found.extend(files(&path, &format!("{name}/")));
            } else {
                found.push(name);
            }
        }
        found.sort();
        found
    }

    #[test]
    fn nothing_of_the_placeholder_is_left() {
        let project = project("other-one");
        for (path, text) in &project {
            assert!(!text.contains(PACKAGE) && !text.contains(CRATE), "{path}");
        }
        let text = |path| project.iter().find(|(name, _)| *name == path).unwrap().1.as_str();
        assert!(text("Cargo.toml").contains("name = \"other-one\"\n"));
        assert!(text("Makefile").contains("/other_one.wasm\n"));
    }

    #[test]
    fn a_path_is_quoted_for_a_shell_only_if_it_has_to_be() {
        for (path, shown) in [
            ("a/b-c_d.e", "a/b-c_d.e"),
            ("my guest", "'my guest'"),
            ("it's", r"'it'\''s'"),
            ("$HOME", "'$HOME'"),
        ] {
            assert_eq!(quoted(Path::new(path)), shown);
        }
    }
}
