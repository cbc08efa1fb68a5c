//! Faults to order: the file `faults` in the shared folder, a line each.
//!
//!     FUNCTION CODE [SKIP [COUNT]]     after SKIP calls, COUNT calls answer CODE and do nothing
//!     FUNCTION sleep MILLISECONDS      calls take that much longer
//!
//! Calls count for each process from when the line was read first. The file is read at each call.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

#[derive(Default)]
pub(crate) struct Faults {
    /// How often the function of a line was called.
    calls: HashMap<String, u64>,
}

/// What a call has to suffer.
#[derive(Default)]
pub(crate) struct Fault {
    pub(crate) code: Option<i32>,
    pub(crate) delay: Duration,
}

impl Faults {
    pub(crate) fn next(&mut self, folder: Option<&Path>, function: &str) -> Fault {
        let mut fault = Fault::default();
        let Some(folder) = folder else { return fault };
        let text = fs::read_to_string(folder.join("faults")).unwrap_or_default();
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let number = |place: usize| words.get(place).and_then(|word| word.parse().ok());
            if words.first() != Some(&function) {
                continue;
            }
            if words.get(1) == Some(&"sleep") {
                fault.delay = Duration::from_millis(number(2).unwrap_or(0));
                continue;
            }
            let calls = self.calls.entry(line.to_owned()).or_default();
            *calls += 1;
            let skip = number(2).unwrap_or(0);
            let count = number(3).unwrap_or(u64::MAX);
            if *calls > skip && *calls - skip <= count {
                fault.code = words.get(1).and_then(|word| word.parse().ok());
            }
        }
        fault
    }
}

/// After these nothing works on a device any more, in this process.
pub(crate) fn is_final(code: i32) -> bool {
    matches!(code, 214 | 220 | 700 | 702 | 709 | 710 | 714..=719)
}
