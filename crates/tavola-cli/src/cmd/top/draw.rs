//! Where on the screen each section is.
//!
//! ```text
//! keys, memory
//! rates              | chart
//! latencies          | size classes
//! processes          | hottest shards
//! keys to press
//! ```
//!
//! What does not fit is left out from below, and in a narrow window at the right.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Text};
use ratatui::widgets::{Paragraph, Wrap};

use super::section::{Letters, Section, Tint};
use super::watch::Watch;
use super::{charts, figures};

/// Logs that are shown, as long as there are rows for all else.
const LOGS: usize = 3;
/// Rows of the rates with a blank line below, and of the latencies.
const RATES: u16 = 7;
const LATENCIES: u16 = 6;
/// Fewer rows are not worth their title.
const LEAST: u16 = 3;
/// Columns of the rates, of the shards, between two sections, and of both in all at least.
const RATE_COLUMNS: u16 = 42;
const SHARD_COLUMNS: u16 = 40;
const FEW_SHARD_COLUMNS: u16 = 22;
const GAP: u16 = 2;
const TWO_COLUMNS: u16 = 64;

/// How it is drawn.
pub struct Theme {
    pub letters: &'static Letters,
    pub colours: bool,
}

/// What is drawn.
pub struct Shown<'a> {
    pub watch: &'a Watch,
    pub paused: bool,
    pub every: &'a str,
}

pub fn draw(frame: &mut Frame<'_>, shown: &Shown<'_>, theme: &Theme) {
    let area = frame.area();
    let [above, keys] = cut(area, area.height.saturating_sub(1));
    let view = shown.watch.view();
    let note = view.as_ref().ok().and_then(|view| view.note);
    put_keys(frame, keys, shown, note, theme);
    let label = shown.watch.label();
    let view = match view {
        Ok(view) => view,
        Err(why) => {
            let text = format!("tavola top: {label}\n\n{why}\n\nwaiting for it to come back");
            let style = coloured(Style::new(), Color::Red, theme);
            let text = Paragraph::new(text).wrap(Wrap { trim: true });
            return frame.render_widget(text.style(style), above);
        }
    };
    let section = figures::totals(&label, &view, LOGS);
    // Its title, and a blank line below.
    let [totals, rest] = cut(above, section.lines.len() as u16 + 2);
    put(frame, totals, &section, theme);
    let [first, second, third] = rows(rest);
    let letters = theme.letters;

    let half = RATE_COLUMNS.max(area.width / 2);
    let [left, right] = halves(first, half);
    put(frame, left, &figures::rates(&view), theme);
    let (width, height) = inside(right);
    put(
        frame,
        right,
        &charts::chart(&view, letters, width, height),
        theme,
    );

    let [left, right] = halves(second, half);
    let (width, height) = inside(left);
    put(
        frame,
        left,
        &charts::latencies(&view, letters, width, height),
        theme,
    );
    let (width, height) = inside(right);
    put(
        frame,
        right,
        &charts::classes(&view, letters, width, height),
        theme,
    );

    let shards = if area.width < 100 {
        FEW_SHARD_COLUMNS
    } else {
        SHARD_COLUMNS
    };
    let [left, right] = halves(third, area.width.saturating_sub(shards + GAP));
    put(
        frame,
        left,
        &figures::participants(&view, inside(left).1),
        theme,
    );
    put(
        frame,
        right,
        &figures::shards(&view, inside(right).1),
        theme,
    );
}

/// The rows of the three pairs of sections. What is over goes to the second most of all.
fn rows(area: Rect) -> [Rect; 3] {
    let all = area.height;
    let over = all.saturating_sub(RATES + 2 * LATENCIES);
    let first = all.min(RATES + over / 4);
    let second = (all - first).min(LATENCIES + over / 2);
    let second = if second < LEAST { 0 } else { second };
    let third = all - first - second;
    let third = if third < LEAST { 0 } else { third };
    let [first, rest] = cut(area, first);
    let [second, rest] = cut(rest, second);
    [first, second, cut(rest, third)[0]]
}

/// The rows above and below a line.
fn cut(area: Rect, above: u16) -> [Rect; 2] {
    let above = above.min(area.height);
    let below = Rect {
        y: area.y + above,
        height: area.height - above,
        ..area
    };
    let above = Rect {
        height: above,
        ..area
    };
    [above, below]
}

/// The columns at the left and right, with a gap; all at the left where there are few.
fn halves(area: Rect, left: u16) -> [Rect; 2] {
    if area.width < TWO_COLUMNS {
        return [area, Rect { width: 0, ..area }];
    }
    let left = left.min(area.width);
    let begin = (left + GAP).min(area.width);
    let right = Rect {
        x: area.x + begin,
        width: area.width - begin,
        ..area
    };
    let left = Rect {
        width: left,
        ..area
    };
    [left, right]
}

/// Columns, and rows below a title and above a blank line.
fn inside(area: Rect) -> (usize, usize) {
    (area.width.into(), area.height.saturating_sub(2).into())
}

fn put(frame: &mut Frame<'_>, area: Rect, section: &Section, theme: &Theme) {
    let title = Style::new().add_modifier(Modifier::BOLD);
    let title = Line::styled(section.title.as_str(), coloured(title, Color::Cyan, theme));
    let lines = section.lines.iter().map(|(tint, text)| {
        let style = match tint {
            Tint::Plain => Style::new(),
            Tint::Bar => coloured(Style::new(), Color::Green, theme),
            Tint::Bad => coloured(Style::new(), Color::Red, theme),
        };
        Line::styled(text.as_str(), style)
    });
    let text: Text<'_> = [title].into_iter().chain(lines).collect();
    frame.render_widget(text, area);
}

fn put_keys(
    frame: &mut Frame<'_>,
    area: Rect,
    shown: &Shown<'_>,
    note: Option<&str>,
    theme: &Theme,
) {
    let state = match shown.paused {
        true => "PAUSED".to_owned(),
        false => format!("every {}", shown.every),
    };
    let style = coloured(Style::new(), Color::Cyan, theme);
    let note = note.unwrap_or_default();
    let text = format!("q quit   p pause   {state}   {note}");
    frame.render_widget(Line::styled(text, style), area);
}

fn coloured(style: Style, colour: Color, theme: &Theme) -> Style {
    match theme.colours {
        true => style.fg(colour),
        false => style,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_share_all_rows_and_the_lower_ones_go_first() {
        let heights = |all| rows(Rect::new(0, 4, 80, all)).map(|area| area.height);
        assert_eq!(heights(0), [0, 0, 0]);
        assert_eq!(heights(5), [5, 0, 0]);
        assert_eq!(heights(9), [7, 0, 0]);
        assert_eq!(heights(10), [7, 3, 0]);
        assert_eq!(heights(15), [7, 6, 0]);
        assert_eq!(heights(19), [7, 6, 6]);
        assert_eq!(heights(35), [11, 14, 10]);
        for all in 0..200 {
            assert!(heights(all).iter().sum::<u16>() <= all);
        }
    }
}
