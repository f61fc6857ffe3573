//! Pointer and keys on the map: hover previews, a click locks, a drag pans a zoomed map. The wheel
//! scrolls the page and zooms only with Ctrl held.

use leptos::html;
use leptos::prelude::*;

use crate::layout::zoom;
use crate::state::AppState;
use crate::state::derived::Derived;
use attnscope_scene::Rect;

/// Pixels that a pointer must move before a click becomes a drag.
const SLOP: f64 = 4.0;

/// Handles the events of the map.
#[derive(Clone, Copy)]
pub struct Pointer {
    app: AppState,
    derived: Derived,
    node: NodeRef<html::Div>,
    drag: StoredValue<Option<Drag>>,
}

#[derive(Clone, Copy)]
struct Drag {
    from: (f64, f64),
    rect: Rect,
    moved: bool,
}

impl Pointer {
    /// For the element on top of the map.
    pub fn new(node: NodeRef<html::Div>) -> Self {
        Self {
            app: AppState::get(),
            derived: Derived::get(),
            node,
            drag: StoredValue::new(None),
        }
    }

    /// The point as fractions of the map.
    fn point(self, ev: &web_sys::MouseEvent) -> Option<(f64, f64)> {
        let bounds = self.node.get_untracked()?.get_bounding_client_rect();
        let x = (f64::from(ev.client_x()) - bounds.left()) / bounds.width();
        let y = (f64::from(ev.client_y()) - bounds.top()) / bounds.height();
        (x.is_finite() && y.is_finite()).then_some((x, y))
    }

    fn seq_len(self) -> u32 {
        self.derived.sizes.get_untracked().seq_len
    }

    fn rect(self) -> Rect {
        self.derived.rect.get_untracked()
    }

    fn set_rect(self, rect: Option<Rect>) {
        if self.app.scene.with_untracked(|s| s.view.rect) != rect {
            self.app.change(|s| s.view.rect = rect);
        }
    }

    fn set_hover(self, cell: Option<(u32, u32)>) {
        if self.app.hover.get_untracked() != cell {
            self.app.hover.set(cell);
        }
    }

    /// Pointer down: the start of a click or a drag.
    pub fn down(self, ev: &web_sys::PointerEvent) {
        if ev.button() != 0 {
            return;
        }
        let from = (f64::from(ev.client_x()), f64::from(ev.client_y()));
        self.drag.set_value(Some(Drag {
            from,
            rect: self.rect(),
            moved: false,
        }));
    }

    /// Pointer move: hovers or pans.
    pub fn moves(self, ev: &web_sys::PointerEvent) {
        if let Some(drag) = self.drag.get_value().filter(|_| ev.buttons() & 1 == 1) {
            self.pan(ev, drag);
        }
        let cell = self
            .point(ev)
            .and_then(|point| zoom::cell_at(self.rect(), point));
        self.set_hover(cell);
    }

    fn pan(self, ev: &web_sys::PointerEvent, drag: Drag) {
        let Some(node) = self.node.get_untracked() else {
            return;
        };
        let (dx, dy) = (
            f64::from(ev.client_x()) - drag.from.0,
            f64::from(ev.client_y()) - drag.from.1,
        );
        if !drag.moved && dx.hypot(dy) < SLOP {
            return;
        }
        if !drag.moved {
            self.drag.set_value(Some(Drag {
                moved: true,
                ..drag
            }));
            // A captured drag continues outside of the map; without capture it ends at the edge.
            let _ = node.set_pointer_capture(ev.pointer_id());
        }
        let cells =
            |by: f64, pixels: f64, count: u32| -(by / pixels * f64::from(count)).round() as i64;
        let bounds = node.get_bounding_client_rect();
        let down = cells(dy, bounds.height(), drag.rect.rows);
        let right = cells(dx, bounds.width(), drag.rect.cols);
        self.set_rect(zoom::panned(drag.rect, (down, right), self.seq_len()));
    }

    /// Pointer up: a click unless it was a drag.
    pub fn up(self, ev: &web_sys::PointerEvent) {
        let drag = self.drag.get_value();
        self.drag.set_value(None);
        if drag.is_some_and(|drag| !drag.moved)
            && let Some(cell) = self
                .point(ev)
                .and_then(|point| zoom::cell_at(self.rect(), point))
        {
            self.toggle_lock(cell);
            if ev.pointer_type() == "touch" {
                self.set_hover(None);
            }
        }
    }

    /// The pointer leaves, or the browser cancels it.
    pub fn leave(self) {
        self.drag.set_value(None);
        self.set_hover(None);
    }

    /// Ctrl + wheel zooms about the pointer; the plain wheel scrolls the page.
    pub fn wheel(self, ev: &web_sys::WheelEvent) {
        if !ev.ctrl_key() {
            return;
        }
        ev.prevent_default();
        let factor = (ev.delta_y() / 300.0).clamp(-1.0, 1.0).exp();
        let at = self.point(ev).unwrap_or((0.5, 0.5));
        self.set_rect(zoom::scaled(self.rect(), factor, at, self.seq_len()));
    }

    /// Zooms by a factor about the hovered or locked cell, else about the middle.
    pub fn zoom(self, factor: f64) {
        let rect = self.rect();
        let at = self.derived.cell.get_untracked().and_then(|(i, j)| {
            let (y, h) = zoom::band(rect.row, rect.rows, i)?;
            let (x, w) = zoom::band(rect.col, rect.cols, j)?;
            Some((x + w / 2.0, y + h / 2.0))
        });
        self.set_rect(zoom::scaled(
            rect,
            factor,
            at.unwrap_or((0.5, 0.5)),
            self.seq_len(),
        ));
    }

    /// Shows the whole map.
    pub fn fit(self) {
        self.set_rect(None);
    }

    fn toggle_lock(self, cell: (u32, u32)) {
        self.app
            .change(|s| s.view.cell = (s.view.cell != Some(cell)).then_some(cell));
    }

    /// Keys: arrows, Home, End, Page Up and Down move the cell cursor, with Ctrl to the corners;
    /// Shift takes larger steps; Enter locks, Escape unlocks, + − 0 zoom.
    pub fn key(self, ev: &web_sys::KeyboardEvent) {
        let corner = ev.ctrl_key() && matches!(ev.key().as_str(), "Home" | "End");
        if !corner && (ev.ctrl_key() || ev.alt_key() || ev.meta_key()) {
            return;
        }
        let last = i64::from(self.seq_len().max(1) - 1);
        let rect = self.rect();
        let now = self.derived.cell.get_untracked();
        let stride = if ev.shift_key() { 10 } else { 1 };
        let (down, right) = match ev.key().as_str() {
            "ArrowUp" => (-stride, 0),
            "ArrowDown" => (stride, 0),
            "ArrowLeft" => (0, -stride),
            "ArrowRight" => (0, stride),
            "Home" if corner => (-last, -last),
            "End" if corner => (last, last),
            "Home" => (0, -last),
            "End" => (0, last),
            "PageUp" => (-i64::from(rect.rows), 0),
            "PageDown" => (i64::from(rect.rows), 0),
            "Enter" | " " => {
                ev.prevent_default();
                if let Some(cell) = now {
                    self.toggle_lock(cell);
                }
                return;
            }
            "Escape" => {
                self.set_hover(None);
                self.app.change(|s| s.view.cell = None);
                return;
            }
            "+" | "=" => return self.zoom(0.5),
            "-" => return self.zoom(2.0),
            "0" => return self.fit(),
            _ => return,
        };
        ev.prevent_default();
        let (i, j) = now.map_or((rect.row, rect.col), |(i, j)| {
            let step = |at: u32, by: i64| (i64::from(at) + by).clamp(0, last) as u32;
            (step(i, down), step(j, right))
        });
        self.set_hover(Some((i, j)));
        self.set_rect(zoom::showing(rect, (i, j), self.seq_len()));
    }
}
