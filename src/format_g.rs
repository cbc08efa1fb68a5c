//! Numbers as C++ prints a `double` to a stream by default: six significant digits, as `%g` does.
//!
//! Log lines and the debug string of the original contain such numbers, and programs compare them.

/// How many significant digits are shown at most.
const SIGNIFICANT_DIGITS: usize = 6;

/// Formats like C's `%g`: six significant digits, no trailing zeros, an exponent where the number
/// is below 0.0001 or needs more than six digits before the point.
///
/// Not-a-number keeps its sign, since x86-64 makes a negative one of 0/0 and C shows that.
#[must_use]
pub(crate) fn format_g6(value: f64) -> String {
    let sign = if value.is_sign_negative() { "-" } else { "" };
    if value.is_nan() {
        return format!("{sign}nan");
    }
    if value.is_infinite() {
        return format!("{sign}inf");
    }
    // Rounding comes first, since it can change the exponent: 999999.5 is 1e+06.
    let rounded = format!("{:.*e}", SIGNIFICANT_DIGITS - 1, value.abs());
    let (mantissa, exponent) = rounded.split_once('e').unwrap_or((&rounded, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits = mantissa.replace('.', "");
    let digits = digits.trim_end_matches('0');
    match usize::try_from(exponent) {
        Ok(whole) if whole < SIGNIFICANT_DIGITS => {
            format!("{sign}{}", with_point(digits, whole + 1))
        }
        Err(_) if exponent >= -4 => {
            let zeros = "0".repeat(exponent.unsigned_abs() as usize);
            format!("{sign}{}", with_point(&format!("{zeros}{digits}"), 1))
        }
        _ => {
            let exponent_sign = if exponent < 0 { '-' } else { '+' };
            let exponent = exponent.unsigned_abs();
            format!("{sign}{}e{exponent_sign}{exponent:02}", with_point(digits, 1))
        }
    }
}

/// Puts a decimal point behind `whole` digits, adding the zeros that were trimmed in front of it.
fn with_point(digits: &str, whole: usize) -> String {
    if digits.len() <= whole {
        return format!("{digits:0<whole$}");
    }
    let (before, after) = digits.split_at(whole);
    format!("{before}.{after}")
}

#[cfg(test)]
mod tests {
    use super::format_g6;

    #[test]
    fn agrees_with_printf() {
        // Written by `printf %g` of the C library.
        let table = [
            (0.01, "0.01"),
            (1.07374, "1.07374"),
            (2.048e-06, "2.048e-06"),
            (1e6, "1e+06"),
            (100_000.0, "100000"),
            (123_456.0, "123456"),
            (1_234_567.0, "1.23457e+06"),
            (999_999.5, "1e+06"),
            (9_999_995.0, "1e+07"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (0.000_123_456_78, "0.000123457"),
            (0.000_099_999_95, "0.0001"),
            (41.943_100_001, "41.9431"),
            (41.943_04, "41.943"),
            (1e-9, "1e-09"),
            (-1e-9, "-1e-09"),
            (9_223_372_036.854_776, "9.22337e+09"),
            (1e100, "1e+100"),
            (1.5e-300, "1.5e-300"),
            (5e-324, "4.94066e-324"),
            (f64::MAX, "1.79769e+308"),
            (0.0, "0"),
            (-0.0, "-0"),
            (100.0, "100"),
            (99.999_95, "99.9999"),
            (99.999_949, "99.9999"),
            (33.333_333_333, "33.3333"),
            (2.5, "2.5"),
            (0.0625, "0.0625"),
            (1e15, "1e+15"),
            (123_456.5, "123456"),
            (123_457.5, "123458"),
            (-41.9431, "-41.9431"),
            (314_572.8, "314573"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
        ];
        for (value, text) in table {
            assert_eq!(format_g6(value), text, "{value:e}");
        }
    }

    #[test]
    fn not_a_number_keeps_its_sign() {
        assert_eq!(format_g6(f64::NAN.copysign(1.0)), "nan");
        assert_eq!(format_g6(f64::NAN.copysign(-1.0)), "-nan");
    }
}
