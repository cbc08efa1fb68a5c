//! `format/*.fbs` to Rust, by the schema compiler and two small corrections of its output.
//!
//! The result is committed, so that building the store needs neither CMake nor a C++ compiler, and
//! so that a review shows what a change of schema does to the code. `--check` keeps the two in
//! step.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::Outcome;
use crate::command::{capture, cargo, program, root, succeed, target_dir};

/// Whether the committed files are replaced or only compared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Write what was generated over what is committed.
    Write,
    /// Fail if the two differ.
    Check,
}

/// Where the generated files live, from the root.
const OUTPUT: &str = "src/protocol/generated";

/// Put before what the compiler wrote, whose own head it replaces.
const HEADER: &str = "\
// @generated from format/@SCHEMA@ by `cargo xtask codegen`; change the schema, not this file.
//
// Vectors of `string` in the schema are vectors of byte vectors here. The two have the same bytes
// but for a final zero that nobody reads; object ids and payloads are not UTF-8.

#![allow(
    unsafe_code,
    missing_docs,
    dead_code,
    deprecated,
    unreachable_pub,
    unused_imports,
    unused_qualifications,
    clippy::all,
    clippy::pedantic,
    clippy::undocumented_unsafe_blocks,
    clippy::multiple_unsafe_ops_per_block,
    clippy::host_endian_bytes,
    clippy::big_endian_bytes,
    reason = \"written by the schema compiler\"
)]
";

/// Generates, and writes or compares.
pub(crate) fn run(mode: Mode) -> Outcome {
    let schemas = schemas()?;
    let raw = target_dir().join("codegen").join("raw");
    // Nothing from an earlier schema may survive.
    let _ = fs::remove_dir_all(&raw);
    fs::create_dir_all(&raw).map_err(|error| format!("cannot make {}: {error}", raw.display()))?;
    compile(&schemas, &raw)?;
    let mut stale = Vec::new();
    for schema in &schemas {
        let stem = schema.file_stem().expect("a schema has a name").to_string_lossy();
        let file = format!("{stem}_generated.rs");
        let name = schema.file_name().expect("a schema has a name").to_string_lossy();
        let text = finish(&read(&raw.join(&file))?, &name)?;
        let text = format_source(&text, &raw.join(&file))?;
        let committed = root().join(OUTPUT).join(&file);
        match mode {
            Mode::Write => write(&committed, &text)?,
            Mode::Check if fs::read_to_string(&committed).is_ok_and(|old| old == text) => {}
            Mode::Check => stale.push(format!("{OUTPUT}/{file}")),
        }
    }
    if stale.is_empty() {
        return Ok(());
    }
    Err(format!(
        "{} does not match format/: run `cargo xtask codegen` and commit the result",
        stale.join(", ")
    ))
}

fn schemas() -> Result<Vec<PathBuf>, String> {
    let folder = root().join("format");
    let entries = fs::read_dir(&folder).map_err(|error| format!("cannot list format/: {error}"))?;
    let mut schemas: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "fbs"))
        .collect();
    schemas.sort();
    if schemas.is_empty() { Err("no schema in format/".into()) } else { Ok(schemas) }
}

/// Builds the compiler if need be, which takes a minute the first time, and runs it.
///
/// The package that brings its source would build the compiler's tests and samples, too, which
/// takes several times as long; so only its source is used.
fn compile(schemas: &[PathBuf], output: &Path) -> Outcome {
    let (source, build) = (compiler_source()?, target_dir().join("codegen/flatc"));
    let path = path_with_cmake()?;
    let options = ["TESTS=OFF", "FLATLIB=OFF", "FLATHASH=OFF"];
    let mut configure = program("cmake");
    configure.env("PATH", &path).arg("-S").arg(source).arg("-B").arg(&build);
    configure.args(options.map(|option| format!("-DFLATBUFFERS_BUILD_{option}")));
    // Without optimization: it takes longer to build than it ever runs.
    configure.args(["-DCMAKE_CXX_FLAGS=-O0", "--log-level=WARNING"]).stdout(Stdio::null());
    succeed(&mut configure)?;
    let mut make = program("cmake");
    make.env("PATH", &path).arg("--build").arg(&build).args(["--target", "flatc", "--parallel"]);
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    succeed(make.arg(processors.to_string()).stdout(Stdio::null()))?;
    let mut flatc = program(build.join("flatc"));
    flatc.args(["--rust", "--gen-all", "-o"]).arg(output).args(schemas);
    succeed(&mut flatc)
}

/// Where cargo has put the source of the compiler, in the release that `format/compiler` names.
fn compiler_source() -> Result<PathBuf, String> {
    let mut metadata = cargo("metadata --quiet --format-version 1 --locked --manifest-path");
    let text = capture(metadata.arg("format/compiler/Cargo.toml"))?;
    let manifests = text.split("\"manifest_path\":\"").skip(1);
    let manifests = manifests.filter_map(|rest| Some(Path::new(rest.split_once('"')?.0)));
    let mut folders = manifests.filter_map(Path::parent);
    let is_compiler = |folder: &&Path| {
        folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with("flatc-fork-"))
    };
    let folder = folders.find(is_compiler).ok_or("cargo does not tell where flatc-fork is")?;
    Ok(folder.join("flatbuffers"))
}

/// The search path, with a CMake from the Python package index in front if the machine has none.
fn path_with_cmake() -> Result<OsString, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    if std::env::split_paths(&path).any(|folder| folder.join("cmake").is_file()) {
        return Ok(path);
    }
    let venv = target_dir().join("codegen-venv");
    if !venv.join("bin/cmake").is_file() {
        let python = ["python3.11", "python3"]
            .into_iter()
            .find(|name| program(name).arg("--version").output().is_ok_and(|o| o.status.success()))
            .ok_or("the schema compiler needs cmake, or python3 to fetch it with")?;
        succeed(program(python).args(["-m", "venv"]).arg(&venv))?;
        succeed(program(venv.join("bin/python")).args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "cmake",
        ]))?;
    }
    let folders = std::iter::once(venv.join("bin")).chain(std::env::split_paths(&path));
    std::env::join_paths(folders).map_err(|error| format!("cannot extend PATH: {error}"))
}

/// Applies the corrections that the head of the file tells about.
fn finish(raw: &str, schema: &str) -> Result<String, String> {
    // What the compiler says about itself is said by our own head.
    let body = raw.lines().skip_while(|line| line.starts_with("//") || line.is_empty());
    let body: String = body.flat_map(|line| [line, "\n"]).collect();
    Ok(HEADER.replace("@SCHEMA@", schema) + "\n" + &strings_to_bytes(&body)?)
}

/// Replaces the element type `&str` of vectors by a vector of bytes, in accessors, arguments,
/// builders and verifiers alike: the compiler spells all of them the same way.
fn strings_to_bytes(text: &str) -> Result<String, String> {
    const BEFORE: &str = "::flatbuffers::ForwardsUOffset<&'";
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(BEFORE) {
        let (head, tail) = rest.split_at(at);
        let tail = &tail[BEFORE.len()..];
        let (lifetime, tail) = tail.split_once('>').ok_or("the compiler's output ends early")?;
        let lifetime = lifetime
            .strip_suffix("str")
            .ok_or_else(|| format!("did not expect a reference to {lifetime}"))?
            .trim();
        // A plain string field has an accessor that returns `&str`; changing its type here alone
        // would not compile, so say what to do instead.
        if !head.trim_end().ends_with(',') {
            return Err("a field is a plain `string`: declare it as [ubyte]".into());
        }
        result.push_str(head);
        result.push_str("::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'");
        result.push_str(lifetime);
        result.push_str(", u8>>");
        rest = tail;
    }
    result.push_str(rest);
    Ok(result)
}

/// The text as `cargo fmt` would leave it.
fn format_source(text: &str, scratch: &Path) -> Result<String, String> {
    write(scratch, text)?;
    let mut rustfmt = program("rustfmt");
    rustfmt.args(["--edition", "2024", "--config-path"]).arg(root()).arg(scratch);
    succeed(&mut rustfmt)?;
    read(scratch)
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

fn write(path: &Path, text: &str) -> Outcome {
    fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_of_strings_become_vectors_of_byte_vectors() {
        let before = "x: ::flatbuffers::Vector<'b , ::flatbuffers::ForwardsUOffset<&'b  str>>, \
                      y: ::flatbuffers::Vector<'_, ::flatbuffers::ForwardsUOffset<&'_ str>>";
        let after = "x: ::flatbuffers::Vector<'b , ::flatbuffers::ForwardsUOffset<\
                     ::flatbuffers::Vector<'b, u8>>>, \
                     y: ::flatbuffers::Vector<'_, ::flatbuffers::ForwardsUOffset<\
                     ::flatbuffers::Vector<'_, u8>>>";
        assert_eq!(strings_to_bytes(before).as_deref(), Ok(after));
    }

    #[test]
    fn plain_strings_are_refused() {
        assert!(strings_to_bytes("get::<::flatbuffers::ForwardsUOffset<&str>>").is_ok());
        assert!(strings_to_bytes("get::<::flatbuffers::ForwardsUOffset<&'a str>>").is_err());
    }

    #[test]
    fn the_compilers_own_head_is_replaced() {
        let text = finish("// automatically\n// @generated\n\nextern crate alloc;\n", "a.fbs");
        let text = text.expect("there is no string in it");
        assert!(text.starts_with("// @generated from format/a.fbs by"));
        assert!(text.ends_with(")]\n\nextern crate alloc;\n"));
    }
}
