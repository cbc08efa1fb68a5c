//! Log lines to the standard error output, by a thread of their own.
//!
//! Whoever started the store may have connected its standard error output to a pipe and stopped
//! reading. A write to a full pipe waits, and a server with one thread would stand still with all
//! its clients. So the caller only puts its line into a bounded queue, and a thread that may well
//! get stuck writes it. If the queue is full the line is dropped and counted, and the next one that
//! finds room tells how many are missing. A closed output just swallows everything.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsFd;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use log::{Level, LevelFilter, Log, Metadata, Record};
use nix::sys::signal::{SigSet, SigmaskHow};

/// Lines that may wait for the writer. At [`MAX_TEXT_BYTES`] each that is 4 MiB at worst; a burst
/// of a thousand clients that leave at once fits.
const MAX_QUEUED_LINES: usize = 1024;

/// Longer texts are cut off. Names chosen by clients get into log lines.
const MAX_TEXT_BYTES: usize = 4096;

/// How long [`shutdown`] waits for the writer.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(200);

/// How long to wait before another attempt, where nothing tells when it would succeed.
const RETRY_PAUSE: Duration = Duration::from_millis(5);

static LOGGER: OnceLock<Logger> = OnceLock::new();

/// Installs the logger for the `log` macros, and starts the thread that writes. Panics are logged
/// from then on, since their usual report to the standard error output could wait for ever too.
///
/// The thread has all signals blocked, so it does not matter whether the caller has set up its own
/// handling of signals yet.
///
/// # Errors
///
/// If the output cannot be duplicated, the thread cannot be started, or a logger exists already.
pub fn init(level: LevelFilter) -> io::Result<()> {
    // A descriptor of our own: the lock around `std::io::stderr` must not be held by a thread that
    // waits in a write.
    let output = File::from(io::stderr().as_fd().try_clone_to_owned()?);
    let logger = Logger::start(output, MAX_QUEUED_LINES)?;
    let in_use = || io::Error::from(ErrorKind::AlreadyExists);
    LOGGER.set(logger).map_err(|_| in_use())?;
    log::set_logger(LOGGER.get().ok_or_else(in_use)?).map_err(|_| in_use())?;
    log::set_max_level(level);
    std::panic::set_hook(Box::new(|panic| {
        log::error!("{panic}");
        // It may be the last line that this program has to say.
        log::logger().flush();
    }));
    Ok(())
}

/// Waits until all lines so far are written, but not for long. Call it before the program ends;
/// lines may still be logged afterwards.
pub fn shutdown() {
    if let Some(logger) = LOGGER.get() {
        logger.flush_within(FLUSH_TIMEOUT);
    }
}

/// The caller's end of the queue.
struct Logger {
    queue: SyncSender<Message>,
    /// Lines dropped since the last one that found room.
    dropped_count: AtomicU64,
}

/// What travels to the writer.
enum Message {
    Line(Line),
    /// Answered when everything before it has been written.
    Flush {
        dropped_count: u64,
        done: SyncSender<()>,
    },
}

struct Line {
    time: SystemTime,
    level: Level,
    text: String,
    /// How many lines are missing in front of this one.
    dropped_count: u64,
}

impl Logger {
    /// Starts the thread that writes to `output`.
    fn start(output: impl Write + Send + 'static, max_queued_lines: usize) -> io::Result<Self> {
        let (queue, messages) = sync_channel(max_queued_lines);
        // A thread inherits the mask. Were a signal that ends or stops the server delivered to the
        // writer, the server's own handling of it would be passed by.
        let mask = SigSet::all().thread_swap_mask(SigmaskHow::SIG_SETMASK)?;
        #[expect(clippy::disallowed_methods, reason = "the one thread that may wait for stderr")]
        let started = thread::Builder::new()
            .name("plasma-log".into())
            .spawn(move || write_messages(&messages, output));
        mask.thread_set_mask()?;
        started?;
        Ok(Self { queue, dropped_count: AtomicU64::new(0) })
    }

    /// Queues a line, or counts it as dropped. Never waits.
    fn send(&self, level: Level, text: String) {
        #[expect(clippy::disallowed_methods, reason = "log lines carry the time of day")]
        let time = SystemTime::now();
        let dropped_count = self.dropped_count.swap(0, Ordering::Relaxed);
        let line = Line { time, level, text, dropped_count };
        if self.queue.try_send(Message::Line(line)).is_err() {
            self.dropped_count.fetch_add(dropped_count + 1, Ordering::Relaxed);
        }
    }

    #[expect(clippy::disallowed_methods, reason = "a bounded wait at the program's end")]
    fn flush_within(&self, timeout: Duration) {
        let deadline = Instant::now() + timeout;
        let (done, is_done) = sync_channel(1);
        let dropped_count = self.dropped_count.swap(0, Ordering::Relaxed);
        let mut message = Message::Flush { dropped_count, done };
        while let Err(error) = self.queue.try_send(message) {
            let TrySendError::Full(again) = error else {
                return;
            };
            if Instant::now() >= deadline {
                self.dropped_count.fetch_add(dropped_count, Ordering::Relaxed);
                return;
            }
            message = again;
            thread::sleep(RETRY_PAUSE);
        }
        // Late or not, there is nothing left to do.
        let _ = is_done.recv_timeout(deadline.saturating_duration_since(Instant::now()));
    }
}

impl Log for Logger {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.level() <= log::max_level()
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            self.send(record.level(), one_line(&record.args().to_string()));
        }
    }

    fn flush(&self) {
        self.flush_within(FLUSH_TIMEOUT);
    }
}

/// Makes a text fit for one line: control characters are escaped, so that a client's name cannot
/// forge lines or command a terminal, and too long a text is cut off.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        if line.len() >= MAX_TEXT_BYTES {
            line.push_str("...");
            break;
        }
        if character.is_control() {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    line
}

// ---- the writer ----

/// Runs until the last sender is gone, which does not happen in the server.
fn write_messages(messages: &Receiver<Message>, mut output: impl Write) {
    for message in messages {
        match message {
            Message::Line(line) => {
                let mut text = dropped_line(line.time, line.dropped_count);
                push_line(&mut text, line.time, line.level, &line.text);
                write_fully(&mut output, text.as_bytes());
            }
            Message::Flush { dropped_count, done } => {
                #[expect(clippy::disallowed_methods, reason = "log lines carry the time of day")]
                let text = dropped_line(SystemTime::now(), dropped_count);
                write_fully(&mut output, text.as_bytes());
                // Whoever asked may have lost patience.
                let _ = done.try_send(());
            }
        }
    }
}

/// The line that stands for dropped ones; nothing if there are none.
fn dropped_line(time: SystemTime, count: u64) -> String {
    let mut text = String::new();
    if count > 0 {
        let reason = "lines of this log were dropped: its reader was too slow";
        push_line(&mut text, time, Level::Warn, &format!("{count} {reason}"));
    }
    text
}

fn push_line(target: &mut String, time: SystemTime, level: Level, text: &str) {
    push_time(target, time);
    // Writing to a string cannot fail.
    let _ = writeln!(target, " {level:<5} {text}");
}

/// Writes everything, or as much as the output takes before it fails for good.
fn write_fully(output: &mut impl Write, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        match output.write(bytes) {
            Ok(count) if count > 0 => bytes = &bytes[count..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            #[expect(clippy::disallowed_methods, reason = "this thread may wait")]
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                // Somebody who shares the output has made it non-blocking.
                thread::sleep(RETRY_PAUSE);
            }
            // Nobody is left to be told.
            Ok(_) | Err(_) => return,
        }
    }
}

// ---- time of day ----

/// Appends a time as RFC 3339 does in UTC, with milliseconds: `2026-12-01T02:03:04.123Z`.
fn push_time(target: &mut String, time: SystemTime) {
    // A clock before 1970 is wrong anyway.
    let since_epoch = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let (seconds, millis) = (since_epoch.as_secs(), since_epoch.subsec_millis());
    let (year, month, day) = civil_date(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    let _ = write!(
        target,
        "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z"
    );
}

/// The date in the Gregorian calendar, some days after 1970-01-01.
///
/// Years are counted from March, so that the leap day is the last of its year; then lengths of
/// months follow a straight line (153 days for five months) and those of years repeat after 400.
fn civil_date(days_since_1970: u64) -> (u64, u64, u64) {
    const DAYS_IN_400_YEARS: u64 = 146_097;
    // From 0000-03-01 to 1970-01-01.
    let days = days_since_1970 + 719_468;
    let (era, day_of_era) = (days / DAYS_IN_400_YEARS, days % DAYS_IN_400_YEARS);
    // Take out the leap days that lie before this day, to make all years 365 days long.
    let leap_days = day_of_era / 1460 - day_of_era / 36_524 + day_of_era / 146_096;
    let year_of_era = (day_of_era - leap_days) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "these tests measure that nothing waits")]
mod tests {
    use std::io::{BufRead, BufReader, Read};

    use super::*;

    fn time_text(seconds: u64, millis: u64) -> String {
        let mut text = String::new();
        let since = Duration::from_secs(seconds) + Duration::from_millis(millis);
        push_time(&mut text, SystemTime::UNIX_EPOCH + since);
        text
    }

    #[test]
    fn times_are_written_in_utc() {
        assert_eq!(time_text(0, 0), "1970-01-01T00:00:00.000Z");
        assert_eq!(time_text(951_782_399, 999), "2000-02-28T23:59:59.999Z");
        assert_eq!(time_text(951_782_400, 0), "2000-02-29T00:00:00.000Z");
        assert_eq!(time_text(951_868_800, 0), "2000-03-01T00:00:00.000Z");
        assert_eq!(time_text(1_796_090_584, 123), "2026-12-01T02:03:04.123Z");
        assert_eq!(time_text(4_107_542_400, 7), "2100-03-01T00:00:00.007Z");
    }

    #[test]
    fn every_day_follows_the_one_before() {
        let mut before = civil_date(0);
        for days in 1..200_000 {
            let date = civil_date(days);
            let (year, month, day) = before;
            let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let days_in_month = match month {
                2 => 28 + u64::from(is_leap),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            let expected = if day < days_in_month {
                (year, month, day + 1)
            } else if month < 12 {
                (year, month + 1, 1)
            } else {
                (year + 1, 1, 1)
            };
            assert_eq!(date, expected);
            before = date;
        }
    }

    #[test]
    fn lines_are_dated_and_levelled() {
        let (mut reader, writer) = io::pipe().expect("a pipe");
        let logger = Logger::start(writer, 10).expect("a thread");
        logger.send(Level::Info, "first".into());
        logger.send(Level::Error, "second".into());
        logger.flush_within(Duration::from_secs(10));
        drop(logger);
        let mut text = String::new();
        reader.read_to_string(&mut text).expect("text");
        let lines: Vec<&str> = text.lines().map(|line| &line["2026-12-01".len()..]).collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].starts_with('T') && lines[0].ends_with("Z INFO  first"), "{text}");
        assert!(lines[1].ends_with("Z ERROR second"), "{text}");
    }

    #[test]
    fn an_unread_pipe_holds_nobody_up() {
        let (reader, writer) = io::pipe().expect("a pipe");
        let logger = Logger::start(writer, 10).expect("a thread");
        let start = Instant::now();
        for number in 0..1000 {
            logger.send(Level::Info, format!("{number} {}", "x".repeat(1000)));
        }
        logger.flush_within(Duration::from_millis(20));
        assert!(start.elapsed() < Duration::from_secs(5), "somebody waited");

        // Once somebody reads, every line is either there or counted as dropped.
        let counter = thread::spawn(move || {
            let (mut written, mut dropped) = (0, 0);
            for line in BufReader::new(reader).lines() {
                let line = line.expect("text");
                let text = &line["2026-12-01T02:03:04.123Z INFO  ".len()..];
                match text.split_once(" lines of this log were dropped") {
                    Some((count, _)) => dropped += count.parse::<u64>().expect("a number"),
                    None => written += 1,
                }
            }
            (written, dropped)
        });
        logger.flush_within(Duration::from_secs(60));
        drop(logger);
        let (written, dropped) = counter.join().expect("no panic");
        assert_eq!(written + dropped, 1000);
        assert!(written >= 10 && dropped > 0, "{written} written, {dropped} dropped");
    }

    #[test]
    fn a_closed_output_swallows_everything() {
        let (reader, writer) = io::pipe().expect("a pipe");
        drop(reader);
        let logger = Logger::start(writer, 10).expect("a thread");
        for _ in 0..100 {
            logger.send(Level::Info, "nobody reads this".into());
        }
        let start = Instant::now();
        logger.flush_within(Duration::from_secs(60));
        assert!(start.elapsed() < Duration::from_secs(30), "the flush was not answered");
    }

    #[test]
    fn texts_stay_on_their_line() {
        assert_eq!(one_line("a\nb\u{1b}[2J\u{e9}"), "a\\nb\\u{1b}[2J\u{e9}");
        let long = one_line(&"x".repeat(3 * MAX_TEXT_BYTES));
        assert_eq!(long.len(), MAX_TEXT_BYTES + 3);
        assert!(long.ends_with("x..."));
    }
}
