//! Words of the sources as they are written: where a listing and its own text part.

use super::{Text, texts};
use crate::scene::listing::Point;

texts! {
    GROUP: "As the sources wrote it", "按来源的写法";
    AS_LISTING: "as the listing", "按源代码";
    AS_TEXT: "as the text", "按原文";
    WINDOW: "Window size", "窗口大小";
    WINDOW_SAYS: "Listing: window_size is taken and not used, so every token sees every token. Text: a query sees the keys at most w away.", "源代码：接收 window_size 却未使用，每个词元看到所有词元。原文：查询只看到距离不超过 w 的键。";
    PROJECTION: "Projections", "投影";
    PROJECTION_SAYS: "Listing: no projection is applied; q, k and v are the input itself, split into heads. Text: q, k and v are projections of it.", "源代码：未做投影，q、k、v 就是切分成各头的输入本身。原文：q、k、v 由输入投影得到。";
    SCALE: "Divisor of the score", "分数的除数";
    SCALE_SAYS: "Listing: √embed_size, from the width d of the model. Text: √d_k, from the width of a head.", "源代码：√embed_size，取模型宽度 d。原文：√d_k，取每个头的宽度。";
    KEYS: "Position bias of keys, pos_k", "键的位置偏置 pos_k";
    KEYS_SAYS: "Listing: one row for all positions; it adds the same to every score of a row and moves no weight. Text: one for each position j.", "源代码：所有位置共用一行，给一行的每个分数加上同一个数，权重不变。原文：每个位置 j 各有一个。";
    BIAS: "Auxiliary bias s_ij", "辅助偏置 s_ij";
    BIAS_SAYS: "Listing: s_ij does not occur; A = softmax(r). Text: A = r · softmax(s), here with a gentle curve as s.", "源代码：没有 s_ij，A = softmax(r)。原文：A = r · softmax(s)，此处 s 取一条平缓的曲线。";
    EMPTY: "Rows that see no key", "看不到键的行";
    EMPTY_SAYS: "Listing: masks with −1e9, so such a row (row 0 under this mask) gets the mean of all values. Text: a masked key takes no part, and the row stays empty.", "源代码：用 −1e9 作掩码，这样的行（此掩码下为第 0 行）得到所有值的平均。原文：被掩码的键不参与，该行为空。";
    RANK: "Where the rank is", "秩用在哪里";
    RANK_SAYS: "Listing: rank r = 64 in W_O alone; the score still costs L²·d_h. Text: O(L²·r), which needs a low rank in the score itself, here ρ = 8.", "源代码：只有 W_O 的秩为 r = 64，分数的计算量仍为 L²·d_h。原文：O(L²·r)，这要求分数本身低秩，此处 ρ = 8。";
}

/// Title of a point, and what listing and text say about it.
pub const fn point(of: Point) -> (Text, Text) {
    match of {
        Point::Window => (WINDOW, WINDOW_SAYS),
        Point::Projection => (PROJECTION, PROJECTION_SAYS),
        Point::Scale => (SCALE, SCALE_SAYS),
        Point::Keys => (KEYS, KEYS_SAYS),
        Point::Bias => (BIAS, BIAS_SAYS),
        Point::Empty => (EMPTY, EMPTY_SAYS),
        Point::Rank => (RANK, RANK_SAYS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::listing::{OUT_RANK, SCORE_RANK};

    #[test]
    fn the_ranks_are_those_that_the_switch_sets() {
        for text in [RANK_SAYS.en, RANK_SAYS.zh] {
            assert!(text.contains(&format!("r = {OUT_RANK}")), "{text}");
            assert!(text.contains(&format!("ρ = {SCORE_RANK}")), "{text}");
        }
    }
}
