//! Words of the map and the strip.

use super::{number, texts};
use crate::scene::Lang;

texts! {
    QUERY_AXIS: "Query — who looks (row)", "查询 — 谁在看（行）";
    KEY_AXIS: "Key — what is looked at (column)", "键 — 看向谁（列）";
    MAP: "Attention map of head {head}: {n} queries (rows) by {m} keys (columns). Arrow keys move from cell to cell, Enter locks, plus and minus zoom.", "第 {head} 头的注意力图：{n} 个查询（行）× {m} 个键（列）。方向键逐格移动，回车锁定，加减号缩放。";
    MAP_ROLE: "attention map", "注意力图";
    WEIGHTS: "Weights A", "权重 A";
    SCORE: "Score r", "分数 r";
    QUANTITY: "What the map shows", "图中显示";
    RANGE: "Colour range", "颜色范围";
    RANGE_AUTO: "of this map", "按本图";
    RANGE_UNIT: "0 – 1", "0 – 1";
    RANGE_UNIT_SIGNED: "±1", "±1";
    MASKED: "masked", "已掩码";
    ZOOM_IN: "Zoom in", "放大";
    ZOOM_OUT: "Zoom out", "缩小";
    ZOOM_FIT: "Show all", "显示全部";
    READOUT: "query {i} “{qi}” → key {j} “{kj}”", "查询 {i}“{qi}”→ 键 {j}“{kj}”";
    READOUT_VALUE: ": A = {a}, r = {r}", "：A = {a}，r = {r}";
    READOUT_MASKED: ": masked, A = 0", "：已掩码，A = 0";
    READOUT_NO_KEY: ": this query sees no key, A = {a}", "：该查询看不到任何键，A = {a}";
    NO_KEY: "no key", "无可见键";
    NOT_A_NUMBER: "not a number", "非数值";
    READOUT_HINT: "Point at a cell; click to lock it", "将指针移到格子上；点击可锁定";
    HEADS: "All heads", "所有头";
    HEAD_PICK: "Head {head}", "第 {head} 头";
    LEGEND: "Colours from {lo} to {hi}", "颜色从 {lo} 到 {hi}";
    TABLE: "Table", "表格";
    TABLE_CAPTION: "{what} of head {head}: queries down, keys across.", "第 {head} 头的{what}：行为查询，列为键。";
    TABLE_PART: "{n} × {m} of {rows} × {cols} cells; lock a cell or zoom in for others.", "{rows} × {cols} 格中的 {n} × {m} 格；锁定格子或放大可看其他部分。";
    WAITING: "Getting the first picture ready", "正在准备第一幅图";
}

/// Why a cell has a weight or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sees {
    /// The query sees the key.
    Key,
    /// The key is masked for this query.
    Masked,
    /// The query sees no key at all.
    Nothing,
}

impl Sees {
    /// Of a cell that is visible or not, in a row with so many visible keys.
    pub const fn of(visible: bool, keys: usize) -> Self {
        match (visible, keys) {
            (_, 0) => Self::Nothing,
            (true, _) => Self::Key,
            (false, _) => Self::Masked,
        }
    }
}

/// A number, or words where it is none.
pub fn value(lang: Lang, value: f64) -> String {
    if value.is_finite() {
        number::weight(value)
    } else {
        NOT_A_NUMBER.pick(lang).to_owned()
    }
}

/// What stands in a cell of the table: its number, or why it has none. A row without keys can have
/// weights all the same: 1/L where the mask is −1e9.
pub fn cell(lang: Lang, sees: Sees, number: f64) -> String {
    match sees {
        Sees::Key => value(lang, number),
        Sees::Masked => MASKED.pick(lang).to_owned(),
        Sees::Nothing if number == 0.0 => NO_KEY.pick(lang).to_owned(),
        Sees::Nothing => format!("{} {}", NO_KEY.pick(lang), value(lang, number)),
    }
}

/// What is said of a cell after its tokens.
pub fn spoken(lang: Lang, sees: Sees, weight: f64, score: f64) -> String {
    let text = match sees {
        Sees::Key => READOUT_VALUE,
        Sees::Masked => READOUT_MASKED,
        Sees::Nothing => READOUT_NO_KEY,
    };
    let (a, r) = (value(lang, weight), value(lang, score));
    text.fill(lang, &[("a", &a), ("r", &r)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn nothing_zero_masked_and_not_a_number_are_told_apart_in_words() {
        for lang in [Lang::En, Lang::Zh] {
            let kinds = [
                (Sees::Key, 0.0),
                (Sees::Key, f64::NAN),
                (Sees::Masked, 0.0),
                (Sees::Nothing, 0.0),
                (Sees::Nothing, 0.25),
            ];
            let cells: BTreeSet<_> = kinds.map(|(sees, a)| cell(lang, sees, a)).into();
            let lines: BTreeSet<_> = kinds.map(|(sees, a)| spoken(lang, sees, a, a)).into();
            assert_eq!((cells.len(), lines.len()), (5, 5), "{cells:?} {lines:?}");
        }
    }

    #[test]
    fn a_row_without_keys_is_one_whatever_its_cells_say() {
        assert_eq!(Sees::of(true, 3), Sees::Key);
        assert_eq!(Sees::of(false, 3), Sees::Masked);
        assert_eq!(Sees::of(false, 0), Sees::Nothing);
        assert_eq!(cell(Lang::En, Sees::Nothing, 1.0 / 24.0), "no key 0.042");
    }
}
