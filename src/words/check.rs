//! Words of the self-check page.

use super::{Text, texts};
use crate::check::facts::Fact;

texts! {
    TITLE: "attnscope — self-check", "attnscope — 自检";
    HEADING: "Self-check", "自检";
    INTRO: "Each line below is computed by this device now, by the same shaders that draw the map. A tick says that it holds.", "下面每一行都由本设备此刻用绘制注意力图的同一组着色器计算。打勾表示成立。";
    ADAPTER: "Computed on: {adapter}", "计算设备：{adapter}";
    RUNNING: "Computing …", "计算中 …";
    ALL_HOLD: "All {n} facts hold here.", "全部 {n} 条在此成立。";
    SOME_FAIL: "{bad} of {n} facts do not hold on this device: do not trust the pictures here, and please report it.", "{n} 条中有 {bad} 条在本设备上不成立：请勿相信此处的图，并请报告。";
    FACT: "Fact", "事实";
    LARGEST: "Largest difference", "最大差异";
    ALLOWED: "Must be", "须满足";
    AT_LEAST: "> {bound}", "> {bound}";
    AT_MOST: "≤ {bound}", "≤ {bound}";
    EXACTLY: "= 0", "= 0";
    HOLDS: "holds", "成立";
    FAILS: "does not hold", "不成立";
    CASES: "Check case files", "检查算例文件";
    CASES_INTRO: "A golden case (.safetensors with inputs, configuration and expected A, O or Y in its metadata and tensors) is computed here and compared element by element. Nothing is sent anywhere.", "算例（.safetensors，含输入、配置以及期望的 A、O 或 Y）在此计算并逐元素比较。数据不会发送到任何地方。";
    CHOOSE: "Choose case files", "选择算例文件";
    CASE: "Case and tensor", "算例与张量";
    WORST: "Worst element", "最差元素";
    GOT: "Computed", "计算值";
    WANTED: "Expected", "期望值";
    NO_ENGINE: "Nothing can be checked: this browser gives the page no GPU ({why}). The map is then drawn by the CPU.", "无法自检：此浏览器未向页面提供 GPU（{why}）。此时注意力图由 CPU 绘制。";
    BAD_CASE: "“{name}” is not a case that can be checked: {why}", "“{name}”不是可检查的算例：{why}";
    NOT_LOADED: "“{name}” could not be loaded ({why}).", "“{name}”未能载入（{why}）。";
    ELSEWHERE: "only files of this site can be fetched; choose the file below instead", "只能获取本站的文件；请改为在下方选择文件";
    ENGINE_ERROR: "The device gave up: {why}", "设备出错：{why}";

    F_WINDOW: "A window that reaches over everything (w ≥ L − 1) is full attention, bit by bit.", "覆盖全部的窗口（w ≥ L − 1）与全注意力逐位相同。";
    F_SHARED_K: "A shared P_K moves no weight: it adds the same to every score of a row.", "共享的 P_K 不改变任何权重：它给一行的所有分数加上同一个数。";
    F_POSITION_K: "A P_K per position does move weights.", "逐位置的 P_K 会改变权重。";
    F_SHARED_K_PRODUCT: "In the product reading even a shared P_K acts.", "在乘积读法中，共享的 P_K 也起作用。";
    F_SHARED_V: "A shared P_V adds exactly P_V to every head output.", "共享的 P_V 恰好给每个头输出加上 P_V。";
    F_SHIFT: "A constant added to a row of s changes nothing (bias and product readings).", "给 s 的一行加上常数，结果不变（偏置与乘积读法）。";
    F_ROWS: "Rows of weights sum to 1.", "每行权重之和为 1。";
    F_PRODUCT_ROWS: "Rows of the product reading do not.", "乘积读法的行和不为 1。";
    F_SEGMENTS: "With segments, each sums to 1 / (number of segments).", "分段时，每段之和为 1 /（段数）。";
    F_OUT_RANK: "Output rank d is the full projection.", "输出秩 d 等于完整投影。";
    F_SCORE_RANK: "Score rank d_h is the full score.", "分数秩 d_h 等于完整分数。";
    F_EMPTY: "A token that sees no key has weights 0 and output 0, unless the mean is chosen for such rows.", "看不到任何键的词元，其权重与输出均为 0，除非为此类行选择了平均。";
    F_BITS: "The same twice gives the same bits.", "重复计算得到逐位相同的结果。";
}

/// What a fact says.
pub const fn fact(fact: Fact) -> Text {
    match fact {
        Fact::WindowOverAll => F_WINDOW,
        Fact::SharedKeyBias => F_SHARED_K,
        Fact::PositionKeyBias => F_POSITION_K,
        Fact::SharedKeyBiasProduct => F_SHARED_K_PRODUCT,
        Fact::SharedValueBias => F_SHARED_V,
        Fact::ShiftOfScoreBias => F_SHIFT,
        Fact::RowSums => F_ROWS,
        Fact::ProductRowSums => F_PRODUCT_ROWS,
        Fact::SegmentSums => F_SEGMENTS,
        Fact::OutputRank => F_OUT_RANK,
        Fact::ScoreRank => F_SCORE_RANK,
        Fact::EmptyRow => F_EMPTY,
        Fact::SameBits => F_BITS,
    }
}
