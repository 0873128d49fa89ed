//! Puts what cargo built where it is looked for, and sees to it that it is a component.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

/// How every component starts: the magic number, the version of the encoding, and the layer that tells
/// a component from a core module.
const COMPONENT_HEADER: &[u8] = b"\0asm\x0d\0\x01\0";

/// Copies the component `from` to `to`, unless `to` holds the same bytes already.
pub(crate) fn install(from: &Path, to: &Path, root: &Path) -> Result<()> {
    let built = fs::read(from)
        .with_context(|| format!("the build succeeded, but left nothing at {}", from.display()))?;
    ensure!(
        built.starts_with(COMPONENT_HEADER),
        "{} is not a WebAssembly component: the linker of the target has to be wasm-component-ld",
        from.display()
    );
    // A file that cannot be read is written anew; if that fails as well, that error tells why.
    if fs::read(to).is_ok_and(|there| there == built) {
        return Ok(());
    }
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    fs::write(to, &built).with_context(|| format!("cannot write {}", to.display()))?;
    println!("{} ({} bytes)", to.strip_prefix(root).unwrap_or(to).display(), built.len());
    Ok(())
}
