//! Runs test programs and adds up what their summary lines say.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use crate::Outcome;
use crate::command::{cannot_start, name};

/// Tests by their result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    /// Includes tests that are expected to fail and do.
    pub(crate) skipped: u64,
}

impl Tally {
    /// Runs a command, lets its output through, adds its tests, and requires success and at least
    /// one passed test: a suite that finds nothing to do is broken.
    pub(crate) fn run(&mut self, command: &mut Command) -> Outcome {
        self.run_into(command, &mut std::io::stdout())
    }

    fn run_into(&mut self, command: &mut Command, output: &mut impl Write) -> Outcome {
        command.stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| cannot_start(command, &error))?;
        let mut lines = BufReader::new(child.stdout.take().expect("it is piped"));
        let passed_before = self.passed;
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line).map_err(|error| error.to_string())? > 0 {
            output.write_all(&line).and_then(|()| output.flush()).map_err(|e| e.to_string())?;
            self.add(&String::from_utf8_lossy(&line));
            line.clear();
        }
        let status = child.wait().map_err(|error| error.to_string())?;
        if !status.success() {
            return Err(format!("{} ended with {status}", name(command)));
        }
        if self.passed == passed_before {
            return Err(format!("{} ran no tests", name(command)));
        }
        Ok(())
    }

    /// Adds the counts of a line, if it is a summary of cargo's or pytest's.
    fn add(&mut self, line: &str) {
        let line = line.trim();
        if let Some(result) = line.strip_prefix("test result: ") {
            // "ok. 5 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s"
            let counts = result.split_once(". ").map_or(result, |(_, counts)| counts);
            self.add_counts(counts.split("; "));
        } else {
            // "==== 3 failed, 12 passed, 1 skipped in 3.21s ====", or the same without the rules.
            let line = line.trim_matches('=').trim();
            let Some((counts, time)) = line.rsplit_once(" in ") else {
                return;
            };
            let is_time = time.starts_with(|first: char| first.is_ascii_digit());
            let all_are_counts = counts.split(", ").all(|part| count_and_word(part).is_some());
            if is_time && all_are_counts {
                self.add_counts(counts.split(", "));
            }
        }
    }

    fn add_counts<'a>(&mut self, parts: impl Iterator<Item = &'a str>) {
        for (count, word) in parts.filter_map(count_and_word) {
            match word {
                "passed" => self.passed += count,
                "failed" | "error" | "errors" => self.failed += count,
                "skipped" | "ignored" | "xfailed" => self.skipped += count,
                // Measured, filtered out, deselected, warnings.
                _ => {}
            }
        }
    }
}

fn count_and_word(part: &str) -> Option<(u64, &str)> {
    let (count, word) = part.split_once(' ')?;
    Some((count.parse().ok()?, word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(lines: &[&str]) -> (u64, u64, u64) {
        let mut tally = Tally::default();
        lines.iter().for_each(|line| tally.add(line));
        (tally.passed, tally.failed, tally.skipped)
    }

    #[test]
    fn cargo_summaries_are_added() {
        let lines = [
            "test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; \
             finished in 0.00s\n",
            "test result: FAILED. 2 passed; 3 failed; 0 ignored; 0 measured; 7 filtered out; \
             finished in 0.10s\n",
        ];
        assert_eq!(tally(&lines), (7, 3, 1));
    }

    #[test]
    fn pytest_summaries_are_added() {
        let lines = [
            "======= 33 passed, 1 skipped, 2 warnings in 24.05s =======\n",
            "12 passed, 4 xfailed in 61.00s (0:01:01)",
            "===== 1 failed, 2 passed, 1 error in 0.5s =====",
            "==== no tests ran in 0.01s ====",
        ];
        assert_eq!(tally(&lines), (47, 2, 5));
    }

    #[test]
    fn other_lines_are_not() {
        let lines = ["1 passed", "test a ... ok", "stored 3 passed, in 2 parts", "==> 7 steps"];
        assert_eq!(tally(&lines), (0, 0, 0));
    }

    #[test]
    fn a_command_without_tests_fails() {
        let mut tally = Tally::default();
        let outcome = tally.run_into(Command::new("echo").arg("nothing here"), &mut Vec::new());
        assert_eq!(outcome, Err("echo nothing here ran no tests".into()));
        assert_eq!(
            tally.run_into(Command::new("echo").arg("2 passed in 1s"), &mut Vec::new()),
            Ok(())
        );
        let outcome = tally.run_into(
            Command::new("sh").args(["-c", "echo 1 failed in 1s; exit 1"]),
            &mut Vec::new(),
        );
        assert!(outcome.is_err());
        assert_eq!(tally, Tally { passed: 2, failed: 1, skipped: 0 });
    }
}
