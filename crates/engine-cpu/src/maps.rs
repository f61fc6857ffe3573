//! The large map and the small ones: turns rows of a head into texels, a few at a time.

use attnscope_engine::Pool;
use attnscope_engine::steps::{Job, RowRange};
use attnscope_scene::{Quantity, Rect};

use super::engine::{BUDGET, CpuEngine, Shown};
use super::rows::{GROUP, Head};
use super::texels::{Cells, Texels};

/// Progress of the texels: next row of cells, texel row.
#[derive(Clone, Copy)]
pub struct Cursor {
    row: usize,
    y: usize,
}

impl CpuEngine {
    pub(super) fn head<'a>(
        &'a self,
        shown: &'a Shown,
        head: usize,
        quantity: Quantity,
    ) -> Head<'a> {
        let [q, k, _] = &self.heads;
        Head::new(&shown.frame, head, &q[head], &k[head], quantity)
    }

    pub(super) fn map(&mut self, shown: &Shown, job: Job, left: &mut i64) -> bool {
        let rows = job.rows;
        let Some(map) = &shown.frame.map else {
            return true;
        };
        let size = (map.texel_rows as usize, map.texel_cols as usize);
        if (self.map.rows, self.map.cols) != size {
            self.map = Texels::new(map.texel_rows, map.texel_cols);
        }
        let mut texels = std::mem::take(&mut self.map);
        let head = self.head(shown, map.head as usize, map.quantity);
        let mut cursor = self.cursor;
        let finished = fill(
            &head,
            &Cells::of_map(map),
            &mut texels,
            (rows, &mut cursor),
            left,
        );
        self.cursor = cursor;
        self.map = texels;
        finished
    }

    pub(super) fn small_map(&mut self, shown: &Shown, job: Job, left: &mut i64) -> bool {
        let (head, rows) = (job.unit as usize, job.rows);
        let Some(strip) = &shown.frame.strip else {
            return true;
        };
        if self.strip.len() != shown.sizes.heads || self.strip[head].rows != strip.texels as usize {
            self.strip = vec![Texels::new(strip.texels, strip.texels); shown.sizes.heads];
        }
        let mut texels = std::mem::take(&mut self.strip[head]);
        let made = self.head(shown, head, strip.quantity);
        let len = shown.sizes.seq_len as u32;
        let rect = Rect {
            row: 0,
            col: 0,
            rows: len,
            cols: len,
        };
        let cells = Cells::new(rect, strip.texels, strip.texels, Pool::Max);
        let mut cursor = self.cursor;
        let finished = fill(&made, &cells, &mut texels, (rows, &mut cursor), left);
        self.cursor = cursor;
        self.strip[head] = texels;
        finished
    }

    /// A map from a few of its rows, so that something is visible at once.
    pub(super) fn coarse_map(&mut self) {
        let Some(shown) = self.shown.take() else {
            return;
        };
        if let Some(map) = &shown.frame.map {
            let mut texels = Texels::new(map.texel_rows, map.texel_cols);
            let head = self.head(&shown, map.head as usize, map.quantity);
            let cells = Cells::of_map(map);
            let per_group = GROUP as u64 * head.cost();
            let groups = (BUDGET / per_group.max(1)).max(4) as usize;
            let step = texels.rows.div_ceil(groups);
            let mut rows = head.buffers();
            for y in (0..texels.rows).step_by(step) {
                let band = cells.band(y);
                let end = band.end.min(band.start + GROUP);
                head.make(band.start, end, &mut rows);
                Cells::open(&mut texels, y);
                let made = &rows[..end - band.start];
                for row in made {
                    cells.add(&mut texels, y, row, head.thinned);
                }
                cells.close(&mut texels, y, made.len());
                texels.repeat(y, y + step);
            }
            self.map = texels;
        }
        self.shown = Some(shown);
    }
}

/// Makes texel rows `rows`, as far as `left` allows; returns whether they are done.
fn fill(
    head: &Head<'_>,
    cells: &Cells,
    texels: &mut Texels,
    (rows, cursor): (RowRange, &mut Option<Cursor>),
    left: &mut i64,
) -> bool {
    let end = cells.band(rows.1 as usize - 1).end;
    let mut now = cursor.take().unwrap_or_else(|| {
        Cells::open(texels, rows.0 as usize);
        Cursor {
            row: cells.band(rows.0 as usize).start,
            y: rows.0 as usize,
        }
    });
    let mut buffers = head.buffers();
    let cost = head.cost() as i64;
    while now.row < end {
        if *left <= 0 {
            *cursor = Some(now);
            return false;
        }
        let count = GROUP.min(end - now.row);
        head.make(now.row, end, &mut buffers);
        for row in &buffers[..count] {
            cells.add(texels, now.y, row, head.thinned);
            now.row += 1;
            let band = cells.band(now.y);
            if now.row == band.end {
                cells.close(texels, now.y, band.len());
                now.y += 1;
                if now.y < rows.1 as usize {
                    Cells::open(texels, now.y);
                }
            }
        }
        *left -= cost * count as i64;
    }
    true
}
