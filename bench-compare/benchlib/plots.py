"""Bar charts as SVG, in a few lines of our own.

Bars lie, so that text has its own lines and never meets other text: a group has a label
column at its left, and each bar its value at its right.
"""

from xml.sax.saxutils import escape

# Light and dark; chosen so that both stand out from either background.
STYLE = """
svg { font: 13px sans-serif; }
.page { fill: #ffffff; } .text { fill: #1c2128; } .faint { fill: #57606a; }
.line { stroke: #d0d7de; }
.s0 { fill: #9a6700; } .s1 { fill: #0969da; } .s2 { fill: #6e7781; } .s3 { fill: #afb8c1; }
@media (prefers-color-scheme: dark) {
  .page { fill: #0d1117; } .text { fill: #e6edf3; } .faint { fill: #9198a1; }
  .line { stroke: #30363d; }
  .s0 { fill: #d29922; } .s1 { fill: #4493f8; } .s2 { fill: #8b949e; } .s3 { fill: #555d66; }
}
"""

WIDTH = 860
MARGIN = 16
BAR = 16
GAP = 14
# A letter is seldom wider than this in the font above.
LETTER = 7.6


def number(value):
    if value >= 100:
        return "{:,.0f}".format(value)
    return "%.1f" % value if value >= 10 else "%.2f" % value


def width_of(text):
    return len(text) * LETTER


def text_at(x, y, text, style="text", more=""):
    return '<text class="%s" x="%.1f" y="%.1f"%s>%s</text>' % (style, x, y, more, escape(text))


def legend(series, x, y):
    """Colour and name of each series, on as many lines as they take; with the last line's y."""
    parts, left = [], x
    for index, name in enumerate(series):
        needed = 20 + width_of(name) + 18
        if left + needed > WIDTH - MARGIN and left > x:
            left, y = x, y + 20
        parts.append(
            '<rect class="s%d" x="%.1f" y="%.1f" width="12" height="12" rx="2"/>'
            % (index, left, y - 11)
        )
        parts.append(text_at(left + 20, y, name))
        left += needed
    return parts, y


def bars(title, unit, series, groups):
    """A chart. `groups` are pairs of a label and the values of the series, `None` for none."""
    groups = [(label, values) for label, values in groups if any(v is not None for v in values)]
    if not groups:
        return None
    top = max(value for _, values in groups for value in values if value is not None) or 1
    label_width = max(width_of(label) for label, _ in groups) + 12
    value_width = max(width_of(number(top)), 40) + 12
    left = MARGIN + label_width
    full = WIDTH - MARGIN - value_width - left
    parts = [text_at(MARGIN, 28, title, more=' font-size="16" font-weight="600"')]
    parts.append(text_at(MARGIN, 48, unit, "faint"))
    rows, y = legend(series, MARGIN, 72)
    parts += rows
    y += 18
    axis_top = y
    for label, values in groups:
        present = [(i, value) for i, value in enumerate(values) if value is not None]
        middle = y + len(present) * BAR / 2 + 4.5
        parts.append(text_at(left - 10, middle, label, more=' text-anchor="end"'))
        for index, value in present:
            length = max(1.0, full * value / top)
            parts.append(
                '<rect class="s%d" x="%.1f" y="%.1f" width="%.1f" height="%d" rx="2"/>'
                % (index, left, y + 1, length, BAR - 2)
            )
            shown = text_at(left + length + 6, y + 12.5, number(value), "faint")
            parts.append(shown)
            y += BAR
        y += GAP
    height = y + MARGIN - GAP
    axis = '<line class="line" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>'
    parts.append(axis % (left - 1, axis_top - 4, left - 1, y - GAP + 4))
    head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img">' % (
        WIDTH,
        height,
    )
    page = '<rect class="page" width="%d" height="%d"/>' % (WIDTH, height)
    described = "<title>%s</title><style>%s</style>" % (escape(title), STYLE)
    return "\n".join([head, described, page, *parts, "</svg>", ""])
