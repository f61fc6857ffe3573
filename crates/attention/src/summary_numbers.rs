//! A [`Summary`] as numbers, to cross from the worker that made it.

use super::summary::{Lost, Summary};

impl Summary {
    /// The facts as numbers, for a message; NaN stands where there is none.
    pub fn to_numbers(&self) -> [f64; 25] {
        let none = f64::NAN;
        let (row, col, weight) = self
            .strongest
            .map_or((none, none, none), |(i, j, a)| (i as f64, j as f64, a));
        let (key, key_mean) = self
            .favourite
            .map_or((none, none), |(j, mean)| (j as f64, mean));
        let (offset, offset_mean) = self
            .offset
            .map_or((none, none), |(by, mean)| (f64::from(by), mean));
        let [key_row, offset_row] =
            [self.favourite_row, self.offset_row].map(|row| row.map_or(none, |row| row as f64));
        let (moved_row, moved_col) = self
            .moved_at
            .map_or((none, none), |(i, j)| (i as f64, j as f64));
        let [lost, lost_row, lost_share, lost_key, lost_key_share] =
            self.lost.as_ref().map_or([none; 5], |lost| {
                let (row, key) = (lost.row as f64, lost.key as f64);
                [lost.mean, row, lost.share, key, lost.key_share]
            });
        [
            self.visible_min as f64,
            self.visible_max as f64,
            self.visible_mean,
            self.empty_rows as f64,
            row,
            col,
            weight,
            key,
            key_mean,
            offset,
            offset_mean,
            self.row_sum.0,
            self.row_sum.1,
            self.negative,
            self.entropy.unwrap_or(none),
            lost,
            lost_row,
            lost_share,
            lost_key,
            lost_key_share,
            self.moved,
            key_row,
            offset_row,
            moved_row,
            moved_col,
        ]
    }

    /// The facts that [`Summary::to_numbers`] wrote.
    pub fn from_numbers(numbers: &[f64; 25]) -> Self {
        let [
            visible_min,
            visible_max,
            visible_mean,
            empty_rows,
            row,
            col,
            weight,
            key,
            key_mean,
            offset,
            offset_mean,
            lowest,
            highest,
            negative,
            entropy,
            lost,
            lost_row,
            lost_share,
            lost_key,
            lost_key_share,
            moved,
            key_row,
            offset_row,
            moved_row,
            moved_col,
        ] = *numbers;
        let index = |number: f64| (!number.is_nan()).then_some(number as usize);
        Self {
            visible_min: visible_min as usize,
            visible_max: visible_max as usize,
            visible_mean,
            empty_rows: empty_rows as usize,
            strongest: (!row.is_nan()).then_some((row as usize, col as usize, weight)),
            favourite: (!key.is_nan()).then_some((key as usize, key_mean)),
            offset: (!offset.is_nan()).then_some((offset as i32, offset_mean)),
            row_sum: (lowest, highest),
            negative,
            entropy: Some(entropy).filter(|bits| !bits.is_nan()),
            lost: (!lost_row.is_nan()).then_some(Lost {
                mean: lost,
                row: lost_row as usize,
                share: lost_share,
                key: lost_key as usize,
                key_share: lost_key_share,
            }),
            moved,
            favourite_row: index(key_row),
            offset_row: index(offset_row),
            moved_at: index(moved_row).zip(index(moved_col)),
        }
    }
}
