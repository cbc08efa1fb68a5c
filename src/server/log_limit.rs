//! Log lines that clients can cause, as many as somebody may want to read.

use std::time::{Duration, Instant};

/// So many lines of a kind in a [`WINDOW`].
const MAX_LINES: u32 = 8;

/// See [`MAX_LINES`].
const WINDOW: Duration = Duration::from_secs(60);

/// Lets the first lines of each minute through and counts the others.
#[derive(Debug, Default)]
pub(super) struct LogLimit {
    window_began: Option<Instant>,
    lines: u32,
    suppressed: u64,
}

impl LogLimit {
    /// Logs a warning, unless there were too many of its kind lately.
    #[expect(clippy::disallowed_methods, reason = "a limit over time needs the time")]
    pub(super) fn warn(&mut self, line: impl FnOnce() -> String) {
        if self.permits(Instant::now()) {
            log::warn!("{}", line());
        }
    }

    fn permits(&mut self, now: Instant) -> bool {
        if self.window_began.is_none_or(|began| now >= began + WINDOW) {
            if self.suppressed > 0 {
                log::warn!("{} lines like the following were left out", self.suppressed);
            }
            *self = Self { window_began: Some(now), lines: 0, suppressed: 0 };
        }
        self.lines += 1;
        if self.lines == MAX_LINES {
            log::warn!("further lines like the following are left out for up to a minute");
        }
        let permitted = self.lines <= MAX_LINES;
        self.suppressed += u64::from(!permitted);
        permitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "any moment will do")]
    fn a_flood_is_cut_off_and_counted() {
        let mut limit = LogLimit::default();
        let now = Instant::now();
        let permitted = (0..1000).filter(|_| limit.permits(now)).count();
        assert_eq!(permitted, 8);
        assert_eq!(limit.suppressed, 992);
        assert!(limit.permits(now + WINDOW), "the next minute is a new one");
        assert_eq!(limit.suppressed, 0);
    }
}
