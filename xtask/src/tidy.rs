//! Rules about the source text that no other tool checks.
//!
//! * Modules use only those below them, by the table here.
//! * The modules that decide reach no clock, file, socket or thread.
//! * `unsafe` has three homes.
//! * A long file says in its head why it is long, with the words "is long because".
//! * Lines have at most 100 columns; text is ASCII.
//!
//! The checks read text, not syntax: a `use` that a macro makes escapes them, but not the reviewer.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Outcome;
use crate::command::root;

/// What each module of `src` may use from the crate, beside itself; a path allows what it contains.
/// Modules that are not listed are refused, so that a new one gets its place by decision.
const MAY_USE: [(&str, &[&str]); 14] = [
    ("ids", &[]),
    ("format_g", &[]),
    ("protocol", &["ids"]),
    ("allocator", &["ids"]),
    ("eviction", &["ids"]),
    (
        "store",
        &["ids", "format_g", "allocator", "eviction", "protocol::message", "protocol::violation"],
    ),
    ("external", &["ids"]),
    ("sys", &["ids"]),
    ("device", &["ids", "store"]),
    ("config", &["format_g"]),
    ("logging", &[]),
    (
        "server",
        &[
            "ids",
            "format_g",
            "protocol",
            "allocator",
            "eviction",
            "store",
            "external",
            "sys",
            "device",
            "config",
            "logging",
        ],
    ),
    ("main", &["config", "device", "logging", "server"]),
    ("lib", &[]),
];

/// Modules whose results depend on nothing but their arguments.
const PURE: [&str; 6] = ["ids", "format_g", "protocol", "allocator", "eviction", "store"];

/// What pure modules may not reach.
const IMPURE: [&str; 9] = [
    "std::net",
    "std::fs",
    "std::os",
    "std::thread",
    "std::process",
    "std::env",
    "std::time::SystemTime",
    "Instant::now",
    "SystemTime::now",
];

/// Where `unsafe` may stand, in paths from the root.
const UNSAFE_HOMES: [&str; 3] = ["src/sys", "src/device/driver.rs", "src/protocol/generated"];

const GENERATED: &str = "src/protocol/generated";
const MAX_LINES: usize = 800;
const MAX_COLUMNS: usize = 100;

/// Endings of the files that people read.
const TEXT_ENDINGS: [&str; 9] = ["rs", "md", "toml", "fbs", "py", "sh", "ini", "txt", "yml"];

/// Checks all files and prints every finding.
pub(crate) fn run() -> Outcome {
    let mut files = Vec::new();
    collect(root(), &mut files)?;
    files.sort();
    let is_source = |path: &&PathBuf| path.starts_with("src");
    if !files.iter().any(|path| is_source(&path)) {
        return Err("no source file found".into());
    }
    let mut findings = Vec::new();
    for path in &files {
        let text = fs::read_to_string(root().join(path))
            .map_err(|error| format!("{}: {error}", path.display()))?;
        check(path, &text, &mut findings);
    }
    findings.iter().for_each(|finding| eprintln!("{finding}"));
    if findings.is_empty() { Ok(()) } else { Err(format!("{} findings", findings.len())) }
}

/// Gathers the text files below a folder, in paths from the root.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Outcome {
    let unreadable = |error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        let kind = entry.file_type().map_err(unreadable)?;
        if kind.is_dir() {
            let is_ours = !matches!(&*name, "target" | ".git" | "__pycache__" | ".pytest_cache");
            if is_ours {
                collect(&path, files)?;
            }
        } else if kind.is_file() {
            let ending = path.extension().map(|ending| ending.to_string_lossy().into_owned());
            if ending.is_some_and(|ending| TEXT_ENDINGS.contains(&&*ending)) || name == "run" {
                files.push(path.strip_prefix(root()).unwrap_or(&path).to_owned());
            }
        }
    }
    Ok(())
}

/// Applies every rule to one file.
fn check(path: &Path, text: &str, findings: &mut Vec<String>) {
    let shown = path.display();
    for (index, line) in text.lines().enumerate() {
        if !line.is_ascii() {
            findings.push(format!("{shown}:{}: not ASCII", index + 1));
        }
    }
    let is_rust = path.extension().is_some_and(|ending| ending == "rs");
    if !is_rust || path.starts_with(GENERATED) {
        return;
    }
    for (index, line) in text.lines().enumerate() {
        if line.chars().count() > MAX_COLUMNS {
            findings.push(format!("{shown}:{}: more than {MAX_COLUMNS} columns", index + 1));
        }
    }
    let head = text.lines().take_while(|line| line.starts_with("//") || line.is_empty());
    if text.lines().count() > MAX_LINES && !head.into_iter().any(|l| l.contains("is long because"))
    {
        findings.push(format!(
            "{shown}: more than {MAX_LINES} lines, and no \"is long because\" in its head"
        ));
    }
    if let Ok(inside) = path.strip_prefix("src") {
        check_module(path, inside, &without_comments(text), findings);
    }
}

/// The rules for the crate's own modules; `inside` is the path from `src`.
fn check_module(path: &Path, inside: &Path, code: &str, findings: &mut Vec<String>) {
    let shown = path.display();
    let mut report = |offset: usize, what: String| {
        let line = code[..offset].matches('\n').count() + 1;
        findings.push(format!("{shown}:{line}: {what}"));
    };
    if !UNSAFE_HOMES.iter().any(|home| path.starts_with(home)) {
        for offset in words(code, "unsafe") {
            report(offset, "unsafe code outside its homes".into());
        }
    }
    let first = inside.iter().next().unwrap_or_default().to_string_lossy();
    let module = first.strip_suffix(".rs").unwrap_or(&first);
    let Some((_, allowed)) = MAY_USE.iter().find(|(name, _)| *name == module) else {
        report(0, format!("module {module} has no place in the table of modules"));
        return;
    };
    // The program sees the library under its outer name.
    for root in ["crate", "plasma_store"] {
        for (offset, used) in paths(code, root) {
            let fits =
                |allowed: &&str| used == **allowed || used.starts_with(&format!("{allowed}::"));
            let is_own = used == module || used.starts_with(&format!("{module}::"));
            if !is_own && !allowed.iter().any(fits) {
                report(offset, format!("{module} may not use {used}"));
            }
        }
    }
    // Tests may be told their seed by the environment.
    let is_tests = inside.ends_with("tests.rs");
    if PURE.contains(&module) && !is_tests {
        let used = paths(code, "std").into_iter().map(|(at, path)| (at, format!("std::{path}")));
        for (offset, used) in used {
            if IMPURE
                .iter()
                .any(|impure| used == *impure || used.starts_with(&format!("{impure}::")))
            {
                report(offset, format!("{module} may not use {used}"));
            }
        }
        for name in IMPURE.iter().filter(|name| !name.starts_with("std")) {
            if let Some(offset) = code.find(name) {
                report(offset, format!("{module} may not call {name}"));
            }
        }
    }
}

/// The text with comments made blank, line numbers kept. Not a lexer: what looks like a comment in
/// a string is blanked too.
fn without_comments(text: &str) -> String {
    text.lines().flat_map(|line| [line.split("//").next().unwrap_or(line), "\n"]).collect()
}

/// Where a word stands alone.
fn words<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    code.match_indices(word).map(|(at, _)| at).filter(move |&at| {
        !code[..at].ends_with(is_part) && !code[at + word.len()..].starts_with(is_part)
    })
}

/// Every path that begins with `root::`, groups in braces taken apart, without the root itself.
fn paths(code: &str, root: &str) -> Vec<(usize, String)> {
    let mut result = Vec::new();
    for at in words(code, root) {
        if let Some(rest) = code[at + root.len()..].strip_prefix("::") {
            expand("", rest, &mut |path| result.push((at, path)));
        }
    }
    result
}

/// Reads one path, or a group of them, and returns what follows it.
fn expand<'a>(prefix: &str, text: &'a str, found: &mut dyn FnMut(String)) -> &'a str {
    let text = text.trim_start();
    if let Some(mut rest) = text.strip_prefix('{') {
        loop {
            rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
            if let Some(rest) = rest.strip_prefix('}') {
                return rest;
            }
            let before = rest.len();
            rest = expand(prefix, rest, found);
            // An alias, `a as b`, is of no interest.
            let end = rest.find([',', '}']).unwrap_or(rest.len());
            rest = &rest[end..];
            if rest.is_empty() || rest.len() == before {
                return rest;
            }
        }
    }
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let end = text.find(|letter| !is_part(letter)).unwrap_or(text.len());
    let path = format!("{prefix}{}", &text[..end]);
    match text[end..].strip_prefix("::") {
        Some(rest) if rest.starts_with(|c: char| is_part(c) || c == '{') => {
            expand(&format!("{path}::"), rest, found)
        }
        _ => {
            // `self` in a group is the group itself.
            found(path.strip_suffix("::self").unwrap_or(&path).to_owned());
            &text[end..]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        let mut findings = Vec::new();
        check(Path::new(path), text, &mut findings);
        findings
    }

    #[test]
    fn groups_are_taken_apart() {
        let code = "use crate::{a, b::{self, c as d}, e::*}; fn f() { crate::g::h(my_crate::x) }";
        let paths: Vec<String> = paths(code, "crate").into_iter().map(|(_, path)| path).collect();
        assert_eq!(paths, ["a", "b", "b::c", "e", "g::h"]);
    }

    #[test]
    fn modules_use_only_those_below_them() {
        let path = "src/store/mod.rs";
        assert!(found(path, "use crate::protocol::message::Reply;\n").is_empty());
        assert!(found(path, "// crate::server is above us\n").is_empty());
        let text = "\nuse crate::protocol::{message, frame::Frame};\n";
        assert_eq!(
            found(path, text),
            ["src/store/mod.rs:2: store may not use protocol::frame::Frame"]
        );
        let text = "use plasma_store::store::Store;\n";
        assert_eq!(found("src/main.rs", text), ["src/main.rs:1: main may not use store::Store"]);
        assert_eq!(found("src/new.rs", "").len(), 1);
    }

    #[test]
    fn pure_modules_reach_nothing_outside() {
        let path = "src/allocator/mod.rs";
        assert!(found(path, "use std::{collections::BTreeMap, time::Instant};\n").is_empty());
        assert_eq!(found(path, "use std::{fmt, fs};\n").len(), 1);
        assert_eq!(found(path, "let now = Instant::now();\n").len(), 1);
        assert!(found("src/server/mod.rs", "use std::os::fd::AsFd;\n").is_empty());
        assert!(found("src/allocator/tests.rs", "use std::env;\n").is_empty());
    }

    #[test]
    fn unsafe_has_three_homes() {
        let text = "#![deny(unsafe_code)]\nunsafe { f() }\n";
        assert_eq!(found("src/server/mod.rs", text).len(), 1);
        assert!(found("src/sys/mod.rs", text).is_empty());
        assert!(found("src/protocol/generated/a.rs", text).is_empty());
    }

    #[test]
    fn long_files_give_a_reason() {
        let long = "fn f() {}\n".repeat(MAX_LINES + 1);
        assert_eq!(found("tests/a.rs", &long).len(), 1);
        let reason = "//! This file is long because a state machine should be read in one piece.\n";
        assert!(found("tests/a.rs", &format!("{reason}{long}")).is_empty());
    }

    #[test]
    fn text_is_narrow_and_ascii() {
        let wide = "x".repeat(MAX_COLUMNS + 1);
        assert_eq!(found("tests/a.rs", &wide).len(), 1);
        assert!(found("README.md", &wide).is_empty());
        assert_eq!(found("README.md", "caf\u{e9}"), ["README.md:1: not ASCII"]);
    }
}
